-- Since Garth 0.2.0.
-- The image of each disk, so that the disk is not made smaller than it. Earlier builds stored only the image of the
-- instance, so their disks have none.

ALTER TABLE disk ADD COLUMN image TEXT;
