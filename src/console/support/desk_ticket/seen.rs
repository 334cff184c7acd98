//! All that the page of a ticket shows, and what was typed on it.

use super::network::{self, Network};
use crate::console::forms::{Sent, Typed};
use crate::model::attachment::Attachment;
use crate::model::canned_reply::CannedReply;
use crate::model::history::History;
use crate::model::id::{CannedReplyId, HistoryId, TicketId};
use crate::model::page::Paged;
use crate::model::ticket::{DeskTicket, Status};
use crate::model::time::Time;
use crate::rules;
use crate::rules::agent::Agent;
use crate::rules::conditions::Condition;
use crate::rules::desk::DeskVersion;
use crate::rules::lists::ListRequest;
use crate::store::ReadTx;

/// How many steps are on a page.
const FEW: i64 = 200;

/// All that is on the page.
pub struct Seen {
    pub desk: DeskTicket,
    pub mark: DeskVersion,
    /// The step of the history up to which it is shown.
    pub newest: HistoryId,
    pub history: Paged<History>,
    pub files: Vec<Attachment>,
    pub canned: Vec<CannedReply>,
    /// The canned reply that is looked at, as it would be sent.
    pub filled: Option<(CannedReplyId, String)>,
    pub colleagues: Vec<String>,
    /// What others have done since the page was opened.
    pub arrived: Vec<History>,
    pub networks: Vec<Network>,
    /// Other tickets of the account that are open.
    pub others: Paged<DeskTicket>,
    /// Who of the two sides changed it last.
    pub changed_by: Option<String>,
    pub now: Time,
}

impl Seen {
    /// Whether the newest steps are on the page.
    pub fn is_last_page(&self) -> bool {
        self.history.page.number >= self.history.pages()
    }
}

/// What is asked for besides the ticket.
#[derive(Clone, Copy, Default)]
pub struct Asked {
    pub page: Option<i64>,
    pub canned: Option<CannedReplyId>,
    /// The step after which everything is news.
    pub after: Option<HistoryId>,
}

/// What was typed on the page, and what came of it.
#[derive(Default)]
pub struct Writing {
    /// What is in the boxes.
    pub typed: Typed,
    /// Whether it is the note that is being written, and not the reply.
    pub noting: bool,
    /// The field whose preview is asked for.
    pub preview: Option<&'static str>,
    pub other: Typed,
}

impl Writing {
    /// The form that was refused, if one was.
    pub fn decisive(&self) -> &Typed {
        match self.other.wrong.is_empty() {
            true => &self.typed,
            false => &self.other,
        }
    }
}

/// The canned reply that a field names.
pub fn canned_in(sent: &Sent, field: &str) -> Option<CannedReplyId> {
    sent.text(field).parse().ok().map(CannedReplyId)
}

pub fn look(tx: &mut ReadTx, agent: &Agent, id: TicketId, asked: Asked) -> rules::Result<Seen> {
    let desk = rules::desk::view(tx, id)?;
    let few_at = |page: i64| ListRequest::first(FEW).at(page);
    let mut history = rules::desk::history(tx, id, &few_at(asked.page.unwrap_or(1)))?;
    if asked.page.is_none() && history.pages() > 1 {
        history = rules::desk::history(tx, id, &few_at(history.pages()))?;
    }
    let files = rules::desk::attachments(tx, id, &ListRequest::full_page())?.items;
    let canned = rules::canned_replies::list(tx, &ListRequest::full_page())?.items;
    let filled = asked
        .canned
        .and_then(|id| canned.iter().find(|reply| reply.id == id));
    let filled = filled.map(|reply| (reply.id, rules::canned_replies::fill(tx, agent, reply, &desk)));
    let others = ListRequest::first(25)
        .only(Condition::equal("account_id", desk.ticket.account))
        .only(Condition::not_equal("status", Status::Closed.word()))
        .only(Condition::not_equal("id", id));
    Ok(Seen {
        newest: rules::desk::newest(tx, id)?,
        mark: rules::desk::version(tx, agent, Some(id))?,
        colleagues: rules::viewers::others(tx, agent, id)?,
        arrived: match asked.after {
            Some(after) => rules::desk::since(tx, agent, id, after)?,
            None => Vec::new(),
        },
        networks: network::of(tx, &desk.ticket)?,
        others: rules::desk::list(tx, &others, None)?,
        changed_by: rules::desk::last_changers(tx, &[id])?.remove(&id),
        now: tx.now(),
        desk,
        history,
        files,
        canned,
        filled,
    })
}
