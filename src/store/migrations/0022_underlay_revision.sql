-- Since Garth 0.2.0; breaking.
-- The revision of the underlay of each region, which rises when its hosts get other addresses, keys or access (decision
-- 0031). An older build would not raise it, and hosts would not receive the change.

CREATE TABLE underlay_revision (
    region {text} PRIMARY KEY,
    revision BIGINT NOT NULL
);

UPDATE schema_compatibility SET oldest_schema = 22;
