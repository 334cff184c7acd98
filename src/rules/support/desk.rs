//! The desk: tickets of all accounts, for the provider's staff (decision 0014).

use std::collections::HashMap;

use crate::model::attachment::Attachment;
use crate::model::entity::{Entity, EntityKind};
use crate::model::history::{History, HistoryStep};
use crate::model::id::{AccountId, AttachmentId, CannedReplyId, HistoryId, InstanceId, TicketId, VpcId};
use crate::model::interface::Interface;
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::model::reply::{Note, Reply, ReplyText};
use crate::model::subject::SubjectKind;
use crate::model::tag::Tag;
use crate::model::ticket::{DeskTicket, NewTicket, Priority, Status, Summary, Ticket, TicketText};
use crate::model::user::gravatar_id;
use crate::model::vpc::Vpc;
use crate::rules::agent::Agent;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::subjects::{self, Requester};
use crate::rules::submission::{REPEAT_WINDOW_SECONDS, Submission};
use crate::rules::tickets::{
    TicketAuthor, Transition, append_history, apply_transition, begin, refuse_unless_allowed,
};
use crate::rules::transitions::TicketAction;
use crate::rules::{canned_replies, replies, viewers};
use crate::store::history::NewHistory;
use crate::store::{self, ReadTx, WriteTx};

/// A page of the queue; `search` limits it to tickets with all these words.
pub fn list(tx: &mut ReadTx, list: &ListRequest, search: Option<&str>) -> Result<Paged<DeskTicket>> {
    let wanted = list.read(tx.policy(), &store::desk::FIELDS)?;
    let words = read_search(search)?;
    Ok(store::desk::list(tx, &words, &wanted)?)
}

/// Opens a ticket for an account in the provider's name.
pub fn create(tx: &mut WriteTx, agent: &Agent, request: &Request) -> Result<DeskTicket> {
    let author = author(tx, agent);
    let new = read_new(tx, &author, request)?;
    open(tx, &author, &new)
}

/// Opens a ticket from a form that was rendered when `newest` was the newest ticket opened by staff.
pub fn create_once(
    tx: &mut WriteTx,
    agent: &Agent,
    request: &Request,
    newest: i64,
) -> Result<Submission<TicketId>> {
    let author = author(tx, agent);
    let new = read_new(tx, &author, request)?;
    let recent = tx.now().plus_seconds(-REPEAT_WINDOW_SECONDS);
    if let Some(before) = store::tickets::find_duplicate(tx, &new, newest, recent)? {
        return Ok(Submission::Duplicate(before));
    }
    Ok(Submission::Created(open(tx, &author, &new)?.ticket.id))
}

/// The newest ticket opened by staff; zero if there is none.
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

