-- Since Garth 0.2.0; breaking.
-- The oldest schema whose builds may use this store. A migration that an older build cannot work with raises it to its
-- own number.

CREATE TABLE schema_compatibility (
    oldest_schema BIGINT NOT NULL
);
INSERT INTO schema_compatibility (oldest_schema) VALUES (11);
