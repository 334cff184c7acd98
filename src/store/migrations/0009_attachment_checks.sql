-- When the bytes of each attachment were last compared with their hash, until when one node does so now, and whether
-- they were missing or different.

CREATE TABLE attachment_check (
    attachment BIGINT PRIMARY KEY REFERENCES attachment (id),
    verified BIGINT NOT NULL,
    leased_until BIGINT NOT NULL,
    damaged BIGINT NOT NULL
);
CREATE INDEX attachment_check_verified ON attachment_check (verified);
CREATE INDEX attachment_check_damaged ON attachment_check (verified) WHERE damaged = 1;
INSERT INTO attachment_check SELECT id, created, 0, 0 FROM attachment;

-- How many bytes of attachments an account may have, and has: tallied by the ids of its attachments.

ALTER TABLE account ADD COLUMN attachment_bytes BIGINT;
INSERT INTO tally (owner, collection, span, bucket, items)
    SELECT ticket.account, 'attachment_bytes', 256, attachment.id / 256, CAST(sum(attachment.size) AS BIGINT)
    FROM attachment JOIN ticket ON ticket.id = attachment.ticket
    GROUP BY ticket.account, attachment.id / 256;
INSERT INTO tally (owner, collection, span, bucket, items)
    SELECT owner, collection, 65536, bucket / 256, CAST(sum(items) AS BIGINT) FROM tally
    WHERE collection = 'attachment_bytes' AND span = 256
    GROUP BY owner, collection, bucket / 256;
