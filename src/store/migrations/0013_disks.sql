-- Since Garth 0.2.0.
-- Disks of instances as objects of the API. Disks of earlier builds are ready, hold a file system, and keep the size
-- of the whole plan.

ALTER TABLE disk ADD COLUMN filesystem TEXT NOT NULL DEFAULT 'ext4';
ALTER TABLE disk ADD COLUMN status TEXT NOT NULL DEFAULT 'ready';
ALTER TABLE disk ADD COLUMN updated BIGINT;

-- Settings of instances that Garth only stores. The alerts are `cpu,network_in,network_out,transfer_quota,io`.
ALTER TABLE instance ADD COLUMN alerts TEXT NOT NULL DEFAULT '90,10,10,80,10000';
ALTER TABLE instance ADD COLUMN backup_day TEXT;
ALTER TABLE instance ADD COLUMN backup_window TEXT;
ALTER TABLE instance ADD COLUMN maintenance_policy TEXT NOT NULL DEFAULT 'linode/migrate';
ALTER TABLE instance ADD COLUMN disk_encryption TEXT NOT NULL DEFAULT 'disabled';
