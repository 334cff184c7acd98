-- Since Garth 0.2.0.
-- Regions and plans that staff have added or changed (decision 0043). They take precedence over those of the settings.
-- `name` is the ID that the API shows.

CREATE TABLE catalog_region (
    id {identity},
    name {text} NOT NULL,
    label {text} NOT NULL,
    country {text} NOT NULL,
    capabilities {text} NOT NULL,
    status {text} NOT NULL,
    retired BIGINT NOT NULL,
    updated BIGINT NOT NULL
);
CREATE UNIQUE INDEX catalog_region_name ON catalog_region (name);

-- Prices are in hundredths of a cent.
CREATE TABLE catalog_plan (
    id {identity},
    name {text} NOT NULL,
    label {text} NOT NULL,
    class {text} NOT NULL,
    memory BIGINT NOT NULL,
    disk BIGINT NOT NULL,
    transfer BIGINT NOT NULL,
    vcpus BIGINT NOT NULL,
    gpus BIGINT NOT NULL,
    network_out BIGINT NOT NULL,
    hourly BIGINT NOT NULL,
    monthly BIGINT NOT NULL,
    region_prices {text} NOT NULL,
    retired BIGINT NOT NULL,
    updated BIGINT NOT NULL
);
CREATE UNIQUE INDEX catalog_plan_name ON catalog_plan (name);
