-- Since Garth 0.2.0.
-- The texts of mails that differ from their default (decision 0049). `name` is `signature`, or the kind of mail and the
-- part, such as `reply.introduction`.

CREATE TABLE mail_text (
    name {text} NOT NULL PRIMARY KEY,
    content {text} NOT NULL
);

-- The account of the recipient of an invitation, to limit the number of invitations. It remains if the user is deleted.

ALTER TABLE outgoing_mail ADD COLUMN account BIGINT;
CREATE INDEX outgoing_mail_account ON outgoing_mail (account, queued);
CREATE INDEX outgoing_mail_state ON outgoing_mail (state, queued);
