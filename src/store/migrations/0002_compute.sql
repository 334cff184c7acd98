-- Instances, their configs and interfaces.

CREATE TABLE instance (
    id {identity},
    account BIGINT NOT NULL REFERENCES account (id),
    label {text} NOT NULL,
    group_name {text} NOT NULL,
    region {text} NOT NULL,
    plan {text} NOT NULL,
    image {text},
    status {text} NOT NULL,
    running_config BIGINT,
    last_config BIGINT,
    tags TEXT NOT NULL,
    watchdog BIGINT NOT NULL,
    has_user_data BIGINT NOT NULL,
    host TEXT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL
);
CREATE UNIQUE INDEX instance_label ON instance (account, lower(label));
CREATE INDEX instance_account ON instance (account, id);

-- Public addresses in use; the pool they come from is a setting.
CREATE TABLE public_address (
    address BIGINT PRIMARY KEY,
    instance BIGINT NOT NULL REFERENCES instance (id)
);
CREATE INDEX public_address_instance ON public_address (instance, address);

CREATE TABLE disk (
    id {identity},
    instance BIGINT NOT NULL REFERENCES instance (id),
    label TEXT NOT NULL,
    size BIGINT NOT NULL,
    created BIGINT NOT NULL
);
CREATE INDEX disk_instance ON disk (instance, id);

CREATE TABLE config (
    id {identity},
    instance BIGINT NOT NULL REFERENCES instance (id),
    label {text} NOT NULL,
    comments TEXT NOT NULL,
    kernel TEXT NOT NULL,
    memory_limit BIGINT NOT NULL,
    root_device TEXT NOT NULL,
    run_level TEXT NOT NULL,
    virt_mode TEXT NOT NULL,
    helpers TEXT NOT NULL,
    devices TEXT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL
);
CREATE INDEX config_instance ON config (instance, id);

CREATE TABLE interface (
    id {identity},
    config BIGINT NOT NULL REFERENCES config (id),
    instance BIGINT NOT NULL REFERENCES instance (id),
    place BIGINT NOT NULL,
    purpose TEXT NOT NULL,
    is_primary BIGINT NOT NULL,
    active BIGINT NOT NULL,
    label TEXT,
    ipam_address TEXT,
    vpc BIGINT REFERENCES vpc (id),
    subnet BIGINT REFERENCES subnet (id),
    address BIGINT,
    nat_1_1 BIGINT
);
CREATE INDEX interface_config ON interface (config, place);
CREATE INDEX interface_subnet ON interface (subnet, address);
CREATE INDEX interface_instance ON interface (subnet, instance);
CREATE INDEX interface_vpc ON interface (vpc);

CREATE TABLE interface_range (
    interface BIGINT NOT NULL REFERENCES interface (id),
    place BIGINT NOT NULL,
    subnet BIGINT NOT NULL,
    instance BIGINT NOT NULL,
    ipv4 TEXT NOT NULL,
    first_address BIGINT NOT NULL,
    last_address BIGINT NOT NULL,
    PRIMARY KEY (interface, place)
);
CREATE INDEX interface_range_subnet ON interface_range (subnet, first_address);

-- What is free in each subnet, as ranges that do not touch each other: the lowest free address is
-- the first of the first.
CREATE TABLE free_range (
    subnet BIGINT NOT NULL REFERENCES subnet (id),
    first_address BIGINT NOT NULL,
    last_address BIGINT NOT NULL,
    PRIMARY KEY (subnet, first_address)
);
INSERT INTO free_range (subnet, first_address, last_address)
    SELECT id, first_address + 2, last_address - 2 FROM subnet;

-- What is to be done to an instance at a later time.
CREATE TABLE due_work (
    id {identity},
    instance BIGINT NOT NULL REFERENCES instance (id),
    event BIGINT NOT NULL,
    step TEXT NOT NULL,
    due BIGINT NOT NULL
);
CREATE INDEX due_work_due ON due_work (due);
CREATE INDEX due_work_instance ON due_work (instance);

ALTER TABLE event ADD COLUMN percent_complete BIGINT;
ALTER TABLE event ADD COLUMN duration BIGINT;
