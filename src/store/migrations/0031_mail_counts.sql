-- Since Garth 0.2.0.
-- The number of messages that arrived by mail, by outcome and reason. `last_received` is the time of the last one.

CREATE TABLE mail_count (
    outcome {text} NOT NULL,
    reason {text} NOT NULL,
    messages BIGINT NOT NULL,
    last_received BIGINT NOT NULL,
    PRIMARY KEY (outcome, reason)
);
