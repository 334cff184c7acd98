-- Secrets that all nodes share, made on first use.

CREATE TABLE server_secret (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    created BIGINT NOT NULL
);

-- Failed log-ins are counted in memory.

DROP TABLE login_failure;
