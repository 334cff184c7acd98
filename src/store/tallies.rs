//! Stored row counts. With them, a list finds its length and the first ID of any page without a scan.
//!
//! For each collection, the table `tally` has the number of rows in each bucket of 256 IDs and in each bucket of 65,536
//! IDs. To find a page, a list reads all large buckets, then the small buckets inside one of them, and then skips fewer
//! than 256 rows. So the cost hardly depends on the number of rows.
//!
//! Code that inserts or deletes a row calls `WriteTx::tally`. Just before a commit, the store sums the changes of all
//! writes in the commit. So it updates only a few rows of `tally`, even if the commit has many writes.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::error::StoreError;
use super::sql::Sql;
use super::tx::ReadTx;
use super::value::{Row, Value, args};

/// The number of IDs in a small bucket.
const SMALL_SPAN: i64 = 256;
/// The number of IDs in a large bucket.
pub(super) const LARGE_SPAN: i64 = SMALL_SPAN * 256;
const MAX_BUCKETS_PER_STATEMENT: usize = 16;

/// Identifies the rows that a tally counts: the rows of one collection that belong to one owner.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tally {
    collection: Cow<'static, str>,
    owner: i64,
}

impl Tally {
    pub fn of(collection: &'static str, owner: i64) -> Self {
        let collection = Cow::Borrowed(collection);
        Self { collection, owner }
    }

    /// The tally of one group within the collection, such as the VPCs in a region.
    pub fn within(collection: &'static str, group: &str, owner: i64) -> Self {
        let collection = Cow::Owned(format!("{collection}:{group}"));
        Self { collection, owner }
    }

    pub(super) fn collection(&self) -> &str {
        &self.collection
    }
}

/// The pending changes of tallies, for each small bucket.
#[derive(Debug, Default)]
pub struct TallyChanges(BTreeMap<(Tally, i64), i64>);

impl TallyChanges {
    pub fn add(&mut self, tally: Tally, id: i64, by: i64) {
        *self.0.entry((tally, id / SMALL_SPAN)).or_default() += by;
    }

    pub fn merge(&mut self, others: TallyChanges) {
        for (key, by) in others.0 {
            *self.0.entry(key).or_default() += by;
        }
    }

    /// The total change of a tally.
    pub fn of(&self, tally: &Tally) -> i64 {
        let beginning = (tally.clone(), i64::MIN);
        let end = (tally.clone(), i64::MAX);
        self.0.range(beginning..=end).map(|(_, by)| by).sum()
    }

    /// Writes the changes. Must run just before the commit.
    pub fn write(self, sql: &mut dyn Sql) -> Result<(), StoreError> {
        let mut buckets: BTreeMap<BucketKey, i64> = BTreeMap::new();
        for ((tally, bucket), by) in self.0 {
            let large = (tally.clone(), LARGE_SPAN, bucket / (LARGE_SPAN / SMALL_SPAN));
            *buckets.entry(large).or_default() += by;
            buckets.insert((tally, SMALL_SPAN, bucket), by);
        }
        let changed: Vec<_> = buckets.into_iter().filter(|(_, by)| *by != 0).collect();
        in_chunks(&changed, |chunk| add(sql, chunk))?;
        let shrunk: Vec<_> = changed.into_iter().filter(|(_, by)| *by < 0).collect();
        in_chunks(&shrunk, |chunk| delete_empty(sql, chunk))
    }
}

/// A tally, the span of a bucket, and the number of the bucket.
type BucketKey = (Tally, i64, i64);
type BucketChange = (BucketKey, i64);

