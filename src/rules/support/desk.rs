//! The desk: tickets of all accounts, for the provider's staff (decision 0014).

use std::collections::HashMap;

use crate::model::account::status::AccountStatus;
use crate::model::history::HistoryStep;
use crate::model::id::{AccountId, TicketId, UserId};
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::model::ticket::{
    DeskTicket, NewTicket, Priority, Side, Status, Summary, TicketText, WaitingTickets,
};
use crate::model::time::Time;
use crate::model::user::{Username, gravatar_id};
use crate::rules::agent::Agent;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::staff;
use crate::rules::subjects::{self, Requester};
use crate::rules::submission::{REPEAT_WINDOW_SECONDS, Submission};
use crate::rules::tickets::{
    TicketAuthor, Transition, append_history, apply_transition, begin, refuse_unless_allowed,
};
use crate::rules::transitions::TicketAction;
use crate::rules::{targets, ticket_tags};
use crate::store::filter::Filter;
use crate::store::history::NewHistory;
use crate::store::list::ListQuery;
use crate::store::{self, ReadTx, WriteTx};

/// A page of the queue; `search` limits it to tickets with all these words.
pub fn list(tx: &mut ReadTx, list: &ListRequest, search: Option<&str>) -> Result<Paged<DeskTicket>> {
    list_waiting_for(tx, list, search, None)
}

/// Like `list`. With `side`, only open tickets that wait for this side.
pub fn list_waiting_for(
    tx: &mut ReadTx,
    list: &ListRequest,
    search: Option<&str>,
    side: Option<Side>,
) -> Result<Paged<DeskTicket>> {
    let (query, words) = read_query(tx, list, search, side)?;
    let mut tickets = store::desk::list(tx, &words, &query)?;
    targets::add(tx, &mut tickets.items)?;
    Ok(tickets)
}

/// Like `list_waiting_for`, sorted by the time left until a target is missed. This reads the history of all open tickets.
pub fn list_by_time_left(
    tx: &mut ReadTx,
    list: &ListRequest,
    search: Option<&str>,
    side: Option<Side>,
) -> Result<Paged<DeskTicket>> {
    let (query, words) = read_query(tx, list, search, side)?;
    let mut ids = store::desk::all_matching(tx, &words, &query)?;
    targets::sort_by_time_left(tx, &mut ids)?;
    let (page, results) = (query.page, ids.len() as i64);
    let shown = ids
        .into_iter()
        .skip(page.offset() as usize)
        .take(page.size as usize);
    let mut items = store::desk::load_all(tx, &shown.collect::<Vec<_>>())?;
    targets::add(tx, &mut items)?;
    Ok(Paged { items, page, results })
}

/// Like `list_waiting_for`, but the tickets that have waited longest for an answer of the provider come first. Tickets
/// that do not wait come last.
pub fn list_by_wait(
    tx: &mut ReadTx,
    list: &ListRequest,
    search: Option<&str>,
    side: Option<Side>,
) -> Result<Paged<DeskTicket>> {
    let (query, words) = read_query(tx, list, search, side)?;
    let mut tickets = store::desk::list_by_wait(tx, &words, &query)?;
    targets::add(tx, &mut tickets.items)?;
    Ok(tickets)
}

fn read_query(
    tx: &ReadTx,
    list: &ListRequest,
    search: Option<&str>,
    side: Option<Side>,
) -> Result<(ListQuery, Vec<String>)> {
    let mut query = list.read(tx.policy(), &store::desk::FIELDS)?;
    if let Some(side) = side {
        query.filter = Filter::All(vec![query.filter, store::tickets::waiting_for_filter(side)]);
    }
    Ok((query, read_search(search)?))
}

/// The tickets that wait for an answer of the provider: their number, and the longest wait.
pub fn waiting(tx: &mut ReadTx) -> Result<WaitingTickets> {
    Ok(store::desk::waiting(tx)?)
}

/// The times since which these tickets wait for an answer of the provider: that of the first message after the last
/// answer. Closed tickets, and tickets whose last message is an answer, are left out.
pub fn waiting_since(tx: &mut ReadTx, tickets: &[DeskTicket]) -> Result<HashMap<TicketId, Time>> {
    let ids: Vec<TicketId> = tickets.iter().map(|desk| desk.ticket.id).collect();
    Ok(store::desk::waiting_since(tx, &ids)?)
}

/// Opens a ticket for an account in the provider's name.
pub fn create(tx: &mut WriteTx, agent: &Agent, request: &Request) -> Result<DeskTicket> {
    let author = author(tx, agent);
    let new = read_new(tx, &author, request)?;
    open(tx, &author, &new)
}

