//! How many rows a list has, without counting them, and where any page of it begins, without walking there.
//!
//! Of each collection it is kept how many rows it has in every stretch of 256 ids, and in every stretch of
//! 65,536. A page is found by going through the long stretches, then through the short ones of one long
//! stretch, and then past fewer than 256 rows: as many steps at a million rows as at a few thousand.
//!
//! Whoever adds or removes a row says so (`WriteTx::tally`); what all the writes of one commit have said is
//! summed up and kept just before it, so that a busy account costs a few rows per commit and not per write.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::error::StoreError;
use super::sql::Sql;
use super::tx::ReadTx;
use super::value::{Row, Value, args};

/// How many ids a short stretch has.
const SHORT: i64 = 256;
/// How many a long one has.
pub(super) const LONG: i64 = SHORT * 256;
/// How many stretches one statement changes at most.
const AT_ONCE: usize = 16;

/// The rows of one collection that belong to one owner.
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

    /// Only those of the rows that have something in common.
    pub fn within(collection: &'static str, common: &str, owner: i64) -> Self {
        let collection = Cow::Owned(format!("{collection}:{common}"));
        Self { collection, owner }
    }

    pub(super) fn collection(&self) -> &str {
        &self.collection
    }
}

/// What is to be added to tallies, by their short stretches.
#[derive(Debug, Default)]
pub struct Changes(BTreeMap<(Tally, i64), i64>);

impl Changes {
    pub fn add(&mut self, tally: Tally, id: i64, by: i64) {
        *self.0.entry((tally, id / SHORT)).or_default() += by;
    }

    pub fn merge(&mut self, others: Changes) {
        for (key, by) in others.0 {
            *self.0.entry(key).or_default() += by;
        }
    }

    /// By how much a tally will have grown.
    pub fn of(&self, tally: &Tally) -> i64 {
        let beginning = (tally.clone(), i64::MIN);
        let end = (tally.clone(), i64::MAX);
        self.0.range(beginning..=end).map(|(_, by)| by).sum()
    }

    /// Keeps the changes, as the last thing before a commit.
    pub fn keep(self, sql: &mut dyn Sql) -> Result<(), StoreError> {
        let mut stretches: BTreeMap<(Tally, i64, i64), i64> = BTreeMap::new();
        for ((tally, bucket), by) in self.0 {
            let long = (tally.clone(), LONG, bucket / (LONG / SHORT));
            *stretches.entry(long).or_default() += by;
            stretches.insert((tally, SHORT, bucket), by);
        }
        let changed: Vec<_> = stretches.into_iter().filter(|(_, by)| *by != 0).collect();
        in_few_statements(&changed, |some| add(sql, some))?;
        let shrunk: Vec<_> = changed.into_iter().filter(|(_, by)| *by < 0).collect();
        in_few_statements(&shrunk, |some| drop_empty(sql, some))
    }
}

type Stretch = ((Tally, i64, i64), i64);

/// Works through a list in pieces of 16, 8, 4, 2 and 1, so that few different statements are prepared.
fn in_few_statements(
    mut all: &[Stretch],
    mut work: impl FnMut(&[Stretch]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    while !all.is_empty() {
        let most = AT_ONCE.min(1 << all.len().ilog2());
        let (some, rest) = all.split_at(most);
        work(some)?;
        all = rest;
    }
    Ok(())
}

fn add(sql: &mut dyn Sql, stretches: &[Stretch]) -> Result<(), StoreError> {
    let mut args = Vec::with_capacity(stretches.len() * 5);
    for (stretch, by) in stretches {
        args.extend(key(stretch));
        args.push(Value::Int(*by));
    }
    let one = |at: usize| {
        let [collection, owner, span, bucket, by] = [1, 2, 3, 4, 5].map(|column| at * 5 + column);
        format!("(${collection}, ${owner}, ${span}, ${bucket}, ${by})")
    };
    let all: Vec<_> = (0..stretches.len()).map(one).collect();
    let statement = format!(
        "INSERT INTO tally (collection, owner, span, bucket, items) VALUES {}
         ON CONFLICT (collection, owner, span, bucket) DO UPDATE SET items = tally.items + excluded.items",
        all.join(", ")
    );
    sql.execute_deferred(&statement, &args)
}

fn drop_empty(sql: &mut dyn Sql, stretches: &[Stretch]) -> Result<(), StoreError> {
    let args: Vec<_> = stretches.iter().flat_map(|(stretch, _)| key(stretch)).collect();
    let one = |at: usize| {
        let [collection, owner, span, bucket] = [1, 2, 3, 4].map(|column| at * 4 + column);
        format!("(collection = ${collection} AND owner = ${owner} AND span = ${span} AND bucket = ${bucket})")
    };
    let any: Vec<_> = (0..stretches.len()).map(one).collect();
    let statement = format!("DELETE FROM tally WHERE items = 0 AND ({})", any.join(" OR "));
    sql.execute_deferred(&statement, &args)
}

fn key((tally, span, bucket): &(Tally, i64, i64)) -> [Value<'_>; 4] {
    [
        Value::from(&*tally.collection),
        Value::Int(tally.owner),
        Value::Int(*span),
        Value::Int(*bucket),
    ]
}

/// The query of how many rows are kept to be in a tally; its span is `LONG`.
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

/// How many rows there are.
pub fn count(tx: &mut ReadTx, tally: &Tally) -> Result<i64, StoreError> {
    let sql = count_sql!("$1", "$2", "$3");
    let kept: i64 = tx
        .one(sql, args![&*tally.collection, tally.owner, LONG])?
        .take()?;
    Ok(kept + tx.pending_delta(tally))
}

/// How many rows an owner has of each kind that a collection is told apart by.
pub fn counts(
    tx: &mut ReadTx,
    collection: &'static str,
    owner: i64,
) -> Result<Vec<(String, i64)>, StoreError> {
    // What begins with the name and a colon lies between that and the name with the next sign.
    let sql = "SELECT collection, CAST(sum(items) AS BIGINT) FROM tally
        WHERE collection > $1 AND collection < $2 AND owner = $3 AND span = $4
        GROUP BY collection ORDER BY collection";
    let (first, last) = (format!("{collection}:"), format!("{collection};"));
    let rows = tx.all(sql, args![first.as_str(), last.as_str(), owner, LONG])?;
    let read = |mut row: Row| {
        let name: String = row.take()?;
        Ok((name[first.len()..].to_owned(), row.take()?))
    };
    rows.into_iter().map(read).collect()
}

/// Where to begin to read a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// Upwards the first id that may be wanted, downwards the last.
    pub id: i64,
    /// How many rows to pass from there.
    pub pass: i64,
}

