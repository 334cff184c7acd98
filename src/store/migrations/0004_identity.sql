-- What users tell of themselves, and when they last came in.

ALTER TABLE app_user ADD COLUMN timezone TEXT NOT NULL DEFAULT 'GMT';
ALTER TABLE app_user ADD COLUMN email_notifications BIGINT NOT NULL DEFAULT 1;
ALTER TABLE app_user ADD COLUMN lish_auth_method TEXT NOT NULL DEFAULT 'password_keys';
ALTER TABLE app_user ADD COLUMN authorized_keys TEXT;
ALTER TABLE app_user ADD COLUMN preferences TEXT NOT NULL DEFAULT '{}';
ALTER TABLE app_user ADD COLUMN password_created BIGINT;
ALTER TABLE app_user ADD COLUMN last_login BIGINT;
ALTER TABLE app_user ADD COLUMN last_login_status TEXT;
UPDATE app_user SET password_created = created WHERE password IS NOT NULL;

-- Programs that may ask users for access. Without an account it is the provider's own.

CREATE TABLE oauth_client (
    id {text} PRIMARY KEY,
    number BIGINT NOT NULL,
    account BIGINT REFERENCES account (id),
    label {text} NOT NULL,
    redirect_uri TEXT NOT NULL,
    secret TEXT NOT NULL,
    is_public BIGINT NOT NULL,
    status {text} NOT NULL,
    created BIGINT NOT NULL
);
CREATE UNIQUE INDEX oauth_client_number ON oauth_client (number);
CREATE INDEX oauth_client_account ON oauth_client (account, number);

-- A grant by a user to a client: everything that came of one authorization, so that it can end together.

CREATE TABLE oauth_grant (
    id {identity},
    client TEXT NOT NULL REFERENCES oauth_client (id) ON DELETE CASCADE,
    app_user BIGINT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    scopes TEXT NOT NULL,
    created BIGINT NOT NULL,
    revoked BIGINT
);
CREATE INDEX oauth_grant_user ON oauth_grant (app_user, id);
CREATE INDEX oauth_grant_client ON oauth_grant (client, id);

CREATE TABLE oauth_code (
    hash TEXT PRIMARY KEY,
    oauth_grant BIGINT NOT NULL REFERENCES oauth_grant (id) ON DELETE CASCADE,
    redirect_uri TEXT NOT NULL,
    challenge TEXT,
    expiry BIGINT NOT NULL,
    used BIGINT
);

CREATE TABLE refresh_token (
    hash TEXT PRIMARY KEY,
    oauth_grant BIGINT NOT NULL REFERENCES oauth_grant (id) ON DELETE CASCADE,
    created BIGINT NOT NULL,
    expiry BIGINT NOT NULL,
    used BIGINT
);
CREATE INDEX refresh_token_grant ON refresh_token (oauth_grant);

ALTER TABLE token ADD COLUMN oauth_grant BIGINT;
CREATE INDEX token_oauth_grant ON token (oauth_grant);

-- Browsers in which somebody has logged in.

CREATE TABLE session (
    hash TEXT PRIMARY KEY,
    app_user BIGINT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    created BIGINT NOT NULL,
    expiry BIGINT NOT NULL
);
CREATE INDEX session_of_user ON session (app_user);
CREATE INDEX session_expiry ON session (expiry);

-- Links with which a user may set a password, once.

CREATE TABLE password_link (
    hash TEXT PRIMARY KEY,
    app_user BIGINT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    expiry BIGINT NOT NULL
);

-- How often somebody has guessed wrong, by the name that was given.

CREATE TABLE login_failure (
    username TEXT PRIMARY KEY,
    failures BIGINT NOT NULL,
    last BIGINT NOT NULL
);
