-- Secrets that all nodes share, made on first use.

CREATE TABLE server_secret (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    created BIGINT NOT NULL
);

-- Failed log-ins are counted in memory.

DROP TABLE login_failure;

-- Staff authorize only the provider's own clients: what they granted to clients of accounts ends.

UPDATE token SET revoked = created WHERE revoked IS NULL AND oauth_grant IN (
    SELECT g.id FROM oauth_grant g JOIN oauth_client c ON c.id = g.client JOIN app_user u ON u.id = g.app_user
    WHERE c.account IS NOT NULL AND u.account IS NULL);
DELETE FROM oauth_grant WHERE id IN (
    SELECT g.id FROM oauth_grant g JOIN oauth_client c ON c.id = g.client JOIN app_user u ON u.id = g.app_user
    WHERE c.account IS NOT NULL AND u.account IS NULL);
UPDATE identity_version SET version = version + 1;
