-- Since Garth 0.2.0; breaking.
-- Roles of staff, disabled users, and the status of accounts (decision 0034). An older build would give every member of
-- staff all permissions, and would accept the tokens of suspended accounts and disabled users.

-- `staff_role` is NULL for users of accounts.
ALTER TABLE app_user ADD COLUMN staff_role {text};
ALTER TABLE app_user ADD COLUMN disabled BIGINT NOT NULL DEFAULT 0;
UPDATE app_user SET staff_role = 'admin' WHERE account IS NULL;

ALTER TABLE account ADD COLUMN status {text} NOT NULL DEFAULT 'active';

UPDATE schema_compatibility SET oldest_schema = 24;