/// Changes a ticket's priority and whether the account may close it. The account is only notified of the
/// latter.
pub fn update(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<DeskTicket> {
    let mut desk = load_unchanged(tx, id, request)?;
    let mut form = request.form()?;
    // An unchanged value is not a change.
    let closable = form
        .boolean("closable")
        .filter(|closable| *closable != desk.ticket.closable());
    let priority = form.optional("priority", Priority::parse);
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
    load(tx, id)
}

/// Assigns a ticket to the agent. Reassigning one that is assigned to a colleague must be requested
/// explicitly.
pub fn claim(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<DeskTicket> {
    let mut desk = load_unchanged(tx, id, request)?;
    let mut form = request.form()?;
    let take_over = form.boolean("take_over").unwrap_or(false);
    form.finish(|| Some(()))?;

    let holder = match &desk.claim {
        Some(claim) if claim.agent == agent.user => return Ok(desk),
        Some(claim) if !take_over => {
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
        .to(agent.username.as_str());
    let author = author(tx, agent);
    apply_transition(tx, &mut desk.ticket, &author, claiming)?;
    store::desk::set_claimer(tx, id, Some(agent.user))?;
    load(tx, id)
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

/// Replies to the customer, with a text or a canned reply.
pub fn reply(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<Reply> {
    let mut desk = load_unchanged(tx, id, request)?;
    let mut form = request.form()?;
    let description = read_reply(tx, agent, &desk, &mut form)?;
    refuse_unless_allowed(tx, &mut form, &desk.ticket, TicketAction::StaffReply);
    let description = form.finish(|| description)?;
    let author = author(tx, agent);
    replies::add(
        tx,
        &mut desk.ticket,
        &author,
        TicketAction::StaffReply,
        &description,
    )
}

/// Adds a note that only staff can see.
pub fn note(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<Note> {
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

/// Replies from a page that shows the ticket up to the step `seen`. A duplicate submission is not sent again,
/// and a reply is refused if colleagues or the customer have done something in between that concerns it.
pub fn reply_once(
    tx: &mut WriteTx,
    agent: &Agent,
    id: TicketId,
    request: &Request,
    seen: Option<HistoryId>,
) -> Result<Option<Reply>> {
    let desk = load(tx, id)?;
    let text = read_reply(tx, agent, &desk, &mut request.form()?)?;
    if is_duplicate(tx, agent, id, HistoryStep::Reply, text, seen)? {
        return Ok(None);
    }
    let unseen = match seen {
        Some(seen) => since(tx, agent, id, seen)?,
        None => Vec::new(),
    };
    if unseen.iter().any(|step| may_outdate_reply(step.step)) {
        return Err(Error::Stale);
    }
    reply(tx, agent, id, request).map(Some)
}

/// Adds a note from a page, unless it is a duplicate. A note never conflicts.
pub fn note_once(
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
    note(tx, agent, id, request).map(Some)
}

/// The user who last changed each ticket. Tenants see the provider's name instead of the member of staff.
pub fn last_changers(tx: &mut ReadTx, tickets: &[TicketId]) -> Result<HashMap<TicketId, String>> {
    Ok(store::history::last_updaters(tx, tickets)?)
}

/// The newest step of a ticket's history.
pub fn newest(tx: &mut ReadTx, id: TicketId) -> Result<HistoryId> {
    Ok(store::history::newest(tx, id)?)
}

/// The steps by others since the agent last saw a ticket.
pub fn since(tx: &mut ReadTx, agent: &Agent, id: TicketId, seen: HistoryId) -> Result<Vec<History>> {
    Ok(store::history::by_others(tx, id, agent.username.as_str(), seen)?)
}

pub fn close(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<DeskTicket> {
    let closing = Transition::new(TicketAction::StaffClose, HistoryStep::Close).to(Status::Closed.word());
    change_status(tx, agent, id, request, closing)
}

pub fn reopen(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<DeskTicket> {
    let reopening = Transition::new(TicketAction::Reopen, HistoryStep::Reopen).to(Status::Open.word());
    change_status(tx, agent, id, request, reopening)
}

/// The history of a ticket, oldest first.
pub fn history(tx: &mut ReadTx, id: TicketId, list: &ListRequest) -> Result<Paged<History>> {
    load(tx, id)?;
    let wanted = list.read(tx.policy(), &store::history::FIELDS)?;
    Ok(store::history::list(tx, id, &wanted)?)
}

pub fn attachments(tx: &mut ReadTx, id: TicketId, list: &ListRequest) -> Result<Paged<Attachment>> {
    load(tx, id)?;
    let wanted = list.read(tx.policy(), &store::attachments::FIELDS)?;
    Ok(store::attachments::list(tx, id, &wanted)?)
}

/// An attachment, without recording a download.
pub fn attachment(tx: &mut ReadTx, id: TicketId, file: AttachmentId) -> Result<Attachment> {
    load(tx, id)?;
    store::attachments::find(tx, id, file)?.ok_or(Error::NotFound)
}

/// An attachment to download, which the history records.
pub fn download(tx: &mut WriteTx, agent: &Agent, id: TicketId, file: AttachmentId) -> Result<Attachment> {
    let desk = load(tx, id)?;
    let attachment = store::attachments::find(tx, id, file)?.ok_or(Error::NotFound)?;
    let details = NewHistory {
        after: Some(attachment.name.as_str().to_owned()),
        attachment: Some(file),
        ..NewHistory::default()
    };
    let author = author(tx, agent);
    append_history(tx, &desk.ticket, &author, HistoryStep::Download, &details)?;
    Ok(attachment)
}

/// The VPC that a ticket is about, or the VPCs of its instance, if they still exist.
pub fn vpcs(tx: &mut ReadTx, ticket: &Ticket) -> Result<Vec<Vpc>> {
    let Some(subject) = &ticket.entity else {
        return Ok(Vec::new());
    };
    let attached = interfaces(tx, ticket)?;
    let attached = attached.iter().filter_map(|one| one.vpc.as_ref());
    let mut ids: Vec<_> = attached.map(|attached| attached.vpc).collect();
    if subject.kind == EntityKind::Subject(SubjectKind::Vpc) {
        ids.push(VpcId(subject.id));
    }
    ids.sort_unstable();
    ids.dedup();
    let mut vpcs = Vec::new();
    for id in ids {
        vpcs.extend(store::vpcs::find(tx, ticket.account, id)?);
    }
    Ok(vpcs)
}

/// The interfaces of the instance that a ticket is about, in order of creation.
pub fn interfaces(tx: &mut ReadTx, ticket: &Ticket) -> Result<Vec<Interface>> {
    let is_instance = |subject: &&Entity| subject.kind == EntityKind::Subject(SubjectKind::Linode);
    let Some(subject) = ticket.entity.as_ref().filter(is_instance) else {
        return Ok(Vec::new());
    };
    let found = store::interfaces::of_instance(tx, InstanceId(subject.id))?;
    let mut found: Vec<_> = found.into_values().flatten().collect();
    found.sort_unstable_by_key(|interface| interface.id);
    Ok(found)
}

/// A version of the desk, to detect changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeskVersion {
    /// Changes with any ticket.
    pub queue: String,
    /// Changes with one ticket, or with its viewers.
    pub ticket: String,
}

/// The current version; the second part only for a watched ticket.
pub fn version(tx: &mut ReadTx, agent: &Agent, watched: Option<TicketId>) -> Result<DeskVersion> {
    let (newest, near) = store::history::watermark(tx)?;
    let ticket = match watched {
        None => String::new(),
        Some(id) => {
            let state = (load(tx, id)?, viewers::others(tx, agent, id)?);
            Tag::of(&state).to_string().replace('"', "")
        }
    };
    Ok(DeskVersion {
        queue: format!("{newest}.{near}"),
        ticket,
    })
}

pub fn load(tx: &mut ReadTx, id: TicketId) -> Result<DeskTicket> {
    store::desk::find(tx, id)?.ok_or(Error::NotFound)
}

fn load_unchanged(tx: &mut ReadTx, id: TicketId, request: &Request) -> Result<DeskTicket> {
    let desk = load(tx, id)?;
    request.unchanged(&desk)?;
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
fn author(tx: &ReadTx, agent: &Agent) -> TicketAuthor {
    let support = &tx.policy().support;
    TicketAuthor {
        display_name: support.provider.clone(),
        username: agent.username.as_str().to_owned(),
        user: None,
        gravatar_id: gravatar_id(&support.provider_email),
    }
}

/// Parses search words; an empty search matches everything.
fn read_search(search: Option<&str>) -> Result<Vec<String>> {
    const MAX_SEARCH_WORDS: usize = 16;
    let search = search.unwrap_or_default().trim();
    let words: Vec<_> = store::search::words(search).collect();
    let wrong = match words.len() {
        0 if !search.is_empty() => "Enter at least one letter or digit".to_owned(),
        count if count > MAX_SEARCH_WORDS => {
            format!("Enter at most {MAX_SEARCH_WORDS} words")
        }
        _ => return Ok(words),
    };
    let reason = Reason::new(Code::SearchInvalid, wrong);
    Err(Error::on("q", reason))
}

fn read_account(tx: &mut ReadTx, form: &mut Form) -> Result<Option<AccountId>> {
    let Some(account) = form.required_integer("account_id").map(AccountId) else {
        return Ok(None);
    };
    if store::accounts::find(tx, account)?.is_some() {
        return Ok(Some(account));
    }
    let reason = Reason::new(Code::AccountInvalid, "Account not found");
    form.refuse("account_id", reason);
    Ok(None)
}

fn is_duplicate(
    tx: &mut ReadTx,
    agent: &Agent,
    id: TicketId,
    step: HistoryStep,
    text: Option<ReplyText>,
    seen: Option<HistoryId>,
) -> Result<bool> {
    let author = (id, agent.username.as_str());
    match text {
        Some(text) => Ok(store::history::has_duplicate(tx, author, (step, &text), seen)?),
        None => Ok(false),
    }
}

/// Whether a reply that was written before this step may be outdated after it.
fn may_outdate_reply(step: HistoryStep) -> bool {
    match step {
        HistoryStep::Opened | HistoryStep::Reply | HistoryStep::Attachment => true,
        HistoryStep::Claim | HistoryStep::Release | HistoryStep::Close | HistoryStep::Reopen => true,
        HistoryStep::Note
        | HistoryStep::Closable
        | HistoryStep::Priority
        | HistoryStep::AttachmentRefused
        | HistoryStep::Download => false,
    }
}

/// The text of a reply: its own, or a canned one.
fn read_reply(
    tx: &mut ReadTx,
    agent: &Agent,
    desk: &DeskTicket,
    form: &mut Form,
) -> Result<Option<ReplyText>> {
    match form.integer("canned_reply_id") {
        Some(canned) => filled(tx, agent, desk, form, CannedReplyId(canned)),
        None if form.has("canned_reply_id") => Ok(form.optional("description", ReplyText::parse)),
        None => Ok(form.required("description", ReplyText::parse)),
    }
}

fn filled(
    tx: &mut ReadTx,
    agent: &Agent,
    desk: &DeskTicket,
    form: &mut Form,
    canned: CannedReplyId,
) -> Result<Option<ReplyText>> {
    if form.has("description") {
        let text = "Send description or canned_reply_id, not both";
        form.refuse("canned_reply_id", Reason::new(Code::CannedReplyInvalid, text));
        return Ok(None);
    }
    let Some(canned) = store::canned_replies::find(tx, canned)? else {
        let text = "Canned reply not found";
        form.refuse("canned_reply_id", Reason::new(Code::CannedReplyInvalid, text));
        return Ok(None);
    };
    let text = canned_replies::fill(tx, agent, &canned, desk);
    match ReplyText::parse(&text) {
        Ok(text) => Ok(Some(text)),
        Err(reasons) => {
            for reason in reasons {
                form.refuse("canned_reply_id", reason);
            }
            Ok(None)
        }
    }
}
