-- Since Garth 0.2.0.
-- Disks of instances as objects of the API. Disks of earlier builds are ready, hold a file system, and keep the size
-- of the whole plan.

ALTER TABLE disk ADD COLUMN filesystem TEXT NOT NULL DEFAULT 'ext4';
ALTER TABLE disk ADD COLUMN status TEXT NOT NULL DEFAULT 'ready';
ALTER TABLE disk ADD COLUMN updated BIGINT;
