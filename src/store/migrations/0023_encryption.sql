-- Since Garth 0.2.0; breaking.
-- Encryption between the hosts of a region (decision 0033). An older build would not send keys to hosts, and would not
-- delete the keys of a host with it.

-- Hosts have a key of each generation from `oldest_generation` to `generation`. They differ during a rotation.
-- `rotated` is the time when the newest generation began.
CREATE TABLE region_encryption (
    region {text} PRIMARY KEY,
    is_enabled BIGINT NOT NULL,
    key_days BIGINT NOT NULL,
    generation BIGINT NOT NULL,
    oldest_generation BIGINT NOT NULL,
    rotated BIGINT NOT NULL,
    updated BIGINT NOT NULL
);

-- The public keys that agents have reported, in base64.
CREATE TABLE host_key (
    host BIGINT NOT NULL REFERENCES host (id),
    generation BIGINT NOT NULL,
    public_key {text} NOT NULL,
    created BIGINT NOT NULL,
    PRIMARY KEY (host, generation)
);

-- The generation of keys with which a host sends to all other hosts.
ALTER TABLE host_report ADD COLUMN key_generation BIGINT;

UPDATE schema_compatibility SET oldest_schema = 23;
