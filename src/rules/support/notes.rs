//! Notes on tickets, which only staff can see.

use crate::model::history::HistoryStep;
use crate::model::id::{HistoryId, TicketId};
use crate::model::reply::{Note, ReplyText};
use crate::model::ticket::Ticket;
use crate::rules::agent::Agent;
use crate::rules::desk::{author, load, load_unchanged};
use crate::rules::error::Result;
use crate::rules::history::is_duplicate;
use crate::rules::request::Request;
use crate::rules::tickets::append_history;
use crate::store::history::NewHistory;
use crate::store::{self, WriteTx};

/// Adds a note.
pub fn create(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<Note> {
    let desk = load_unchanged(tx, id, request)?;
    let mut form = request.form()?;
    let text = form.required("description", ReplyText::parse);
    add(tx, agent, &desk.ticket, &form.finish(|| text)?)
}

/// Adds a note from a page, unless the note is a duplicate. Unlike a reply, a note does not become outdated.
pub fn create_once(
    tx: &mut WriteTx,
    agent: &Agent,
    id: TicketId,
    request: &Request,
    seen: Option<HistoryId>,
) -> Result<Option<Note>> {
    let desk = load(tx, id)?;
    let mut form = request.form()?;
    let text = form.required("description", ReplyText::parse);
    if is_duplicate(tx, agent, id, HistoryStep::Note, text.as_ref(), seen)? {
        return Ok(None);
    }
    request.check_if_match(&desk)?;
    add(tx, agent, &desk.ticket, &form.finish(|| text)?).map(Some)
}

fn add(tx: &mut WriteTx, agent: &Agent, ticket: &Ticket, text: &ReplyText) -> Result<Note> {
    let note = store::notes::insert(tx, ticket.id, agent.username.as_str(), text)?;
    let details = NewHistory {
        note: Some(note.id),
        ..NewHistory::default()
    };
    let author = author(tx, agent);
    append_history(tx, ticket, &author, HistoryStep::Note, &details)?;
    Ok(note)
}