/// Opens a ticket from a form that was rendered when `newest` was the newest ticket opened by staff. Opens
/// nothing if the submission is a duplicate.
pub fn create_once(
    tx: &mut WriteTx,
    agent: &Agent,
    request: &Request,
    newest: i64,
) -> Result<Submission<TicketId>> {
    let author = author(tx, agent);
    let new = read_new(tx, &author, request)?;
    let recent = tx.now().plus_seconds(-REPEAT_WINDOW_SECONDS);
    if let Some(existing) = store::tickets::find_duplicate(tx, &new, newest, recent)? {
        return Ok(Submission::Duplicate(existing));
    }
    Ok(Submission::Created(open(tx, &author, &new)?.ticket.id))
}

/// The ID of the newest ticket that staff opened; 0 if there is none.
pub fn newest_opened(tx: &mut ReadTx) -> Result<i64> {
    Ok(store::tickets::newest(tx, None)?)
}

fn read_new(tx: &mut WriteTx, author: &TicketAuthor, request: &Request) -> Result<NewTicket> {
    let mut form = request.form()?;
    let account = read_account(tx, &mut form)?;
    let summary = form.required("summary", Summary::parse);
    let description = form.required("description", TicketText::parse);
    let subject = subjects::read(tx, &mut form, account.map(Requester::Staff))?;
    let may_close = form.boolean("closable").unwrap_or(false);
    let priority = form.optional("priority", Priority::parse);
    let (account, summary, description) = form.finish(|| Some((account?, summary?, description?)))?;
    let managed_issue = subject.managed_issue;
    Ok(NewTicket {
        account,
        summary,
        description,
        entity: subject.resolve(tx, account)?,
        managed_issue,
        may_close,
        priority: priority.unwrap_or(Priority::Normal),
        opener: None,
        opened_by: author.display_name.clone(),
        gravatar_id: author.gravatar_id.clone(),
    })
}

fn open(tx: &mut WriteTx, author: &TicketAuthor, new: &NewTicket) -> Result<DeskTicket> {
    let id = store::tickets::insert(tx, new)?;
    let opened = load(tx, id)?.ticket;
    begin(tx, &opened, author)?;
    load(tx, id)
}

pub fn view(tx: &mut ReadTx, id: TicketId) -> Result<DeskTicket> {
    load(tx, id)
}

