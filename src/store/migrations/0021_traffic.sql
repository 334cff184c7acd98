-- Since Garth 0.2.0; breaking.
-- The traffic of instances on hosts (decision 0031). An older build would not delete these rows with an instance, an
-- interface or a host.

-- `month` is the number of months since January of year 0, UTC.
CREATE TABLE instance_traffic (
    instance BIGINT NOT NULL REFERENCES instance (id),
    month BIGINT NOT NULL,
    received_bytes BIGINT NOT NULL,
    received_packets BIGINT NOT NULL,
    sent_bytes BIGINT NOT NULL,
    sent_packets BIGINT NOT NULL,
    dropped_packets BIGINT NOT NULL,
    PRIMARY KEY (instance, month)
){roomy};

-- The last reported counters of ports that were removed. A host that did not remove the port in the meantime continues
-- with these values when the interface gets a port there again.
CREATE TABLE removed_port (
    interface BIGINT NOT NULL REFERENCES interface (id),
    host BIGINT NOT NULL REFERENCES host (id),
    received_bytes BIGINT NOT NULL,
    received_packets BIGINT NOT NULL,
    sent_bytes BIGINT NOT NULL,
    sent_packets BIGINT NOT NULL,
    dropped_packets BIGINT NOT NULL,
    PRIMARY KEY (interface, host)
);
CREATE INDEX removed_port_host ON removed_port (host);

UPDATE schema_compatibility SET oldest_schema = 21;
