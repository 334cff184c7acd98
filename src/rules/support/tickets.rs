//! Tickets for the account's users: list, open, view, close (interface §4.3).
//!
//! `replies`, `attachments` and `desk` have the other operations on tickets.

use std::collections::HashMap;

use super::ticket_mails::{self, ChangeAuthor};
use crate::model::event::Action;
use crate::model::event_change::{self, Changes};
use crate::model::grant::Permission;
use crate::model::history::HistoryStep;
use crate::model::id::{TicketId, UserId};
use crate::model::page::Paged;
use crate::model::ticket::{NewTicket, Priority, Side, Status, Summary, Ticket, TicketText};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::events::{self, Author};
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::subjects::{self, Requester};
use crate::rules::submission::{REPEAT_WINDOW_SECONDS, Submission};
use crate::rules::transitions::{self, TicketAction};
use crate::store::filter::Filter;
use crate::store::history::NewHistory;
use crate::store::{self, ReadTx, WriteTx};

pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<Ticket>> {
    search(tx, caller, list, "")
}

/// Tickets that contain these words or have this number. `#7` matches only the ticket with the number 7.
pub fn search(tx: &mut ReadTx, caller: &Caller, list: &ListRequest, words: &str) -> Result<Paged<Ticket>> {
    search_waiting_for(tx, caller, list, words, None)
}

/// Like `search`. With `side`, only open tickets that wait for this side.
pub fn search_waiting_for(
    tx: &mut ReadTx,
    caller: &Caller,
    list: &ListRequest,
    words: &str,
    side: Option<Side>,
) -> Result<Paged<Ticket>> {
    let mut query = list.read(tx.policy(), &store::tickets::FIELDS)?;
    if let Some(side) = side {
        query.filter = Filter::All(vec![query.filter, store::tickets::waiting_for_filter(side)]);
    }
    if !words.is_empty() {
        let search_filter = store::tickets::search_filter(words);
        query.filter = Filter::All(vec![query.filter, search_filter]);
    }
    let opener = match caller.account_access() {
        Some(_) => None,
        None => Some(caller.user()),
    };
    Ok(store::tickets::list(tx, caller.account, opener, &query)?)
}

/// The side that each of these tickets waits for. Closed tickets wait for no side.
pub fn sides(tx: &mut ReadTx, tickets: &[Ticket]) -> Result<HashMap<TicketId, Side>> {
    let open = tickets.iter().filter(|ticket| ticket.status != Status::Closed);
    let open: Vec<TicketId> = open.map(|ticket| ticket.id).collect();
    let answered = store::tickets::answered(tx, &open)?;
    let side = |id: TicketId| match answered.contains(&id) {
        true => (id, Side::Customer),
        false => (id, Side::Provider),
    };
    Ok(open.into_iter().map(side).collect())
}

/// Opens a ticket. Any user with the scope can open tickets.
pub fn create(tx: &mut WriteTx, caller: &Caller, request: &Request) -> Result<Ticket> {
    let new = read_new_ticket(tx, caller, request)?;
    open(tx, caller, &new)
}

/// Opens a ticket from a form, unless the form was submitted before. `newest` is the caller's newest ticket
/// at the time when the form was rendered: only later tickets can be duplicates.
pub fn create_once(
    tx: &mut WriteTx,
    caller: &Caller,
    request: &Request,
    newest: i64,
) -> Result<Submission<TicketId>> {
    let new = read_new_ticket(tx, caller, request)?;
    let recent = tx.now().plus_seconds(-REPEAT_WINDOW_SECONDS);
    if let Some(existing) = store::tickets::find_duplicate(tx, &new, newest, recent)? {
        return Ok(Submission::Duplicate(existing));
    }
    Ok(Submission::Created(open(tx, caller, &new)?.id))
}

