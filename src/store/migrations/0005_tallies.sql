-- How many rows a list has, and how many of them in each stretch of ids, so that any page of it is
-- found without walking there. `store/tallies.rs` keeps them.

CREATE TABLE tally (
    collection {text} NOT NULL,
    owner BIGINT NOT NULL,
    span BIGINT NOT NULL,
    bucket BIGINT NOT NULL,
    items BIGINT NOT NULL,
    PRIMARY KEY (collection, owner, span, bucket)
){keyed};

INSERT INTO tally SELECT 'vpc', account, 256, id / 256, count(*) FROM vpc GROUP BY account, id / 256;
INSERT INTO tally SELECT 'vpc:' || region, account, 256, id / 256, count(*) FROM vpc
    GROUP BY region, account, id / 256;
INSERT INTO tally SELECT 'vpc_subnet', vpc, 256, id / 256, count(*) FROM subnet GROUP BY vpc, id / 256;
INSERT INTO tally SELECT 'instance', account, 256, id / 256, count(*) FROM instance GROUP BY account, id / 256;
INSERT INTO tally SELECT 'event', account, 256, id / 256, count(*) FROM event GROUP BY account, id / 256;
INSERT INTO tally SELECT CASE is_closed WHEN 0 THEN 'ticket:open' ELSE 'ticket:closed' END,
        account, 256, id / 256, count(*) FROM ticket
    GROUP BY is_closed, account, id / 256;
INSERT INTO tally SELECT collection, owner, 65536, bucket / 256, CAST(sum(items) AS BIGINT) FROM tally
    GROUP BY collection, owner, bucket / 256;

-- Lists by a region or a label, the newest events, and the tickets of a status.

DROP INDEX vpc_region;
CREATE INDEX vpc_region ON vpc (account, region, id);
CREATE INDEX vpc_by_label ON vpc (account, label, id);
DROP INDEX event_created;
CREATE INDEX event_recent ON event (account, created);
CREATE INDEX ticket_status ON ticket (account, status, opened, id);
