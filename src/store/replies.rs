//! Replies as rows.

use super::error::StoreError;
use super::filter::{Field, Kind};
use super::list::{Collection, Wanted};
use super::search;
use super::tx::{ReadTx, WriteTx};
use super::value::{Row, args};
use crate::model::id::TicketId;
use crate::model::page::Paged;
use crate::model::reply::{NewReply, Reply};

const COLUMNS: &str = "id, created, created_by, description, from_staff, gravatar_id";

pub static FIELDS: [Field; 5] = [
    Field::new("id", Kind::Integer, "id"),
    Field::new("created", Kind::Time, "created"),
    Field::new("created_by", Kind::Text, "created_by"),
    Field::new("from_linode", Kind::Truth, "from_staff"),
    Field::new("from_compute", Kind::Truth, "from_staff"),
];

pub fn list(tx: &mut ReadTx, ticket: TicketId, wanted: &Wanted) -> Result<Paged<Reply>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "reply",
        condition: "ticket = $1".to_owned(),
        args: args![ticket].to_vec(),
        key: &["id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, wanted, read)
}

pub fn insert(tx: &mut WriteTx, ticket: TicketId, new: &NewReply) -> Result<Reply, StoreError> {
    let now = tx.now();
    let sql = format!(
        "INSERT INTO reply (ticket, created, created_by, description, from_staff, gravatar_id)
         VALUES ($1, $2, $3, $4, $5, $6) RETURNING {COLUMNS}"
    );
    let reply = tx.one(
        &sql,
        args![
            ticket,
            now,
            new.created_by,
            new.description,
            new.from_staff,
            new.gravatar_id
        ],
    );
    let reply = read(&mut reply?)?;
    tx.execute(
        "UPDATE ticket SET replies = replies + 1 WHERE id = $1",
        args![ticket],
    )?;
    search::add(tx, ticket, &[new.description.as_str()])?;
    Ok(reply)
}

fn read(row: &mut Row) -> Result<Reply, StoreError> {
    Ok(Reply {
        id: row.take()?,
        created: row.take()?,
        created_by: row.take()?,
        description: row.take()?,
        from_staff: row.take()?,
        gravatar_id: row.take()?,
    })
}
