-- Who of the staff has a ticket before them just now. A row says it again every few seconds and counts
-- for nothing once it has stopped, so that a browser or a node that dies leaves nobody behind.
CREATE TABLE ticket_viewer (
    ticket BIGINT NOT NULL REFERENCES ticket (id),
    tab {text} NOT NULL,
    app_user BIGINT NOT NULL,
    seen BIGINT NOT NULL,
    PRIMARY KEY (ticket, tab)
);
CREATE INDEX ticket_viewer_seen ON ticket_viewer (seen);
