-- Accounts and those who act for them.

CREATE TABLE account (
    id {identity},
    company TEXT NOT NULL,
    email TEXT NOT NULL,
    created BIGINT NOT NULL,
    vpcs_per_region BIGINT,
    subnets_per_vpc BIGINT
);

-- A user without an account is one of the provider's staff.
CREATE TABLE app_user (
    id {identity},
    account BIGINT REFERENCES account (id),
    username TEXT NOT NULL,
    email TEXT NOT NULL,
    restricted BIGINT NOT NULL,
    account_access TEXT,
    password TEXT,
    created BIGINT NOT NULL,
    events_seen BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX app_user_username ON app_user (lower(username));
CREATE INDEX app_user_account ON app_user (account, id);

CREATE TABLE global_grant (
    app_user BIGINT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    PRIMARY KEY (app_user, name)
);

-- Grants outlive what they were given on, so that its holder still reads of its deletion.
CREATE TABLE entity_grant (
    app_user BIGINT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    entity BIGINT NOT NULL,
    permission TEXT NOT NULL,
    PRIMARY KEY (app_user, kind, entity)
);

CREATE TABLE token (
    id {identity},
    app_user BIGINT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    hash TEXT NOT NULL,
    prefix TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created BIGINT NOT NULL,
    expiry BIGINT,
    revoked BIGINT
);
CREATE UNIQUE INDEX token_hash ON token (hash);
CREATE INDEX token_user ON token (app_user, id);

-- Grows with every change to users, grants and tokens: what was read of them at an older
-- number is read again.
CREATE TABLE identity_version (
    version BIGINT NOT NULL
);
INSERT INTO identity_version (version) VALUES (1);

-- VPCs.

CREATE TABLE vpc (
    id {identity},
    account BIGINT NOT NULL REFERENCES account (id),
    label {text} NOT NULL,
    description TEXT NOT NULL,
    region {text} NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL
);
CREATE UNIQUE INDEX vpc_label ON vpc (account, lower(label));
CREATE INDEX vpc_account ON vpc (account, id);
CREATE INDEX vpc_region ON vpc (account, region);

-- The range stands as text and as its first and last address, so that overlap is a comparison.
CREATE TABLE subnet (
    id {identity},
    vpc BIGINT NOT NULL REFERENCES vpc (id),
    label {text} NOT NULL,
    ipv4 TEXT NOT NULL,
    first_address BIGINT NOT NULL,
    last_address BIGINT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL
);
CREATE UNIQUE INDEX subnet_label ON subnet (vpc, lower(label));
CREATE UNIQUE INDEX subnet_range ON subnet (vpc, first_address);
CREATE INDEX subnet_vpc ON subnet (vpc, id);

-- Events. What an event was about is kept as it was then. A restricted user sees it through a
-- grant on its guard.

CREATE TABLE event (
    id {identity},
    account BIGINT NOT NULL REFERENCES account (id),
    created BIGINT NOT NULL,
    action {text} NOT NULL,
    username {text},
    entity_kind {text},
    entity_id BIGINT,
    entity_label TEXT,
    entity_url TEXT,
    secondary_kind TEXT,
    secondary_id BIGINT,
    secondary_label TEXT,
    secondary_url TEXT,
    guard_kind TEXT,
    guard_id BIGINT,
    status {text} NOT NULL
);
CREATE INDEX event_account ON event (account, id);
CREATE INDEX event_entity ON event (account, entity_kind, entity_id, id);
CREATE INDEX event_created ON event (created);

CREATE TABLE event_read (
    app_user BIGINT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    event BIGINT NOT NULL REFERENCES event (id) ON DELETE CASCADE,
    PRIMARY KEY (app_user, event)
);
CREATE INDEX event_read_event ON event_read (event);