fn read_new_ticket(tx: &mut WriteTx, caller: &Caller, request: &Request) -> Result<NewTicket> {
    let mut form = request.form()?;
    let summary = form.required("summary", Summary::parse);
    let description = form.required("description", TicketText::parse);
    let subject = subjects::read(tx, &mut form, Some(Requester::Tenant(caller)))?;
    let (summary, description) = form.finish(|| Some((summary?, description?)))?;
    let managed_issue = subject.managed_issue;
    Ok(NewTicket {
        account: caller.account,
        summary,
        description,
        entity: subject.resolve(tx, caller.account)?,
        managed_issue,
        may_close: true,
        priority: Priority::Normal,
        opener: Some(caller.user()),
        opened_by: caller.username().to_owned(),
        gravatar_id: caller.gravatar_id(),
    })
}

/// Opens a ticket with valid values.
pub(super) fn open(tx: &mut WriteTx, caller: &Caller, new: &NewTicket) -> Result<Ticket> {
    let id = store::tickets::insert(tx, new)?;
    let ticket = load_for(tx, caller, id, Permission::ReadWrite)?;
    begin(tx, &ticket, &TicketAuthor::of(caller))?;
    Ok(ticket)
}

/// The ID of the newest ticket that the caller opened; 0 if there is none.
pub fn newest(tx: &mut ReadTx, caller: &Caller) -> Result<i64> {
    Ok(store::tickets::newest(tx, Some(caller.user()))?)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, id: TicketId) -> Result<Ticket> {
    load_for(tx, caller, id, Permission::ReadOnly)
}

/// Closes a ticket. A ticket that is already closed is not changed.
pub fn close(tx: &mut WriteTx, caller: &Caller, id: TicketId, request: &Request) -> Result<()> {
    let mut ticket = load_for(tx, caller, id, Permission::ReadWrite)?;
    request.check_if_match(&ticket)?;
    request.require_valid_body()?;
    let closing = Transition::new(TicketAction::CustomerClose, HistoryStep::Close).to(Status::Closed.word());
    apply_transition(tx, &mut ticket, &TicketAuthor::of(caller), closing).map(drop)
}

/// The ticket, if the caller has this permission on it.
pub fn load_for(tx: &mut ReadTx, caller: &Caller, id: TicketId, access: Permission) -> Result<Ticket> {
    let ticket = store::tickets::find(tx, caller.account, id)?.ok_or(Error::NotFound)?;
    match ticket.permission(caller.user(), caller.account_access()) {
        None => Err(Error::NotFound),
        Some(granted) if granted < access => Err(Error::Forbidden),
        Some(_) => Ok(ticket),
    }
}

/// The author of an action on a ticket: a tenant or staff.
#[derive(Clone, Debug)]
pub struct TicketAuthor {
    /// The name that tenants see.
    pub display_name: String,
    /// The name in the history, which only staff see.
    pub username: String,
    /// `None` for staff, because tenants must not see which member of staff the author is.
    pub user: Option<UserId>,
    /// The member of staff; only staff see it.
    pub agent: Option<UserId>,
    pub gravatar_id: String,
}

impl TicketAuthor {
    pub fn of(caller: &Caller) -> Self {
        Self {
            display_name: caller.username().to_owned(),
            username: caller.username().to_owned(),
            user: Some(caller.user()),
            agent: None,
            gravatar_id: caller.gravatar_id(),
        }
    }

    pub fn is_staff(&self) -> bool {
        self.user.is_none()
    }

    fn of_change(&self) -> ChangeAuthor<'_> {
        ChangeAuthor {
            display_name: &self.display_name,
            username: &self.username,
            user: self.user,
        }
    }

    fn event_author(&self, ticket: &Ticket) -> Author<'_> {
        Author {
            account: ticket.account,
            username: &self.display_name,
            user: self.user.or(self.agent),
        }
    }
}

/// An action on a ticket, with its history entry and its event.
pub struct Transition {
    action: TicketAction,
    step: HistoryStep,
    event: Action,
    details: NewHistory,
}