/// Changes a ticket's priority, its tags, and whether users of the account can close the ticket. Only the last change
/// creates an event for the account.
pub fn update(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<DeskTicket> {
    let mut desk = load_unchanged(tx, id, request)?;
    let mut form = request.form()?;
    // Ignore a value that equals the current value.
    let closable = form
        .boolean("closable")
        .filter(|closable| *closable != desk.ticket.closable());
    let priority = form.optional("priority", Priority::parse);
    let tags = ticket_tags::read(&mut form);
    if closable.is_some() {
        refuse_unless_allowed(tx, &mut form, &desk.ticket, TicketAction::SetClosable);
    }
    form.finish(|| Some(()))?;

    let author = author(tx, agent);
    if let Some(closable) = closable {
        let before = std::mem::replace(&mut desk.ticket.may_close, closable);
        let setting = Transition::new(TicketAction::SetClosable, HistoryStep::Closable)
            .from(Some(before.to_string()))
            .to(&closable.to_string());
        apply_transition(tx, &mut desk.ticket, &author, setting)?;
    }
    if let Some(priority) = priority.filter(|priority| *priority != desk.priority) {
        store::desk::set_priority(tx, id, priority)?;
        let details = NewHistory {
            before: Some(desk.priority.word().to_owned()),
            after: Some(priority.word().to_owned()),
            ..NewHistory::default()
        };
        append_history(tx, &desk.ticket, &author, HistoryStep::Priority, &details)?;
    }
    if let Some(tags) = tags {
        ticket_tags::set(tx, &desk, &author, &tags)?;
    }
    load(tx, id)
}

/// Assigns a ticket to the agent, or to the colleague in `assignee`. A ticket of another colleague is reassigned only
/// with `take_over`.
pub fn claim(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<DeskTicket> {
    let mut desk = load_unchanged(tx, id, request)?;
    let mut form = request.form()?;
    let take_over = form.boolean("take_over").unwrap_or(false);
    let assignee = read_assignee(tx, agent, &mut form)?;
    let (user, username) = form.finish(|| assignee)?;

    let holder = match &desk.claim {
        Some(claim) if claim.agent == user => return Ok(desk),
        Some(claim) if claim.agent != agent.user && !take_over => {
            let text = format!(
                "This ticket is assigned to {}; take it over to reassign it",
                claim.username
            );
            return Err(Error::refused(Code::TicketClaimed, text));
        }
        claim => claim.as_ref().map(|claim| claim.username.clone()),
    };
    let claiming = Transition::new(TicketAction::Claim, HistoryStep::Claim)
        .from(holder)
        .to(username.as_str());
    let author = author(tx, agent);
    apply_transition(tx, &mut desk.ticket, &author, claiming)?;
    store::desk::set_claimer(tx, id, Some(user))?;
    load(tx, id)
}

/// The member of staff in `assignee`; the agent if the field is missing.
fn read_assignee(tx: &mut ReadTx, agent: &Agent, form: &mut Form) -> Result<Option<(UserId, Username)>> {
    let Some(name) = form.optional("assignee", |raw| Ok(raw.to_owned())) else {
        let is_missing = !form.has("assignee");
        return Ok(is_missing.then(|| (agent.user, agent.username.clone())));
    };
    match staff::view(tx, &name) {
        Ok(user) if !user.disabled => Ok(Some((user.id, user.username))),
        Ok(_) | Err(Error::NotFound) => {
            let text = "No member of staff with access has this username";
            form.refuse("assignee", Reason::new(Code::UserInvalid, text));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Unassigns the agent's own ticket.
pub fn release(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<DeskTicket> {
    let mut desk = load_unchanged(tx, id, request)?;
    request.require_valid_body()?;
    match &desk.claim {
        Some(claim) if claim.agent == agent.user => {}
        Some(claim) => {
            let text = format!(
                "This ticket is assigned to {}; take it over before you release it",
                claim.username
            );
            return Err(Error::refused(Code::TicketClaimed, text));
        }
        None => {
            return Err(Error::refused(
                Code::TicketNotClaimed,
                "This ticket is not assigned",
            ));
        }
    }
    let releasing = Transition::new(TicketAction::Release, HistoryStep::Release)
        .from(Some(agent.username.as_str().to_owned()));
    let author = author(tx, agent);
    apply_transition(tx, &mut desk.ticket, &author, releasing)?;
    store::desk::set_claimer(tx, id, None)?;
    load(tx, id)
}

pub fn close(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<DeskTicket> {
    change_status(tx, agent, id, request, closing())
}

pub(super) fn closing() -> Transition {
    Transition::new(TicketAction::StaffClose, HistoryStep::Close).to(Status::Closed.word())
}

pub fn reopen(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<DeskTicket> {
    let reopening = Transition::new(TicketAction::Reopen, HistoryStep::Reopen).to(Status::Open.word());
    change_status(tx, agent, id, request, reopening)
}

pub fn load(tx: &mut ReadTx, id: TicketId) -> Result<DeskTicket> {
    let mut desk = store::desk::find(tx, id)?.ok_or(Error::NotFound)?;
    targets::add(tx, std::slice::from_mut(&mut desk))?;
    Ok(desk)
}

pub(super) fn load_unchanged(tx: &mut ReadTx, id: TicketId, request: &Request) -> Result<DeskTicket> {
    let desk = load(tx, id)?;
    request.check_if_match(&desk)?;
    Ok(desk)
}

fn change_status(
    tx: &mut WriteTx,
    agent: &Agent,
    id: TicketId,
    request: &Request,
    transition: Transition,
) -> Result<DeskTicket> {
    let mut desk = load_unchanged(tx, id, request)?;
    request.require_valid_body()?;
    let author = author(tx, agent);
    apply_transition(tx, &mut desk.ticket, &author, transition)?;
    load(tx, id)
}

/// The agent as the author of an action. Tenants only see the provider's name.
pub(super) fn author(tx: &ReadTx, agent: &Agent) -> TicketAuthor {
    let support = &tx.policy().support;
    TicketAuthor {
        display_name: support.provider.clone(),
        username: agent.username.as_str().to_owned(),
        user: None,
        agent: Some(agent.user),
        gravatar_id: gravatar_id(&support.provider_email),
    }
}

/// Parses search words; an empty search matches everything.
fn read_search(search: Option<&str>) -> Result<Vec<String>> {
    const MAX_SEARCH_WORDS: usize = 16;
    let search = search.unwrap_or_default().trim();
    let words: Vec<_> = store::search::words(search).collect();
    let text = match words.len() {
        0 if !search.is_empty() => "Enter at least one letter or digit".to_owned(),
        count if count > MAX_SEARCH_WORDS => {
            format!("Enter at most {MAX_SEARCH_WORDS} words")
        }
        _ => return Ok(words),
    };
    let reason = Reason::new(Code::SearchInvalid, text);
    Err(Error::on("q", reason))
}

fn read_account(tx: &mut ReadTx, form: &mut Form) -> Result<Option<AccountId>> {
    let Some(account) = form.required_integer("account_id").map(AccountId) else {
        return Ok(None);
    };
    let reason = match store::accounts::find(tx, account)? {
        Some(found) if found.status == AccountStatus::Closed => Reason::new(
            Code::AccountState,
            "The account is closed, so no user can read the ticket",
        ),
        Some(_) => return Ok(Some(account)),
        None => Reason::new(Code::AccountInvalid, "Account not found"),
    };
    form.refuse("account_id", reason);
    Ok(None)
}
