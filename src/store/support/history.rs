//! The `ticket_history` table.

use std::collections::HashMap;

use crate::model::change::ChangeKind;
use crate::model::history::{History, HistoryStep};
use crate::model::id::{AttachmentId, HistoryId, NoteId, ReplyId, TicketId};
use crate::model::page::Paged;
use crate::model::reply::ReplyText;
use crate::model::ticket::Status;
use crate::model::time::Time;
use crate::store::changes::PROVIDER;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery, id_list};
use crate::store::model_rows::ModelRows;
use crate::store::notifier::Topic;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const FROM: &str = "ticket_history h LEFT JOIN reply r ON r.id = h.reply LEFT JOIN note n ON n.id = h.note";
const COLUMNS: &str = "h.id, h.step, h.created, h.created_by, h.from_staff, h.status, h.before, h.after,
    coalesce(r.description, n.description), h.reply, h.note, h.attachment";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new(FROM, COLUMNS, |row| read(row).map(drop));

/// Steps that do not count as an update of the ticket.
const STEPS_WITHOUT_UPDATE: [HistoryStep; 6] = [
    HistoryStep::Opened,
    HistoryStep::Note,
    HistoryStep::Priority,
    HistoryStep::Tags,
    HistoryStep::AttachmentRefused,
    HistoryStep::Download,
];

pub static FIELDS: [Field; 5] = [
    Field::new("id", Kind::Integer, "h.id"),
    Field::new("action", Kind::Text, "h.step"),
    Field::new("created", Kind::Time, "h.created"),
    Field::new("created_by", Kind::Text, "h.created_by"),
    Field::new("from_staff", Kind::Boolean, "h.from_staff"),
];

/// The details of a new step.
#[derive(Clone, Debug, Default)]
pub struct NewHistory {
    pub before: Option<String>,
    pub after: Option<String>,
    pub reply: Option<ReplyId>,
    pub note: Option<NoteId>,
    pub attachment: Option<AttachmentId>,
}

pub fn list(tx: &mut ReadTx, ticket: TicketId, query: &ListQuery) -> Result<Paged<History>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: FROM,
        condition: "h.ticket = $1".to_owned(),
        args: args![ticket].to_vec(),
        key: &["h.id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

/// The ID of the newest step of a ticket; zero if there is none.
pub fn newest(tx: &mut ReadTx, ticket: TicketId) -> Result<HistoryId, StoreError> {
    let sql = "SELECT coalesce(max(id), 0) FROM ticket_history WHERE ticket = $1";
    tx.one(sql, args![ticket])?.take()
}

/// The steps of a ticket after the step `after`, except the steps of one staff user. The IDs of a ticket's
/// steps, except downloads, increase in commit order, because each of these steps updates the row of the
/// ticket.
pub fn by_others(
    tx: &mut ReadTx,
    ticket: TicketId,
    agent: &str,
    after: HistoryId,
) -> Result<Vec<History>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM {FROM}
         WHERE h.ticket = $1 AND h.id > $2 AND NOT (h.from_staff = 1 AND h.created_by = $3) ORDER BY h.id"
    );
    tx.read(&sql, args![ticket, after, agent], read)
}

/// For each ticket, the name of the user who last updated it. The result omits tickets that were not updated since they
/// were opened.
pub fn last_updaters(tx: &mut ReadTx, tickets: &[TicketId]) -> Result<HashMap<TicketId, String>, StoreError> {
    if tickets.is_empty() {
        return Ok(HashMap::new());
    }
    let ids: Vec<i64> = tickets.iter().map(|ticket| ticket.0).collect();
    let (list, args) = id_list(&ids);
    let excluded = STEPS_WITHOUT_UPDATE
        .map(|step| format!("'{}'", step.word()))
        .join(", ");
    let sql = format!(
        "SELECT ticket, created_by FROM ticket_history WHERE id IN
             (SELECT max(id) FROM ticket_history WHERE ticket IN {list} AND step NOT IN ({excluded}) GROUP BY ticket)"
    );
    let read = |mut row: Row| Ok((row.take()?, row.take()?));
    tx.all(&sql, &args)?.into_iter().map(read).collect()
}

/// Whether a staff user has already written this text as a reply or note, depending on `step`. Checks all
/// steps after `after`, and the newest reply or note of the ticket, unless it was created before `recent`.
pub fn has_duplicate(
    tx: &mut ReadTx,
    (ticket, agent): (TicketId, &str),
    (step, text): (HistoryStep, &ReplyText),
    after: Option<HistoryId>,
    recent: Time,
) -> Result<bool, StoreError> {
    let sql = format!(
        "SELECT h.id FROM {FROM}
         WHERE h.ticket = $1 AND h.step = $2 AND h.from_staff = 1 AND h.created_by = $3
             AND coalesce(r.description, n.description) = $4
             AND (h.id > $5 OR h.created >= $6
                 AND h.id = (SELECT max(id) FROM ticket_history WHERE ticket = $1 AND step = $2))
         LIMIT 1"
    );
    let after = after.unwrap_or(HistoryId(i64::MAX));
    let found = tx.find(&sql, args![ticket, step.word(), agent, text, after, recent])?;
    Ok(found.is_some())
}

/// Inserts a step. All steps except downloads raise the revision of the ticket.
pub fn append(
    tx: &mut WriteTx,
    ticket: TicketId,
    (created_by, from_staff): (&str, bool),
    step: HistoryStep,
    status: Status,
    new: &NewHistory,
) -> Result<(), StoreError> {
    let now = tx.now();
    tx.execute(
        "INSERT INTO ticket_history
             (ticket, step, created, created_by, from_staff, status, before, after, reply, note, attachment)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        args![
            ticket,
            step.word(),
            now,
            created_by,
            from_staff,
            status.word(),
            new.before.as_deref(),
            new.after.as_deref(),
            new.reply,
            new.note,
            new.attachment,
        ],
    )?;
    tx.notify_on_commit(Topic::Desk);
    if from_staff {
        // The change raises the provider's revision, because the account's revision must not reveal the work of staff.
        tx.changed(PROVIDER, ChangeKind::Ticket, ticket.0)?;
    }
    if step != HistoryStep::Download {
        let sql = "UPDATE ticket SET revision = revision + 1 WHERE id = $1";
        tx.execute(sql, args![ticket])?;
    }
    Ok(())
}

/// A watermark that changes with every step of any ticket. It has the newest ID, and the number of steps
/// among the newest 1000 IDs. With several nodes, a step with a lower ID can be committed after a step with a
/// higher ID. Then only the number of steps changes.
pub fn watermark(tx: &mut ReadTx) -> Result<(i64, i64), StoreError> {
    const WINDOW_IDS: i64 = 1000;
    let mut row = tx.one(
        "SELECT coalesce(max(id), 0), count(*) FROM ticket_history
         WHERE id > (SELECT coalesce(max(id), 0) - $1 FROM ticket_history)",
        args![WINDOW_IDS],
    )?;
    Ok((row.take()?, row.take()?))
}

fn read(row: &mut Row) -> Result<History, StoreError> {
    Ok(History {
        id: row.take()?,
        step: row.take()?,
        created: row.take()?,
        created_by: row.take()?,
        from_staff: row.take()?,
        status: row.take()?,
        before: row.take()?,
        after: row.take()?,
        description: row.take()?,
        reply: row.take()?,
        note: row.take()?,
        attachment: row.take()?,
    })
}

impl FromValue for HistoryStep {
    fn from_value(value: Value) -> Option<Self> {
        HistoryStep::with_word(value.as_text()?)
    }
}
