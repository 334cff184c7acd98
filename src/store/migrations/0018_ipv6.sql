-- Since Garth 0.2.0; breaking.
-- IPv6 ranges of VPCs, subnets and interfaces (decision 0029). An address is stored as 32 hexadecimal digits and a range
-- as its first address with the prefix length in three digits, so that both sort like the addresses. An older build
-- would not delete the rows of a VPC with an IPv6 range.

ALTER TABLE vpc ADD COLUMN ipv6 {text};
ALTER TABLE subnet ADD COLUMN ipv6 {text};
CREATE UNIQUE INDEX subnet_ipv6 ON subnet (vpc, ipv6) WHERE ipv6 IS NOT NULL;

-- NULL if the interface has no IPv6 settings.
ALTER TABLE interface ADD COLUMN ipv6_is_public BIGINT;

-- The networks of an interface. Place 0 is the network for SLAAC.
CREATE TABLE interface_range6 (
    interface BIGINT NOT NULL REFERENCES interface (id),
    place BIGINT NOT NULL,
    subnet BIGINT NOT NULL,
    instance BIGINT NOT NULL,
    first_address {text} NOT NULL,
    last_address {text} NOT NULL,
    PRIMARY KEY (interface, place)
);
CREATE INDEX interface_range6_subnet ON interface_range6 (subnet, first_address);
CREATE INDEX interface_range6_instance ON interface_range6 (instance);

-- The provider's pool, as the free ranges were computed for it. It has at most one row.
CREATE TABLE ipv6_pool (
    id {number_key},
    ipv6 {text} NOT NULL
);

-- The ranges of VPCs. After the deletion of its VPC, a range remains reserved: it has no VPC and a time of release.
CREATE TABLE ipv6_prefix (
    first_address {text} NOT NULL PRIMARY KEY,
    last_address {text} NOT NULL,
    account BIGINT NOT NULL REFERENCES account (id),
    vpc BIGINT REFERENCES vpc (id),
    released BIGINT
);
CREATE INDEX ipv6_prefix_vpc ON ipv6_prefix (vpc);
CREATE INDEX ipv6_prefix_released ON ipv6_prefix (released, first_address);

-- The free addresses of the pool, of each VPC and of each subnet, like `free_range`.
CREATE TABLE pool_free_range6 (
    pool BIGINT NOT NULL REFERENCES ipv6_pool (id),
    first_address {text} NOT NULL,
    last_address {text} NOT NULL,
    PRIMARY KEY (pool, first_address)
);
CREATE TABLE vpc_free_range6 (
    vpc BIGINT NOT NULL REFERENCES vpc (id),
    first_address {text} NOT NULL,
    last_address {text} NOT NULL,
    PRIMARY KEY (vpc, first_address)
);
CREATE TABLE free_range6 (
    subnet BIGINT NOT NULL REFERENCES subnet (id),
    first_address {text} NOT NULL,
    last_address {text} NOT NULL,
    PRIMARY KEY (subnet, first_address)
);

UPDATE schema_compatibility SET oldest_schema = 18;
