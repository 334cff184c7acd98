-- Who caused an event, so that a user's own events are known even after a name has changed hands.
ALTER TABLE event ADD COLUMN author BIGINT;
UPDATE event SET author = (SELECT u.id FROM app_user u WHERE u.username = event.username);

-- Tickets. Whoever opened or claimed one may be gone later; the names stay as they were.

CREATE TABLE ticket (
    id {identity},
    account BIGINT NOT NULL REFERENCES account (id),
    summary {text} NOT NULL,
    description TEXT NOT NULL,
    status {text} NOT NULL,
    is_closed BIGINT NOT NULL,
    closable BIGINT NOT NULL,
    closed BIGINT,
    opened BIGINT NOT NULL,
    opened_by {text} NOT NULL,
    opener BIGINT,
    updated BIGINT NOT NULL,
    updated_by {text},
    gravatar_id TEXT NOT NULL,
    entity_kind {text},
    entity_id BIGINT,
    entity_label TEXT,
    entity_url TEXT,
    managed_issue BIGINT NOT NULL,
    priority BIGINT NOT NULL,
    claimer BIGINT,
    claimed BIGINT,
    replies BIGINT NOT NULL DEFAULT 0,
    notes BIGINT NOT NULL DEFAULT 0,
    revision BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX ticket_account ON ticket (account, is_closed, id);
CREATE INDEX ticket_queue ON ticket (is_closed, id);
CREATE INDEX ticket_opener ON ticket (opener, id);
CREATE INDEX ticket_entity ON ticket (account, entity_kind, entity_id);

CREATE TABLE reply (
    id {identity},
    ticket BIGINT NOT NULL REFERENCES ticket (id),
    created BIGINT NOT NULL,
    created_by {text} NOT NULL,
    description TEXT NOT NULL,
    from_staff BIGINT NOT NULL,
    gravatar_id TEXT NOT NULL
);
CREATE INDEX reply_ticket ON reply (ticket, id);

-- What only the staff see is in tables of its own, with ids of its own: nothing a tenant can ask
-- for is made from them.

CREATE TABLE note (
    id {identity},
    ticket BIGINT NOT NULL REFERENCES ticket (id),
    created BIGINT NOT NULL,
    created_by {text} NOT NULL,
    description TEXT NOT NULL
);
CREATE INDEX note_ticket ON note (ticket, id);

-- A file is visible once its row is here; its bytes were kept before.
CREATE TABLE attachment (
    id {identity},
    ticket BIGINT NOT NULL REFERENCES ticket (id),
    name {text} NOT NULL,
    size BIGINT NOT NULL,
    sha256 TEXT NOT NULL,
    file_key TEXT NOT NULL,
    created BIGINT NOT NULL,
    created_by {text} NOT NULL
);
CREATE INDEX attachment_ticket ON attachment (ticket, id);
CREATE UNIQUE INDEX attachment_key ON attachment (file_key);

-- Bytes on their way in: whatever stands here for long never became an attachment.
CREATE TABLE upload (
    file_key TEXT PRIMARY KEY,
    begun BIGINT NOT NULL
);
CREATE INDEX upload_begun ON upload (begun);

CREATE TABLE ticket_history (
    id {identity},
    ticket BIGINT NOT NULL REFERENCES ticket (id),
    step {text} NOT NULL,
    created BIGINT NOT NULL,
    created_by {text} NOT NULL,
    from_staff BIGINT NOT NULL,
    status {text} NOT NULL,
    before TEXT,
    after TEXT,
    reply BIGINT REFERENCES reply (id),
    note BIGINT REFERENCES note (id),
    attachment BIGINT REFERENCES attachment (id)
);
CREATE INDEX ticket_history_ticket ON ticket_history (ticket, id);

CREATE TABLE canned_reply (
    id {identity},
    label {text} NOT NULL,
    description TEXT NOT NULL,
    created BIGINT NOT NULL,
    updated BIGINT NOT NULL
);
CREATE UNIQUE INDEX canned_reply_label ON canned_reply (lower(label));

-- What other services keep, as far as tickets can be about it.
CREATE TABLE entity (
    account BIGINT NOT NULL REFERENCES account (id),
    kind {text} NOT NULL,
    id BIGINT NOT NULL,
    label {text} NOT NULL,
    PRIMARY KEY (account, kind, id)
);

CREATE TABLE vlan (
    id {identity},
    account BIGINT NOT NULL REFERENCES account (id),
    region TEXT NOT NULL,
    label TEXT NOT NULL
);
CREATE UNIQUE INDEX vlan_label ON vlan (account, region, label);

-- The words of tickets, replies and notes, for the desk's search.
{search_table};
