//! Pages of collections. Those that are tallied are found without counting (decision 0019).

use std::sync::LazyLock;

use super::error::StoreError;
use super::filter::{Filter, Order};
use super::tallies::{self, Tally};
use super::tx::ReadTx;
use super::value::{Read, Value};
use crate::model::id::UserId;
use crate::model::page::{Page, Paged};

/// What of a collection is asked for.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub page: Page,
    pub filter: Filter,
    /// `None` is the collection's own order.
    pub order: Option<Order>,
}

/// Whose eyes a collection is seen with.
#[derive(Clone, Copy, Debug)]
pub enum Sight {
    Everything,
    OnlyGrantedTo(UserId),
}

/// A collection in SQL, before the caller's wishes are added.
pub(super) struct Collection<'a> {
    pub columns: &'a str,
    pub from: &'a str,
    /// The condition every item fulfils; its arguments are `$1` onwards.
    pub condition: String,
    pub args: Vec<Value<'a>>,
    /// What tells items apart and orders them when nothing else does.
    pub key: &'a [&'a str],
    /// The order if the caller wishes none; `None` is by the key.
    pub order: Option<&'a str>,
    /// How it is tallied, if it is. Then its key is one id.
    pub tallied: Option<Tallied>,
}

/// A collection whose rows are tallied: its own order is that of its parts, one behind the other.
pub(super) struct Tallied {
    pub parts: Vec<Part>,
    /// Whether the parts are read from the newest to the oldest.
    pub descending: bool,
}

/// Some of the rows of a collection, by their ids.
pub(super) struct Part {
    pub tally: Tally,
    /// What else holds of them; an SQL condition.
    pub condition: &'static str,
    /// How many of them are not shown any more: those with the lowest ids.
    pub hidden: i64,
}

impl Tallied {
    /// A collection in the order of its ids.
    pub fn whole(tally: Tally) -> Self {
        let part = Part {
            tally,
            condition: "1 = 1",
            hidden: 0,
        };
        Self {
            parts: vec![part],
            descending: false,
        }
    }
}

impl<'a> Collection<'a> {
    pub fn page<T>(
        mut self,
        tx: &mut ReadTx,
        wanted: &'a Wanted,
        read: Read<T>,
    ) -> Result<Paged<T>, StoreError> {
        let tallied = self.tallied.take().filter(|tallied| tallied.is_up_to_date(tx));
        let page = wanted.page;
        let (own, own_args) = (std::mem::take(&mut self.condition), self.args.len());
        let filter = wanted.filter.to_sql(None, &mut self.args);
        self.condition = format!("{own} AND {filter}");

        let Some(tallied) = tallied else {
            let sql = format!("SELECT count(*) FROM {} WHERE {}", self.from, self.condition);
            let results: i64 = tx.one(&sql, &self.args)?.take()?;
            if let Some(latest) = wanted.filter.latest_by()
                && page.offset() + page.size <= results
                && self.newest_first(wanted.order)
            {
                // The page is full, so it is found among the latest items before long, from the last one down. Without
                // an index on the values, the engine does not read all of them to sort them.
                self.args.truncate(own_args);
                let filter = wanted.filter.to_sql(Some(latest), &mut self.args);
                self.condition = format!("{own} AND {filter}");
            }
            let items = self.walk(tx, wanted, results, read)?;
            return Ok(Paged { items, page, results });
        };
        let mut counts = Vec::with_capacity(tallied.parts.len());
        for part in &tallied.parts {
            counts.push(tallies::count(tx, &part.tally)? - part.hidden);
        }
        let results = counts.iter().sum();
        let items = match tallied.direction(wanted.order, self.key) {
            Some(descending) => self.jump(tx, &tallied.parts, &counts, descending, page, read)?,
            None => self.walk(tx, wanted, results, read)?,
        };
        Ok(Paged { items, page, results })
    }

    /// Whether what is wanted is wanted from the greatest key down.
    fn newest_first(&self, order: Option<Order>) -> bool {
        match (order, self.key) {
            (None, [key]) => self.order.is_some_and(|own| own == format!("{key} DESC")),
            (Some(Order { field, descending }), [key]) => descending && field.sql == *key,
            _ => false,
        }
    }

    /// Reads a page by passing all items that stand before it.
    fn walk<T>(
        &self,
        tx: &mut ReadTx,
        wanted: &Wanted,
        results: i64,
        read: Read<T>,
    ) -> Result<Vec<T>, StoreError> {
        let page = wanted.page;
        if page.offset() >= results {
            return Ok(Vec::new());
        }
        let by_key = |direction: &str| {
            let columns = self.key.iter().map(|column| format!("{column} {direction}"));
            columns.collect::<Vec<_>>().join(", ")
        };
        let order = match wanted.order {
            Some(Order {
                field,
                descending: false,
            }) => format!("{} ASC NULLS FIRST, {}", field.sql, by_key("ASC")),
            Some(Order {
                field,
                descending: true,
            }) => format!("{} DESC NULLS LAST, {}", field.sql, by_key("DESC")),
            None => self.order.map_or_else(|| by_key("ASC"), str::to_owned),
        };
        self.read(tx, "1 = 1", &[], &order, (page.size, page.offset()), read)
    }

