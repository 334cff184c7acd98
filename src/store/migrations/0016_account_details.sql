-- Since Garth 0.2.0.
-- What an account's users enter about it, and its settings. `first_email` is the address at its creation, from which its
-- public identifier is derived; a row of an earlier build has none, and then `email` has not been changed.

ALTER TABLE account ADD COLUMN first_email TEXT;
ALTER TABLE account ADD COLUMN first_name TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN last_name TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN address_1 TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN address_2 TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN city TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN state TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN zip TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN country TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN phone TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN tax_id TEXT NOT NULL DEFAULT '';
ALTER TABLE account ADD COLUMN network_helper BIGINT NOT NULL DEFAULT 1;
ALTER TABLE account ADD COLUMN maintenance_policy TEXT NOT NULL DEFAULT 'linode/migrate';
