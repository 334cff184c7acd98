//! Pages of collections. A tallied collection finds a page without counting rows (decision 0019).

use std::sync::LazyLock;

use super::error::StoreError;
use super::filter::{Filter, Order};
use super::tallies::{self, Tally};
use super::tx::ReadTx;
use super::value::{ReadRow, Value};
use crate::model::id::UserId;
use crate::model::page::{Page, Paged};

/// The page, filter and order of a list request.
#[derive(Clone, Debug)]
pub struct ListQuery {
    pub page: Page,
    pub filter: Filter,
    /// `None` selects the default order of the collection.
    pub order: Option<Order>,
}

/// The rows of a collection that a principal can see.
#[derive(Clone, Copy, Debug)]
pub enum Visibility {
    All,
    GrantedTo(UserId),
}

/// A collection in SQL, before the filter and order of a request are added.
pub(super) struct Collection<'a> {
    pub columns: &'a str,
    pub from: &'a str,
    /// The condition that all items meet. Its arguments are in `args`, starting with `$1`.
    pub condition: String,
    pub args: Vec<Value<'a>>,
    /// The columns that identify an item. Every order ends with these columns, so that the order is total.
    pub key: &'a [&'a str],
    /// The default order. `None` selects the order by the key.
    pub order: Option<&'a str>,
    /// The tallies that count the matches of the request's filter, if there are any. The key of a tallied
    /// collection is one ID.
    pub tallied: Option<Tallied>,
}

/// The tallies of a collection. In the default order of the collection, the parts follow each other, and the items of a
/// part are in the order of their IDs.
pub(super) struct Tallied {
    pub parts: Vec<Part>,
    /// Whether the IDs within each part are in descending order.
    pub descending: bool,
}

/// The rows of a collection that one tally counts.
pub(super) struct Part {
    pub tally: Tally,
    /// The SQL condition that selects these rows.
    pub condition: &'static str,
    /// The number of rows that the tally counts but the list does not show. These rows must have the lowest IDs.
    pub hidden: i64,
}

impl Tallied {
    /// One tally for the whole collection, in ascending order of IDs.
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
    /// Reads one page, and counts the items on all pages.
    pub fn page<T>(
        mut self,
        tx: &mut ReadTx,
        query: &'a ListQuery,
        read: ReadRow<T>,
    ) -> Result<Paged<T>, StoreError> {
        let tallied = self.tallied.take().filter(|tallied| tallied.is_up_to_date(tx));
        let page = query.page;
        let (base, base_args) = (std::mem::take(&mut self.condition), self.args.len());
        let filter = query.filter.to_sql(None, &mut self.args);
        self.condition = format!("{base} AND {filter}");

        let Some(tallied) = tallied else {
            let sql = format!("SELECT count(*) FROM {} WHERE {}", self.from, self.condition);
            let results: i64 = tx.one(&sql, &self.args)?.take()?;
            if let Some(field) = query.filter.lower_bounded_field()
                && page.offset() + page.size <= results
                && self.is_newest_first(query.order)
            {
                // The page is full and most matches are among the latest items, so a descending scan by key ends early.
                // With the index on the field, the engine would read and sort all matches.
                self.args.truncate(base_args);
                let filter = query.filter.to_sql(Some(field), &mut self.args);
                self.condition = format!("{base} AND {filter}");
            }
            let items = self.read_with_offset(tx, query, results, read)?;
            return Ok(Paged { items, page, results });
        };
        let mut counts = Vec::with_capacity(tallied.parts.len());
        for part in &tallied.parts {
            counts.push(tallies::count(tx, &part.tally)? - part.hidden);
        }
        let results = counts.iter().sum();
        let items = match tallied.direction(query.order, self.key) {
            Some(descending) => self.read_by_tally(tx, &tallied.parts, &counts, descending, page, read)?,
            None => self.read_with_offset(tx, query, results, read)?,
        };
        Ok(Paged { items, page, results })
    }

    /// Whether the order is by descending key.
    fn is_newest_first(&self, order: Option<Order>) -> bool {
        match (order, self.key) {
            (None, [key]) => self.order.is_some_and(|default| default == format!("{key} DESC")),
            (Some(Order { field, descending }), [key]) => descending && field.sql == *key,
            _ => false,
        }
    }