    /// Reads a page from the id on at which it begins, as the tallies tell.
    fn jump<T>(
        &self,
        tx: &mut ReadTx,
        parts: &[Part],
        counts: &[i64],
        descending: bool,
        page: Page,
        read: Read<T>,
    ) -> Result<Vec<T>, StoreError> {
        let id = self.key[0];
        let (direction, from_here) = match descending {
            false => ("ASC", ">="),
            true => ("DESC", "<="),
        };
        let order = format!("{id} {direction}");
        let (mut skip, mut items) = (page.offset(), Vec::new());
        for (part, count) in parts.iter().zip(counts) {
            if skip >= *count {
                skip -= count;
                continue;
            }
            let most = page.size - items.len() as i64;
            let found = if skip == 0 {
                self.read(tx, part.condition, &[], &order, (most, 0), read)?
            } else {
                let start = tallies::start(tx, &part.tally, skip, descending)?;
                let number = self.args.len() + 1;
                let condition = format!("{} AND {id} {from_here} ${number}", part.condition);
                let from = [Value::Int(start.id)];
                self.read(tx, &condition, &from, &order, (most, start.pass), read)?
            };
            items.extend(found);
            skip = 0;
            if items.len() as i64 == page.size {
                break;
            }
        }
        Ok(items)
    }

    fn read<T>(
        &self,
        tx: &mut ReadTx,
        condition: &str,
        more: &[Value],
        order: &str,
        (most, pass): (i64, i64),
        read: Read<T>,
    ) -> Result<Vec<T>, StoreError> {
        let Self { columns, from, .. } = self;
        let mut args = self.args.clone();
        args.extend(more.iter().cloned());
        let (limit, offset) = (args.len() + 1, args.len() + 2);
        args.extend([Value::Int(most), Value::Int(pass)]);
        let sql = format!(
            "SELECT {columns} FROM {from} WHERE {} AND {condition} ORDER BY {order} LIMIT ${limit} OFFSET ${offset}",
            self.condition
        );
        tx.read(&sql, &args, read)
    }
}

impl Tallied {
    /// A transaction that has itself changed what is tallied has to count.
    fn is_up_to_date(&self, tx: &ReadTx) -> bool {
        self.parts.iter().all(|part| tx.pending_delta(&part.tally) == 0)
    }

    /// Whether the wanted order is that of the ids, and then which way; `None` if it is another.
    fn direction(&self, order: Option<Order>, key: &[&str]) -> Option<bool> {
        let descending = match order {
            None => self.descending,
            Some(Order { field, descending }) if self.parts.len() == 1 && field.sql == key[0] => descending,
            Some(_) => return None,
        };
        // What is hidden stands where nobody comes by who begins at the other end.
        let passable = descending || self.parts.iter().all(|part| part.hidden == 0);
        passable.then_some(descending)
    }
}

/// `($1, $2, …)` for a list of ids, with its length rounded up by repeating the last one, so that
/// a few statements serve every length. The list must not be empty.
pub(super) fn among(ids: &[i64]) -> (String, Vec<Value<'static>>) {
    let length = ids.len().next_power_of_two();
    let last = ids.last().copied().unwrap_or(0);
    let args = ids.iter().copied().chain(std::iter::repeat(last)).take(length);
    (marks(length), args.map(Value::Int).collect())
}

/// The same as a condition on a column. Ids that are close to each other are asked for as a range, which is much
/// sooner found than each of a list; what else is in it, at most as much again, is for whoever reads to pass over.
pub(super) fn near(ids: &[i64]) -> (String, Vec<Value<'static>>) {
    let (first, last) = (ids.iter().min(), ids.iter().max());
    if let (Some(first), Some(last)) = (first, last)
        && last - first < 2 * ids.len() as i64
    {
        let ends = vec![Value::Int(*first), Value::Int(*last)];
        return ("BETWEEN $1 AND $2".to_owned(), ends);
    }
    let (among, args) = among(ids);
    (format!("IN {among}"), args)
}

fn marks(length: usize) -> String {
    // Lists of pages ask for the same few lengths all the time.
    static KNOWN: LazyLock<Vec<String>> =
        LazyLock::new(|| (0..10).map(|power| write_marks(1 << power)).collect());
    let known = KNOWN.get(length.trailing_zeros() as usize);
    known.cloned().unwrap_or_else(|| write_marks(length))
}

fn write_marks(length: usize) -> String {
    let marks: Vec<_> = (1..=length).map(|number| format!("${number}")).collect();
    format!("({})", marks.join(", "))
}

impl Wanted {
    /// The same for a collection that is in memory.
    pub fn select<T: Clone>(&self, all: &[T], field: impl for<'t> Fn(&'t T, &str) -> Value<'t>) -> Paged<T> {
        let holds = |item: &&T| self.filter.holds(&|name| field(item, name));
        let mut found: Vec<&T> = all.iter().filter(holds).collect();
        if let Some(Order {
            field: by,
            descending,
        }) = self.order
        {
            found.sort_by_key(|item| field(item, by.name));
            if descending {
                found.reverse();
            }
        }
        let (skip, take) = (self.page.offset(), self.page.size);
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        let items = found
            .iter()
            .skip(skip)
            .take(take as usize)
            .map(|item| (*item).clone());
        Paged {
            items: items.collect(),
            page: self.page,
            results: found.len() as i64,
        }
    }
}
