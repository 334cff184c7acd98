//! The `mail_text` table: the texts of mails that differ from their default.

use crate::model::change::ChangeKind;
use crate::model::mail_template::{MailTemplates, MailText, TextName};
use crate::store::changes::PROVIDER;
use crate::store::error::StoreError;
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "name, content";
/// The ID of the templates in the change log, which has one entry for all of them.
const ID: i64 = 1;

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("mail_text", COLUMNS, |row| read(row).map(drop));

pub fn load(tx: &mut ReadTx) -> Result<MailTemplates, StoreError> {
    let rows = tx.read("SELECT name, content FROM mail_text ORDER BY name", args![], read)?;
    Ok(MailTemplates(rows.into_iter().collect()))
}

/// Stores all texts.
pub fn save(tx: &mut WriteTx, templates: &MailTemplates) -> Result<(), StoreError> {
    tx.execute("DELETE FROM mail_text", args![])?;
    for (name, text) in &templates.0 {
        tx.execute(
            "INSERT INTO mail_text (name, content) VALUES ($1, $2)",
            args![name.word(), text.as_str()],
        )?;
    }
    tx.changed(PROVIDER, ChangeKind::MailTemplates, ID)
}

fn read(row: &mut Row) -> Result<(TextName, MailText), StoreError> {
    Ok((row.take()?, row.take()?))
}

impl FromValue for TextName {
    fn from_value(value: Value) -> Option<Self> {
        TextName::find(value.as_text()?)
    }
}

impl FromValue for MailText {
    fn from_value(value: Value) -> Option<Self> {
        MailText::checked(value.as_text()?.to_owned())
    }
}