    /// Reads a page with OFFSET: the engine skips all earlier items.
    fn read_with_offset<T>(
        &self,
        tx: &mut ReadTx,
        query: &ListQuery,
        results: i64,
        read: ReadRow<T>,
    ) -> Result<Vec<T>, StoreError> {
        let page = query.page;
        if page.offset() >= results {
            return Ok(Vec::new());
        }
        let by_key = |direction: &str| {
            let columns = self.key.iter().map(|column| format!("{column} {direction}"));
            columns.collect::<Vec<_>>().join(", ")
        };
        let order = match query.order {
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

    /// Reads a page, starting at an ID that the tallies locate.
    fn read_by_tally<T>(
        &self,
        tx: &mut ReadTx,
        parts: &[Part],
        counts: &[i64],
        descending: bool,
        page: Page,
        read: ReadRow<T>,
    ) -> Result<Vec<T>, StoreError> {
        let id = self.key[0];
        let (direction, operator) = match descending {
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
            let limit = page.size - items.len() as i64;
            let found = if skip == 0 {
                self.read(tx, part.condition, &[], &order, (limit, 0), read)?
            } else {
                let start = tallies::start(tx, &part.tally, skip, descending)?;
                let number = self.args.len() + 1;
                let condition = format!("{} AND {id} {operator} ${number}", part.condition);
                let from = [Value::Int(start.id)];
                self.read(tx, &condition, &from, &order, (limit, start.offset), read)?
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
        condition_args: &[Value],
        order: &str,
        (limit, offset): (i64, i64),
        read: ReadRow<T>,
    ) -> Result<Vec<T>, StoreError> {
        let Self { columns, from, .. } = self;
        let mut args = self.args.clone();
        args.extend(condition_args.iter().cloned());
        args.extend([Value::Int(limit), Value::Int(offset)]);
        let (limit, offset) = (args.len() - 1, args.len());
        let sql = format!(
            "SELECT {columns} FROM {from} WHERE {} AND {condition} ORDER BY {order} LIMIT ${limit} OFFSET ${offset}",
            self.condition
        );
        tx.read(&sql, &args, read)
    }
}

impl Tallied {
    /// Whether all changes of the tallies are written. While changes are pending, the list must count its
    /// rows.
    fn is_up_to_date(&self, tx: &ReadTx) -> bool {
        self.parts.iter().all(|part| tx.pending_delta(&part.tally) == 0)
    }

    /// Returns true for descending IDs and false for ascending IDs. Returns `None` for all other orders, and
    /// if the tallies cannot locate a page in this order.
    fn direction(&self, order: Option<Order>, key: &[&str]) -> Option<bool> {
        let descending = match order {
            None => self.descending,
            Some(Order { field, descending }) if self.parts.len() == 1 && field.sql == key[0] => descending,
            Some(_) => return None,
        };
        // Hidden rows have the lowest IDs: a descending read never reaches them.
        let can_locate = descending || self.parts.iter().all(|part| part.hidden == 0);
        can_locate.then_some(descending)
    }
}

/// The maximum number of IDs in a list. SQLite allows 32,766 parameters in a statement, and PostgreSQL 65,535.
const MAX_LISTED_IDS: usize = 16_384;

/// The list `($1, $2, …)` and its arguments. The last ID is repeated until the length is a power of two, so
/// that lists of all lengths need only a few prepared statements. `ids` must not be empty, and not be longer than
/// `MAX_LISTED_IDS`: a page is short enough, and `id_lists` divides longer lists.
pub(super) fn id_list(ids: &[i64]) -> (String, Vec<Value<'static>>) {
    debug_assert!(ids.len() <= MAX_LISTED_IDS, "{} IDs in a list", ids.len());
    let length = ids.len().next_power_of_two();
    let last = ids.last().copied().unwrap_or(0);
    let args = ids.iter().copied().chain(std::iter::repeat(last)).take(length);
    (placeholders(length), args.map(Value::Int).collect())
}

/// Lists of all these IDs, none longer than `MAX_LISTED_IDS`.
pub(super) fn id_lists(ids: &[i64]) -> impl Iterator<Item = (String, Vec<Value<'static>>)> {
    ids.chunks(MAX_LISTED_IDS).map(id_list)
}

/// The condition that a column has one of these IDs. If the IDs are close to each other, the condition is a
/// range, because the engine scans a range much faster than it looks up a list. The range can also contain
/// up to `ids.len()` other IDs. The caller must skip their rows.
pub(super) fn covering_condition(ids: &[i64]) -> (String, Vec<Value<'static>>) {
    let (first, last) = (ids.iter().min(), ids.iter().max());
    if let (Some(first), Some(last)) = (first, last)
        && last - first < 2 * ids.len() as i64
    {
        let bounds = vec![Value::Int(*first), Value::Int(*last)];
        return ("BETWEEN $1 AND $2".to_owned(), bounds);
    }
    let (list, args) = id_list(ids);
    (format!("IN {list}"), args)
}

/// Covering conditions of all these IDs, each of at most `MAX_LISTED_IDS`.
pub(super) fn covering_conditions(ids: &[i64]) -> impl Iterator<Item = (String, Vec<Value<'static>>)> {
    ids.chunks(MAX_LISTED_IDS).map(covering_condition)
}

fn placeholders(length: usize) -> String {
    // Cached, because pages use only a few different lengths.
    static CACHED: LazyLock<Vec<String>> =
        LazyLock::new(|| (0..10).map(|power| build_placeholders(1 << power)).collect());
    let cached = CACHED.get(length.trailing_zeros() as usize);
    cached.cloned().unwrap_or_else(|| build_placeholders(length))
}

fn build_placeholders(length: usize) -> String {
    let placeholders: Vec<_> = (1..=length).map(|number| format!("${number}")).collect();
    format!("({})", placeholders.join(", "))
}

impl ListQuery {
    /// Selects the page from a collection in memory. `field` returns the value of a field by its name.
    pub fn select<T: Clone>(&self, all: &[T], field: impl for<'t> Fn(&'t T, &str) -> Value<'t>) -> Paged<T> {
        let matches = |item: &&T| self.filter.matches(&|name| field(item, name));
        let mut found: Vec<&T> = all.iter().filter(matches).collect();
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
        let (skip, limit) = (self.page.offset(), self.page.size);
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        let items = found
            .iter()
            .skip(skip)
            .take(limit as usize)
            .map(|item| (*item).clone());
        Paged {
            items: items.collect(),
            page: self.page,
            results: found.len() as i64,
        }
    }
}
