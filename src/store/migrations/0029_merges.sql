-- Since Garth 0.2.0; breaking.
-- An older build would reopen merged tickets, count files of staff toward quotas, and ignore a renamed filter.

-- In saved views, the filter for tickets without an assignee has the value `unassigned`. Each filter is one line.

UPDATE saved_view SET filters = substr(replace('
' || filters, '
claim nobody
', '
claim unassigned
'), 2);

-- Files that staff attach do not count toward the limits of the account.

ALTER TABLE attachment ADD COLUMN from_staff BIGINT NOT NULL DEFAULT 0;

-- Merged tickets (decision 0044). `merged_into` is the ticket that continues a closed ticket. It has no foreign key,
-- because a restore inserts tickets by ID, and the target can have a higher ID. `answers` is set for the messages that a
-- merge writes: whether the ticket does not wait for the provider after it. Otherwise, replies of staff are answers.

ALTER TABLE ticket ADD COLUMN merged_into BIGINT;
CREATE INDEX ticket_merged_into ON ticket (merged_into) WHERE merged_into IS NOT NULL;
ALTER TABLE reply ADD COLUMN answers BIGINT;

UPDATE schema_compatibility SET oldest_schema = 29;
