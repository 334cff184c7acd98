-- Since Garth 0.2.0.
-- Indexes that contain all columns of frequent queries of the console, so that these queries read no rows of the tables:
-- the number of unseen events on each page, and the number of a user's grants of each level.

CREATE INDEX event_unseen ON event (account, id, author, created);
DROP INDEX event_account;
CREATE INDEX entity_grant_level ON entity_grant (app_user, kind, permission);
