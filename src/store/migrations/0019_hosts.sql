-- Since Garth 0.2.0; breaking.
-- Hosts, and the instances that run on them (decision 0031). An older build would not remove the ports of an instance
-- that it shuts down or deletes.

CREATE TABLE host (
    id {identity},
    label {text} NOT NULL,
    region {text} NOT NULL,
    underlay_address {text} NOT NULL,
    capacity BIGINT NOT NULL,
    is_draining BIGINT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL
);
CREATE UNIQUE INDEX host_label ON host (lower(label));
CREATE UNIQUE INDEX host_underlay_address ON host (region, underlay_address);

-- Both secrets are stored as hashes. An agent exchanges the join token of its host for a credential.
CREATE TABLE host_join_token (
    host {number_key} REFERENCES host (id),
    hash {text} NOT NULL,
    expiry BIGINT NOT NULL
);
CREATE UNIQUE INDEX host_join_token_hash ON host_join_token (hash);
CREATE TABLE host_credential (
    host {number_key} REFERENCES host (id),
    hash {text} NOT NULL,
    created BIGINT NOT NULL
);
CREATE UNIQUE INDEX host_credential_hash ON host_credential (hash);

-- The last report of each agent. A line of `warnings` is a problem of the host.
CREATE TABLE host_report (
    host {number_key} REFERENCES host (id),
    last_seen BIGINT NOT NULL,
    applied_revision BIGINT NOT NULL,
    agent_version {text} NOT NULL,
    underlay_mtu BIGINT,
    warnings {text} NOT NULL
){roomy};

-- The revision of the desired state of each host, and the revision with which each VPC of the host last changed.
CREATE TABLE host_revision (
    host {number_key} REFERENCES host (id),
    revision BIGINT NOT NULL
){roomy};
CREATE TABLE host_vpc (
    host BIGINT NOT NULL REFERENCES host (id),
    vpc BIGINT NOT NULL REFERENCES vpc (id),
    revision BIGINT NOT NULL,
    PRIMARY KEY (host, vpc)
);
CREATE INDEX host_vpc_vpc ON host_vpc (vpc, host);

-- The host of each instance that runs or boots on a host.
CREATE TABLE placement (
    instance {number_key} REFERENCES instance (id),
    host BIGINT NOT NULL REFERENCES host (id)
);
CREATE INDEX placement_host ON placement (host, instance);

-- The VPC interfaces of these instances. `revision` is the revision of the host that added the port.
CREATE TABLE port (
    interface {number_key} REFERENCES interface (id),
    instance BIGINT NOT NULL REFERENCES instance (id),
    host BIGINT NOT NULL REFERENCES host (id),
    vpc BIGINT NOT NULL REFERENCES vpc (id),
    revision BIGINT NOT NULL,
    status {text} NOT NULL,
    reason {text},
    received_bytes BIGINT NOT NULL,
    received_packets BIGINT NOT NULL,
    sent_bytes BIGINT NOT NULL,
    sent_packets BIGINT NOT NULL,
    dropped_packets BIGINT NOT NULL
);
CREATE INDEX port_host ON port (host, vpc);
CREATE INDEX port_instance ON port (instance);
CREATE INDEX port_vpc ON port (vpc, host);

-- The ID of a tunnel is the VXLAN network identifier of its subnet.
CREATE TABLE tunnel (
    id {identity},
    subnet BIGINT NOT NULL REFERENCES subnet (id)
);
CREATE UNIQUE INDEX tunnel_subnet ON tunnel (subnet);

UPDATE schema_compatibility SET oldest_schema = 19;
