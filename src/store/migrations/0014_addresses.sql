-- Since Garth 0.2.0; breaking.
-- Private addresses of instances are in `public_address` too. `additional_of` is the account whose limit an address
-- counts for; it is NULL for the first public address of an instance and for private addresses.

ALTER TABLE public_address ADD COLUMN is_private BIGINT NOT NULL DEFAULT 0;
ALTER TABLE public_address ADD COLUMN rdns TEXT;
ALTER TABLE public_address ADD COLUMN additional_of BIGINT REFERENCES account (id);
CREATE INDEX public_address_additional ON public_address (additional_of);

UPDATE schema_compatibility SET oldest_schema = 14;
