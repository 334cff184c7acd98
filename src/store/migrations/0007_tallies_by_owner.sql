-- Tallies lie side by side by their owners: what one account reads of its own is then not on the pages where others write.

CREATE TABLE tally_by_owner (
    owner BIGINT NOT NULL,
    collection {text} NOT NULL,
    span BIGINT NOT NULL,
    bucket BIGINT NOT NULL,
    items BIGINT NOT NULL,
    PRIMARY KEY (owner, collection, span, bucket)
){keyed};

INSERT INTO tally_by_owner (owner, collection, span, bucket, items)
    SELECT owner, collection, span, bucket, items FROM tally;
DROP TABLE tally;
ALTER TABLE tally_by_owner RENAME TO tally;
