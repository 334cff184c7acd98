-- Since Garth 0.2.0; breaking.
-- The tags of each account, and the instances that have them. A tag that was created by itself remains when no instance
-- has it.

CREATE TABLE tag (
    id {identity},
    account BIGINT NOT NULL REFERENCES account (id),
    label {text} NOT NULL,
    is_permanent BIGINT NOT NULL
);
CREATE UNIQUE INDEX tag_label ON tag (account, label);
CREATE INDEX tag_permanent ON tag (account) WHERE is_permanent = 1;

CREATE TABLE instance_tag (
    account BIGINT NOT NULL REFERENCES account (id),
    label {text} NOT NULL,
    instance BIGINT NOT NULL REFERENCES instance (id) ON DELETE CASCADE,
    PRIMARY KEY (account, label, instance)
){keyed};
CREATE INDEX instance_tag_instance ON instance_tag (instance);

-- `instance.tags` has one tag on each line.
INSERT INTO instance_tag (account, label, instance)
    WITH RECURSIVE walk (account, instance, tags, at, word, done) AS (
        SELECT account, id, tags || '
', 1, CAST('' AS TEXT), CAST(NULL AS TEXT) FROM instance WHERE tags <> ''
        UNION ALL
        SELECT account, instance, tags, at + 1,
            CASE WHEN substr(tags, at, 1) = '
' THEN '' ELSE word || substr(tags, at, 1) END,
            CASE WHEN substr(tags, at, 1) = '
' THEN word ELSE NULL END
        FROM walk WHERE at <= length(tags)
    )
    SELECT DISTINCT account, done, instance FROM walk WHERE done <> '';
INSERT INTO tag (account, label, is_permanent)
    SELECT account, label, 0 FROM instance_tag GROUP BY account, label ORDER BY account, label;

-- The public SSH keys of users.
CREATE TABLE ssh_key (
    id {identity},
    app_user BIGINT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    label TEXT NOT NULL,
    public_key TEXT NOT NULL,
    created BIGINT NOT NULL
);
CREATE INDEX ssh_key_user ON ssh_key (app_user, id);

-- The latest attempts of users to log in, with the name and the restriction of the user at that time.
CREATE TABLE login_record (
    id {identity},
    app_user BIGINT NOT NULL REFERENCES app_user (id) ON DELETE CASCADE,
    account BIGINT NOT NULL REFERENCES account (id),
    username {text} NOT NULL,
    restricted BIGINT NOT NULL,
    created BIGINT NOT NULL,
    ip {text} NOT NULL,
    status {text} NOT NULL
);
CREATE INDEX login_record_user ON login_record (app_user, status, id);
CREATE INDEX login_record_account ON login_record (account, id);
CREATE INDEX login_record_created ON login_record (created);

UPDATE schema_compatibility SET oldest_schema = 15;
