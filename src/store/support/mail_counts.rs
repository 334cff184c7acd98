//! The `mail_count` table: messages that arrived by mail, by outcome and reason.

use crate::model::mail_count::{MailCount, MailOutcome};
use crate::store::error::StoreError;
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "outcome, reason, messages, last_received";

pub(in crate::store) const ROWS: ModelRows = ModelRows::new("mail_count", COLUMNS, |row| read(row).map(drop));

pub fn add(tx: &mut WriteTx, outcome: MailOutcome, reason: &str) -> Result<(), StoreError> {
    let now = tx.now();
    tx.execute(
        "INSERT INTO mail_count (outcome, reason, messages, last_received) VALUES ($1, $2, 1, $3)
         ON CONFLICT (outcome, reason)
         DO UPDATE SET messages = mail_count.messages + 1, last_received = excluded.last_received",
        args![outcome.word(), reason, now],
    )?;
    Ok(())
}

pub fn list(tx: &mut ReadTx) -> Result<Vec<MailCount>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM mail_count ORDER BY outcome, reason");
    tx.all(&sql, args![])?
        .into_iter()
        .map(|mut row| read(&mut row))
        .collect()
}

fn read(row: &mut Row) -> Result<MailCount, StoreError> {
    Ok(MailCount {
        outcome: row.take()?,
        reason: row.take()?,
        messages: row.take()?,
        last_received: row.take()?,
    })
}

impl FromValue for MailOutcome {
    fn from_value(value: Value) -> Option<Self> {
        MailOutcome::parse(value.as_text()?)
    }
}
