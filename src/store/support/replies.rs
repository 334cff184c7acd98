//! The `reply` table.

use std::collections::HashMap;

use crate::model::change::ChangeKind;
use crate::model::id::{AccountId, OutgoingMailId, ReplyId, TicketId};
use crate::model::page::Paged;
use crate::model::reply::{NewReply, Reply};
use crate::model::time::Time;
use crate::store::changes::Owner;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::search;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{Row, args};

const COLUMNS: &str = "id, created, created_by, description, from_staff, gravatar_id";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("reply", COLUMNS, |row| read(row).map(drop));

pub static FIELDS: [Field; 5] = [
    Field::new("id", Kind::Integer, "id"),
    Field::new("created", Kind::Time, "created"),
    Field::new("created_by", Kind::Text, "created_by"),
    Field::new("from_linode", Kind::Boolean, "from_staff"),
    Field::new("from_compute", Kind::Boolean, "from_staff"),
];

pub fn list(tx: &mut ReadTx, ticket: TicketId, query: &ListQuery) -> Result<Paged<Reply>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "reply",
        condition: "ticket = $1".to_owned(),
        args: args![ticket].to_vec(),
        key: &["id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

/// All replies on a ticket, oldest first.
pub fn all(tx: &mut ReadTx, ticket: TicketId) -> Result<Vec<Reply>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM reply WHERE ticket = $1 ORDER BY id");
    tx.read(&sql, args![ticket], read)
}

/// All replies on the tickets of an account, sorted by ID.
pub fn of_account(tx: &mut ReadTx, account: AccountId) -> Result<Vec<(TicketId, Reply)>, StoreError> {
    let sql = "SELECT r.id, r.created, r.created_by, r.description, r.from_staff, r.gravatar_id, r.ticket
         FROM reply r JOIN ticket t ON t.id = r.ticket WHERE t.account = $1 ORDER BY r.id";
    tx.read(sql, args![account], |row| {
        let reply = read(row)?;
        Ok((row.take()?, reply))
    })
}

/// The texts of the replies that the notices of a mail refer to.
pub fn texts(tx: &mut ReadTx, mail: OutgoingMailId) -> Result<HashMap<ReplyId, String>, StoreError> {
    let sql =
        "SELECT r.id, r.description FROM mail_notice n JOIN reply r ON r.id = n.reply WHERE n.mail = $1";
    let texts = tx.read(sql, args![mail], |row| Ok((row.take()?, row.take()?)))?;
    Ok(texts.into_iter().collect())
}

/// The ID of a ticket's newest reply; zero if there is none.
pub fn newest(tx: &mut ReadTx, ticket: TicketId) -> Result<i64, StoreError> {
    let sql = "SELECT coalesce(max(id), 0) FROM reply WHERE ticket = $1";
    tx.one(sql, args![ticket])?.take()
}

/// A reply by the same author with the same text. It must come after the reply `after`, or be the newest reply and not
/// older than `recent`.
pub fn find_duplicate(
    tx: &mut ReadTx,
    ticket: TicketId,
    new: &NewReply,
    after: i64,
    recent: Time,
) -> Result<Option<ReplyId>, StoreError> {
    let newest = newest(tx, ticket)?;
    let row = tx.find(
        "SELECT id FROM reply WHERE ticket = $1 AND (id > $2 OR (id = $3 AND created >= $4))
             AND created_by = $5 AND description = $6 AND from_staff = $7
         ORDER BY id DESC LIMIT 1",
        args![
            ticket,
            after,
            newest,
            recent,
            new.created_by,
            new.description,
            new.from_staff
        ],
    )?;
    row.map(|mut row| row.take()).transpose()
}

pub fn insert(tx: &mut WriteTx, ticket: TicketId, new: &NewReply) -> Result<Reply, StoreError> {
    let now = tx.now();
    let sql = format!(
        "INSERT INTO reply (ticket, created, created_by, description, from_staff, gravatar_id, answers)
         VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING {COLUMNS}"
    );
    let reply = tx.one(
        &sql,
        args![
            ticket,
            now,
            new.created_by,
            new.description,
            new.from_staff,
            new.gravatar_id,
            new.answers
        ],
    );
    let reply = read(&mut reply?)?;
    tx.execute(
        "UPDATE ticket SET replies = replies + 1 WHERE id = $1",
        args![ticket],
    )?;
    search::add(tx, ticket, &[new.description.as_str()])?;
    tx.changed(Owner::Ticket(ticket), ChangeKind::Reply, reply.id.0)?;
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