impl Transition {
    pub fn new(action: TicketAction, step: HistoryStep) -> Self {
        Self {
            action,
            step,
            event: Action::TicketUpdate,
            details: NewHistory::default(),
        }
    }

    /// Sets the new value in the history. For status changes, `apply_transition` sets the old value.
    pub fn to(mut self, after: &str) -> Self {
        self.details.after = Some(after.to_owned());
        self
    }

    pub fn from(mut self, before: Option<String>) -> Self {
        self.details.before = before;
        self
    }

    pub fn with(mut self, details: NewHistory) -> Self {
        self.details = details;
        self
    }

    pub fn with_event(mut self, event: Action) -> Self {
        self.event = event;
        self
    }
}

/// Adds an error if the ticket's state does not allow an action.
pub fn refuse_unless_allowed(tx: &ReadTx, form: &mut Form, ticket: &Ticket, action: TicketAction) {
    if let Err(reason) = transitions::after(ticket, action, tx.now(), &tx.policy().support) {
        form.refuse_whole(reason);
    }
}

/// Applies an action to a ticket: updates the status, `updated`, the history and the account's events
/// together. Fails if the ticket's state does not allow the action. Returns false if nothing changed.
pub fn apply_transition(
    tx: &mut WriteTx,
    ticket: &mut Ticket,
    author: &TicketAuthor,
    transition: Transition,
) -> Result<bool> {
    let now = tx.now_after(ticket.updated);
    let next = transitions::after(ticket, transition.action, now, &tx.policy().support);
    let next = next.map_err(Error::whole)?;
    let Some(next) = next else { return Ok(false) };

    let before = std::mem::replace(&mut ticket.status, next);
    ticket.closed = match next {
        Status::Closed => ticket.closed.or(Some(now)),
        Status::New | Status::Open => None,
    };
    ticket.updated = now;
    ticket.updated_by = Some(author.display_name.clone());
    store::tickets::update(tx, ticket, before)?;

    let Transition {
        step,
        event,
        mut details,
        ..
    } = transition;
    if matches!(step, HistoryStep::Close | HistoryStep::Reopen) {
        details.before = Some(before.word().to_owned());
    } else if before == Status::Closed && next == Status::Open {
        let reopened = NewHistory {
            before: Some(before.word().to_owned()),
            after: Some(next.word().to_owned()),
            ..NewHistory::default()
        };
        append_history(tx, ticket, author, HistoryStep::Reopen, &reopened)?;
    }
    append_history(tx, ticket, author, step, &details)?;
    let mut changes = Changes::default();
    changes.add(event_change::STATUS, before.word(), next.word());
    if let Some(reply) = details.reply {
        changes.add(event_change::REPLY, "", reply);
    }
    events::record_ticket(tx, author.event_author(ticket), event, ticket, &changes)?;
    ticket_mails::notify(tx, ticket.id, author.of_change(), step, &details)?;
    Ok(true)
}

/// Records that a ticket was opened.
pub fn begin(tx: &mut WriteTx, ticket: &Ticket, author: &TicketAuthor) -> Result<()> {
    let (step, details) = (HistoryStep::Opened, NewHistory::default());
    append_history(tx, ticket, author, step, &details)?;
    let event_author = author.event_author(ticket);
    events::record_ticket(
        tx,
        event_author,
        Action::TicketCreate,
        ticket,
        &Changes::default(),
    )?;
    ticket_mails::notify(tx, ticket.id, author.of_change(), step, &details)
}

/// Adds an entry to the history without an event for the account.
pub fn append_history(
    tx: &mut WriteTx,
    ticket: &Ticket,
    author: &TicketAuthor,
    step: HistoryStep,
    details: &NewHistory,
) -> Result<()> {
    let author = (author.username.as_str(), author.is_staff());
    Ok(store::history::append(
        tx,
        ticket.id,
        author,
        step,
        ticket.status,
        details,
    )?)
}
