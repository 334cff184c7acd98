//! Notes on tickets, which only staff can see.

use crate::model::history::HistoryStep;
use crate::model::id::{HistoryId, TicketId};
use crate::model::reply::{Note, ReplyText};
use crate::rules::agent::Agent;
use crate::rules::desk::{author, load, load_unchanged};
use crate::rules::error::Result;
use crate::rules::history::is_duplicate;
use crate::rules::request::Request;
use crate::rules::tickets::append_history;
use crate::store::history::NewHistory;
use crate::store::{self, WriteTx};

/// Adds a note that only staff can see.
pub fn create(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<Note> {
    let desk = load_unchanged(tx, id, request)?;
    let mut form = request.form()?;
    let description = form.required("description", ReplyText::parse);
    let description = form.finish(|| description)?;

    let note = store::notes::insert(tx, id, agent.username.as_str(), &description)?;
    let details = NewHistory {
        note: Some(note.id),
        ..NewHistory::default()
    };
    let author = author(tx, agent);
    append_history(tx, &desk.ticket, &author, HistoryStep::Note, &details)?;
    Ok(note)
}

/// Adds a note from a page, unless it is a duplicate. A note never conflicts.
pub fn create_once(
    tx: &mut WriteTx,
    agent: &Agent,
    id: TicketId,
    request: &Request,
    seen: Option<HistoryId>,
) -> Result<Option<Note>> {
    load(tx, id)?;
    let text = request.form()?.optional("description", ReplyText::parse);
    if is_duplicate(tx, agent, id, HistoryStep::Note, text, seen)? {
        return Ok(None);
    }
    create(tx, agent, id, request).map(Some)
}
