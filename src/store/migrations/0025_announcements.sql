-- Since Garth 0.2.0.
-- Announcements of the provider to all customers (decision 0034).

CREATE TABLE announcement (
    id {identity},
    title {text} NOT NULL,
    body {text} NOT NULL,
    severity {text} NOT NULL,
    starts BIGINT NOT NULL,
    ends BIGINT,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL
);
