//! Stored row counts: each must match the number of rows.

use super::invariant::{Findings, Invariant};
use crate::store::error::StoreError;
use crate::store::tx::ReadTx;
use crate::store::value::args;

pub const INVARIANTS: &[Invariant] = &[Invariant::function(
    "stored counts match the number of rows",
    check_counts,
)];

/// A query for all rows that tallies count: the collection, its owner, the ID that selects the bucket, and the number
/// to add.
const COUNTED: &str = "
    SELECT 'vpc' AS collection, account AS owner, id, 1 AS items FROM vpc
    UNION ALL SELECT 'vpc:' || region, account, id, 1 FROM vpc
    UNION ALL SELECT 'vpc_subnet', vpc, id, 1 FROM subnet
    UNION ALL SELECT 'instance', account, id, 1 FROM instance
    UNION ALL SELECT 'event', account, id, 1 FROM event
    UNION ALL SELECT CASE is_closed WHEN 0 THEN 'ticket:open' ELSE 'ticket:closed' END, account, id, 1 FROM ticket
    UNION ALL SELECT 'attachment_bytes', ticket.account, attachment.id, attachment.size
        FROM attachment JOIN ticket ON ticket.id = attachment.ticket WHERE attachment.from_staff = 0";

fn check_counts(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    for span in [256, 65_536] {
        // The query subtracts the stored count of each bucket, so that correct buckets have the sum zero.
        let sql = format!(
            "SELECT 'count of ' || collection || ' for owner ' || owner,
                 'IDs ' || (bucket * {span}) || ' to ' || (bucket * {span} + {span} - 1)
                     || ': actual count minus stored count is ' || sum(items) FROM (
                 SELECT collection, owner, id / {span} AS bucket, CAST(sum(items) AS BIGINT) AS items
                     FROM ({COUNTED}) AS counted GROUP BY collection, owner, id / {span}
                 UNION ALL SELECT collection, owner, bucket, -items FROM tally WHERE span = {span}) AS compared
             GROUP BY collection, owner, bucket HAVING sum(items) <> 0 ORDER BY collection, owner, bucket"
        );
        findings.add_rows(tx, &sql, args![])?;
    }
    Ok(())
}