/// Calls `work` with chunks of 16, 8, 4, 2 and 1 changes, so that five prepared statements are enough for any
/// number of changes.
fn in_chunks(
    mut changes: &[BucketChange],
    mut work: impl FnMut(&[BucketChange]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    while !changes.is_empty() {
        let size = MAX_BUCKETS_PER_STATEMENT.min(1 << changes.len().ilog2());
        let (chunk, rest) = changes.split_at(size);
        work(chunk)?;
        changes = rest;
    }
    Ok(())
}

fn add(sql: &mut dyn Sql, changes: &[BucketChange]) -> Result<(), StoreError> {
    let mut args = Vec::with_capacity(changes.len() * 5);
    for (bucket, by) in changes {
        args.extend(key(bucket));
        args.push(Value::Int(*by));
    }
    let row = |at: usize| {
        let [collection, owner, span, bucket, by] = [1, 2, 3, 4, 5].map(|column| at * 5 + column);
        format!("(${collection}, ${owner}, ${span}, ${bucket}, ${by})")
    };
    let rows: Vec<_> = (0..changes.len()).map(row).collect();
    let statement = format!(
        "INSERT INTO tally (collection, owner, span, bucket, items) VALUES {}
         ON CONFLICT (collection, owner, span, bucket) DO UPDATE SET items = tally.items + excluded.items",
        rows.join(", ")
    );
    sql.execute_deferred(&statement, &args)
}

fn delete_empty(sql: &mut dyn Sql, changes: &[BucketChange]) -> Result<(), StoreError> {
    let args: Vec<_> = changes.iter().flat_map(|(bucket, _)| key(bucket)).collect();
    let condition = |at: usize| {
        let [collection, owner, span, bucket] = [1, 2, 3, 4].map(|column| at * 4 + column);
        format!("(collection = ${collection} AND owner = ${owner} AND span = ${span} AND bucket = ${bucket})")
    };
    let conditions: Vec<_> = (0..changes.len()).map(condition).collect();
    let statement = format!(
        "DELETE FROM tally WHERE items = 0 AND ({})",
        conditions.join(" OR ")
    );
    sql.execute_deferred(&statement, &args)
}

fn key((tally, span, bucket): &BucketKey) -> [Value<'_>; 4] {
    [
        Value::from(&*tally.collection),
        Value::Int(tally.owner),
        Value::Int(*span),
        Value::Int(*bucket),
    ]
}

/// The query for the stored count of a tally. The argument `$span` must be `LARGE_SPAN`.
macro_rules! count_sql {
    ($collection:literal, $owner:literal, $span:literal) => {
        concat!(
            "SELECT CAST(coalesce(sum(items), 0) AS BIGINT) FROM tally WHERE collection = ",
            $collection,
            " AND owner = ",
            $owner,
            " AND span = ",
            $span
        )
    };
}
pub(super) use count_sql;

/// The number of rows in a tally, including changes that are not written yet.
pub fn count(tx: &mut ReadTx, tally: &Tally) -> Result<i64, StoreError> {
    let sql = count_sql!("$1", "$2", "$3");
    let stored: i64 = tx
        .one(sql, args![&*tally.collection, tally.owner, LARGE_SPAN])?
        .take()?;
    Ok(stored + tx.pending_delta(tally))
}

/// The stored number of rows in each group of an owner's collection, such as the VPCs in each region.
pub fn counts(
    tx: &mut ReadTx,
    collection: &'static str,
    owner: i64,
) -> Result<Vec<(String, i64)>, StoreError> {
    // A prefix scan for `name:`. The exclusive upper bound is `name;`, because `;` is the next character after `:`.
    let sql = "SELECT collection, CAST(sum(items) AS BIGINT) FROM tally
        WHERE collection > $1 AND collection < $2 AND owner = $3 AND span = $4
        GROUP BY collection ORDER BY collection";
    let (prefix, upper_bound) = (format!("{collection}:"), format!("{collection};"));
    let rows = tx.all(
        sql,
        args![prefix.as_str(), upper_bound.as_str(), owner, LARGE_SPAN],
    )?;
    let read = |mut row: Row| {
        let name: String = row.take()?;
        Ok((name[prefix.len()..].to_owned(), row.take()?))
    };
    rows.into_iter().map(read).collect()
}

/// The position from which a page is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// The first ID of a bucket, or its last ID if the order is descending.
    pub id: i64,
    /// The number of rows to skip from this ID on.
    pub offset: i64,
}

/// Locates the row after the first `skip` rows. The tally must have more than `skip` rows.
pub fn start(tx: &mut ReadTx, tally: &Tally, skip: i64, descending: bool) -> Result<Start, StoreError> {
    let (large, skip) = find_bucket(tx, tally, LARGE_SPAN, (0, i64::MAX), skip, descending)?;
    let small_per_large = LARGE_SPAN / SMALL_SPAN;
    let range = (large * small_per_large, (large + 1) * small_per_large);
    let (small, offset) = find_bucket(tx, tally, SMALL_SPAN, range, skip, descending)?;
    let id = match descending {
        false => small * SMALL_SPAN,
        true => (small + 1) * SMALL_SPAN - 1,
    };
    Ok(Start { id, offset })
}

