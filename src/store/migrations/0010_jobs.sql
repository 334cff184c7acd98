-- Background work, of any kind.
--
-- A job is taken by the node that leases it: lease_owner names the node, and available is the time from which a node
-- may take the job. That is its due time, or the end of the lease. A job that has failed too often is dead.

CREATE TABLE job (
    id {identity},
    kind {text} NOT NULL,
    subject {text} NOT NULL,
    payload {text} NOT NULL,
    due BIGINT NOT NULL,
    available BIGINT NOT NULL,
    attempts BIGINT NOT NULL DEFAULT 0,
    lease_owner {text},
    last_error {text},
    dead BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX job_subject ON job (kind, subject);
CREATE INDEX job_available ON job (available) WHERE dead = 0;

-- What instances had under way: one job for each, which first starts and then finishes. The table due_work stays,
-- and stays empty.
INSERT INTO job (kind, subject, payload, due, available)
    SELECT 'instance_power', CAST(first.instance AS TEXT),
        'start ' || CAST(first.event AS TEXT) || ' ' || CAST(last.due AS TEXT), first.due, first.due
    FROM due_work first JOIN due_work last ON last.instance = first.instance AND last.event = first.event
    WHERE first.step = 'start' AND last.step = 'finish';
INSERT INTO job (kind, subject, payload, due, available)
    SELECT 'instance_power', CAST(instance AS TEXT), 'finish ' || CAST(event AS TEXT), due, due
    FROM due_work
    WHERE step = 'finish' AND NOT EXISTS (SELECT 1 FROM due_work other
        WHERE other.instance = due_work.instance AND other.event = due_work.event AND other.step = 'start');
DELETE FROM due_work;
