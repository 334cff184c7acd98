//! Pages of collections.

use super::error::StoreError;
use super::filter::{Filter, Order};
use super::tx::ReadTx;
use super::value::{Row, Value};
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
    pub args: Vec<Value>,
    /// What tells items apart and orders them when nothing else does.
    pub key: &'a [&'a str],
    /// The order if the caller wishes none; `None` is by the key.
    pub order: Option<&'a str>,
}

impl Collection<'_> {
    pub fn page<T>(
        self,
        tx: &mut ReadTx,
        wanted: &Wanted,
        read: fn(&mut Row) -> Result<T, StoreError>,
    ) -> Result<Paged<T>, StoreError> {
        let Collection {
            columns,
            from,
            condition,
            mut args,
            key,
            order: own_order,
        } = self;
        let filter = wanted.filter.to_sql(&mut args);
        let matching = format!("FROM {from} WHERE {condition} AND {filter}");
        let results: i64 = tx.one(&format!("SELECT count(*) {matching}"), &args)?.take()?;

        let page = wanted.page;
        let mut items = Vec::new();
        if page.offset() < results {
            let by_key = |direction: &str| {
                let columns: Vec<_> = key.iter().map(|column| format!("{column} {direction}")).collect();
                columns.join(", ")
            };
            let order = match wanted.order {
                Some(Order {
                    field,
                    descending: false,
                }) => {
                    format!("{} ASC NULLS FIRST, {}", field.sql, by_key("ASC"))
                }
                Some(Order {
                    field,
                    descending: true,
                }) => {
                    format!("{} DESC NULLS LAST, {}", field.sql, by_key("DESC"))
                }
                None => own_order.map_or_else(|| by_key("ASC"), str::to_owned),
            };
            let (limit, offset) = (args.len() + 1, args.len() + 2);
            args.extend([Value::Int(page.size), Value::Int(page.offset())]);
            let sql = format!("SELECT {columns} {matching} ORDER BY {order} LIMIT ${limit} OFFSET ${offset}");
            items = tx
                .all(&sql, &args)?
                .iter_mut()
                .map(read)
                .collect::<Result<_, _>>()?;
        }
        Ok(Paged { items, page, results })
    }
}

/// `($1, $2, …)` for a list of ids, with its length rounded up by repeating the last one, so that
/// a few statements serve every length. The list must not be empty.
pub(super) fn among(ids: &[i64]) -> (String, Vec<Value>) {
    let length = ids.len().next_power_of_two();
    let last = ids.last().copied().unwrap_or(0);
    let marks: Vec<_> = (1..=length).map(|number| format!("${number}")).collect();
    let args = ids.iter().copied().chain(std::iter::repeat(last)).take(length);
    (format!("({})", marks.join(", ")), args.map(Value::Int).collect())
}

impl Wanted {
    /// The same for a collection that is in memory.
    pub fn select<T: Clone>(&self, all: &[T], field: impl Fn(&T, &str) -> Value) -> Paged<T> {
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
