-- Since Garth 0.2.0.
-- The tags of tickets, which only staff see (decision 0040).

CREATE TABLE ticket_tag (
    ticket BIGINT NOT NULL REFERENCES ticket (id),
    label {text} NOT NULL,
    PRIMARY KEY (ticket, label)
){keyed};
CREATE INDEX ticket_tag_label ON ticket_tag (label);

-- Saved views of the queue (decision 0041). `filters` has the name and the value of one filter on each line. If the
-- owner is deleted, shared views remain.

CREATE TABLE saved_view (
    id {identity},
    owner BIGINT REFERENCES app_user (id) ON DELETE SET NULL,
    created_by {text} NOT NULL,
    label {text} NOT NULL,
    is_shared BIGINT NOT NULL,
    filters {text} NOT NULL,
    created BIGINT NOT NULL
);
CREATE INDEX saved_view_owner ON saved_view (owner);

-- For reports of a period.

CREATE INDEX ticket_opened ON ticket (opened);
CREATE INDEX ticket_history_closed ON ticket_history (created) WHERE step = 'close';