/// The bucket with the row after the first `skip` rows, and the number of skipped rows in that bucket.
fn find_bucket(
    tx: &mut ReadTx,
    tally: &Tally,
    span: i64,
    (from, to): (i64, i64),
    mut skip: i64,
    descending: bool,
) -> Result<(i64, i64), StoreError> {
    let direction = if descending { "DESC" } else { "ASC" };
    let sql = format!(
        "SELECT bucket, items FROM tally
         WHERE collection = $1 AND owner = $2 AND span = $3 AND bucket >= $4 AND bucket < $5
         ORDER BY bucket {direction}"
    );
    for mut row in tx.all(&sql, args![&*tally.collection, tally.owner, span, from, to])? {
        let (bucket, items): (i64, i64) = (row.take()?, row.take()?);
        if skip < items {
            return Ok((bucket, skip));
        }
        skip -= items;
    }
    Err(StoreError::Unexpected(format!(
        "the buckets of tally {} do not add up to its count",
        tally.collection
    )))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::{SMALL_SPAN, Start, Tally, TallyChanges, count, start};
    use crate::cli::{Settings, policy_of};
    use crate::store::context::{Clock, RandomSource, StoreContext};
    use crate::store::migrate::{Schema, migrate};
    use crate::store::sqlite::{DIALECT, Statements};
    use crate::store::tx::ReadTx;
    use crate::store::value::args;

    /// IDs with gaps of different sizes, in several large buckets.
    fn sparse_ids() -> Vec<i64> {
        let mut ids = Vec::new();
        let (mut id, mut seed) = (0, 7_u64);
        while ids.len() < 3000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            id += match seed >> 60 {
                0 => 1 + (seed >> 40) as i64 % 2000,
                _ => 1 + (seed >> 40) as i64 % 90,
            };
            ids.push(id);
        }
        assert!(ids.last() > Some(&(3 * super::LARGE_SPAN)), "{:?}", ids.last());
        ids
    }

    fn context() -> StoreContext {
        StoreContext {
            clock: Clock::System,
            random: RandomSource::System,
            policy: policy_of(&Settings::default()).unwrap().into(),
        }
    }

    fn write(connection: &Connection, tally: &Tally, ids: &[i64], by: i64) {
        let mut changes = TallyChanges::default();
        for id in ids {
            changes.add(tally.clone(), *id, by);
        }
        changes.write(&mut Statements::on(connection)).unwrap();
    }

    #[test]
    fn start_locates_every_row_in_both_directions_after_inserts_and_deletes() {
        let connection = Connection::open_in_memory().unwrap();
        let context = context();
        let schema = Schema::current();
        migrate(
            &mut Statements::on(&connection),
            &DIALECT,
            &schema,
            context.clock.now(),
        )
        .unwrap();
        let (mine, other) = (Tally::of("thing", 1), Tally::of("thing", 2));
        let ids = sparse_ids();
        let (deleted, remaining): (Vec<i64>, Vec<i64>) = ids.iter().partition(|id| *id % 3 == 0);

        // Each `write` is a commit. A row is deleted in a later commit than the commit that inserted it.
        for chunk in ids.chunks(700) {
            write(&connection, &mine, chunk, 1);
            write(&connection, &other, chunk, 1);
        }
        for chunk in deleted.chunks(90) {
            write(&connection, &mine, chunk, -1);
        }
        write(&connection, &other, &ids, -1);

        let mut sql = Statements::on(&connection);
        let policy = context.policy.get();
        let tx = &mut ReadTx::new(&mut sql, &context, &policy);
        assert_eq!(count(tx, &mine).unwrap(), remaining.len() as i64);
        for skip in 0..remaining.len() {
            let Start { id, offset } = start(tx, &mine, skip as i64, false).unwrap();
            let found = remaining.iter().filter(|at| **at >= id).nth(offset as usize);
            assert_eq!((found, offset < SMALL_SPAN), (Some(&remaining[skip]), true));

            let Start { id, offset } = start(tx, &mine, skip as i64, true).unwrap();
            let found = remaining
                .iter()
                .rev()
                .filter(|at| **at <= id)
                .nth(offset as usize);
            let expected = &remaining[remaining.len() - 1 - skip];
            assert_eq!((found, offset < SMALL_SPAN), (Some(expected), true));
        }
        let sql = "SELECT count(*) FROM tally WHERE items <= 0 OR owner = 2";
        let empty: i64 = tx.one(sql, args![]).unwrap().take().unwrap();
        assert_eq!(empty, 0, "an empty bucket is deleted");
    }

    #[test]
    fn merged_changes_of_a_tally_are_summed() {
        let tally = Tally::of("thing", 1);
        let mut changes = TallyChanges::default();
        changes.add(tally.clone(), 5, 1);
        changes.add(tally.clone(), 70_000, 1);
        let mut others = TallyChanges::default();
        others.add(tally.clone(), 5, -1);
        others.add(Tally::within("thing", "blue", 1), 5, 1);
        changes.merge(others);
        assert_eq!(changes.of(&tally), 1);
    }
}