/// Finds the row behind `skip` others; there must be so many.
pub fn start(tx: &mut ReadTx, tally: &Tally, skip: i64, descending: bool) -> Result<Start, StoreError> {
    let (long, skip) = stretch_with(tx, tally, LONG, (0, i64::MAX), skip, descending)?;
    let per_long = LONG / SHORT;
    let inside = (long * per_long, (long + 1) * per_long);
    let (short, pass) = stretch_with(tx, tally, SHORT, inside, skip, descending)?;
    let id = match descending {
        false => short * SHORT,
        true => (short + 1) * SHORT - 1,
    };
    Ok(Start { id, pass })
}

/// The stretch that has the row behind `skip` others, and how many of these are in it.
fn stretch_with(
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
        "the tally of {} is shorter than it says",
        tally.collection
    )))
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::{Changes, SHORT, Start, Tally, count, start};
    use crate::cli::{Settings, policy_of};
    use crate::store::context::{Clock, RandomSource, StoreContext};
    use crate::store::migrate::{Schema, migrate};
    use crate::store::sqlite::{DIALECT, Statements};
    use crate::store::tx::ReadTx;
    use crate::store::value::args;

    /// Ids with gaps of all sizes, over several long stretches.
    fn scattered() -> Vec<i64> {
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
        assert!(ids.last() > Some(&(3 * super::LONG)), "{:?}", ids.last());
        ids
    }

    fn context() -> StoreContext {
        StoreContext {
            clock: Clock::System,
            random: RandomSource::System,
            policy: policy_of(&Settings::default()).unwrap(),
        }
    }

    fn keep(connection: &Connection, tally: &Tally, ids: &[i64], by: i64) {
        let mut changes = Changes::default();
        for id in ids {
            changes.add(tally.clone(), *id, by);
        }
        changes.keep(&mut Statements::on(connection)).unwrap();
    }

    #[test]
    fn every_row_is_found_from_both_ends_after_many_came_and_went() {
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
        let ids = scattered();
        let (gone, kept): (Vec<i64>, Vec<i64>) = ids.iter().partition(|id| *id % 3 == 0);

        // In several commits, and what goes mostly in another than it came in.
        for some in ids.chunks(700) {
            keep(&connection, &mine, some, 1);
            keep(&connection, &other, some, 1);
        }
        for some in gone.chunks(90) {
            keep(&connection, &mine, some, -1);
        }
        keep(&connection, &other, &ids, -1);

        let mut sql = Statements::on(&connection);
        let tx = &mut ReadTx::new(&mut sql, &context);
        assert_eq!(count(tx, &mine).unwrap(), kept.len() as i64);
        for skip in 0..kept.len() {
            let Start { id, pass } = start(tx, &mine, skip as i64, false).unwrap();
            let found = kept.iter().filter(|at| **at >= id).nth(pass as usize);
            assert_eq!((found, pass < SHORT), (Some(&kept[skip]), true));

            let Start { id, pass } = start(tx, &mine, skip as i64, true).unwrap();
            let found = kept.iter().rev().filter(|at| **at <= id).nth(pass as usize);
            assert_eq!((found, pass < SHORT), (Some(&kept[kept.len() - 1 - skip]), true));
        }
        let sql = "SELECT count(*) FROM tally WHERE items <= 0 OR owner = 2";
        let left: i64 = tx.one(sql, args![]).unwrap().take().unwrap();
        assert_eq!(left, 0, "an empty stretch is not kept");
    }

    #[test]
    fn changes_are_summed_up_and_what_was_undone_is_no_change() {
        let tally = Tally::of("thing", 1);
        let mut changes = Changes::default();
        changes.add(tally.clone(), 5, 1);
        changes.add(tally.clone(), 70_000, 1);
        let mut others = Changes::default();
        others.add(tally.clone(), 5, -1);
        others.add(Tally::within("thing", "blue", 1), 5, 1);
        changes.merge(others);
        assert_eq!(changes.of(&tally), 1);
    }
}
