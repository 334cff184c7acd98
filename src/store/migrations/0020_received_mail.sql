-- Since Garth 0.2.0.
-- Messages that became replies or tickets (decision 0032). `author` is the user, who may have been deleted since.
-- `message_key` is the SHA-256 of the Message-ID, so that a message that is delivered twice has one effect. `reply` is
-- NULL if the message opened the ticket. `files_done` counts the files that were attached or refused so far.

CREATE TABLE received_mail (
    id {identity},
    author BIGINT NOT NULL,
    message_key {text} NOT NULL,
    ticket BIGINT NOT NULL REFERENCES ticket (id),
    reply BIGINT REFERENCES reply (id),
    folded {text} NOT NULL,
    files_done BIGINT NOT NULL,
    created BIGINT NOT NULL
);
CREATE UNIQUE INDEX received_mail_message ON received_mail (author, message_key);
CREATE INDEX received_mail_author ON received_mail (author, created);
CREATE INDEX received_mail_ticket ON received_mail (ticket);
CREATE INDEX received_mail_reply ON received_mail (reply);
CREATE INDEX app_user_email ON app_user (lower(email));
