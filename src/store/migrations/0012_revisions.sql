-- Since Garth 0.2.0; breaking.
-- The revision of each account: how many commits have changed something of it. Account 0 is the provider, with its staff.
-- Everything that was changed after `log_start` is in the log. What tokens prove is read again when `identity_version` has
-- grown since.

CREATE TABLE account_revision (
    account {number_key},
    identity_version BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    log_start BIGINT NOT NULL
){roomy};
INSERT INTO account_revision (account, revision, log_start, identity_version) SELECT id, 0, 0, 0 FROM account;
INSERT INTO account_revision (account, revision, log_start, identity_version) VALUES (0, 0, 0, 0);

-- What each commit has changed.
CREATE TABLE change_log (
    account BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    kind {text} NOT NULL,
    id BIGINT NOT NULL,
    PRIMARY KEY (account, revision, kind, id)
){keyed};

DROP TABLE identity_version;

UPDATE schema_compatibility SET oldest_schema = 12;
