//! The `suppressed_address` table. Its addresses are in lower case.

use crate::model::outgoing_mail::SuppressedAddress;
use crate::model::page::Paged;
use crate::model::user::Email;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

const COLUMNS: &str = "id, address, status, since";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows =
    ModelRows::new("suppressed_address", COLUMNS, |row| read(row).map(drop));

pub static FIELDS: [Field; 4] = [
    Field::new("id", Kind::Integer, "id"),
    Field::new("address", Kind::Text, "address"),
    Field::new("status", Kind::Text, "status"),
    Field::new("since", Kind::Time, "since"),
];

/// The addresses, newest first.
pub fn list(tx: &mut ReadTx, query: &ListQuery) -> Result<Paged<SuppressedAddress>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "suppressed_address",
        condition: "1 = 1".to_owned(),
        args: Vec::new(),
        key: &["id"],
        order: Some("id DESC"),
        tallied: None,
    };
    collection.page(tx, query, read)
}

pub fn is_suppressed(tx: &mut ReadTx, address: &Email) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM suppressed_address WHERE address = $1";
    let address = address.as_str().to_lowercase();
    Ok(tx.find(sql, args![address])?.is_some())
}

/// Adds an address. The status of an address that is suppressed already is replaced.
pub fn insert(tx: &mut WriteTx, address: &Email, status: &str) -> Result<(), StoreError> {
    let (address, now) = (address.as_str().to_lowercase(), tx.now());
    tx.execute(
        "INSERT INTO suppressed_address (address, status, since) VALUES ($1, $2, $3)
         ON CONFLICT (address) DO UPDATE SET status = excluded.status",
        args![address, status, now],
    )?;
    Ok(())
}

/// Returns false if the address is not suppressed.
pub fn delete(tx: &mut WriteTx, address: &str) -> Result<bool, StoreError> {
    let sql = "DELETE FROM suppressed_address WHERE address = $1";
    Ok(tx.execute(sql, args![address.to_lowercase()])? > 0)
}

fn read(row: &mut Row) -> Result<SuppressedAddress, StoreError> {
    Ok(SuppressedAddress {
        id: row.take()?,
        address: row.take()?,
        status: row.take()?,
        since: row.take()?,
    })
}
