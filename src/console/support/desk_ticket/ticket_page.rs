//! The data of a ticket's page, and the state of its forms.

use super::network::{self, Networks};
use crate::console::forms::{FormData, FormState};
use crate::console::provider::account_networks;
use crate::model::attachment::Attachment;
use crate::model::canned_reply::CannedReply;
use crate::model::history::History;
use crate::model::id::{CannedReplyId, HistoryId, TicketId};
use crate::model::input::Input;
use crate::model::outgoing_mail::{MailState, UndeliveredMail};
use crate::model::page::Paged;
use crate::model::received_mail::FoldedText;
use crate::model::ticket::{DeskTicket, Status};
use crate::model::time::Time;
use crate::rules;
use crate::rules::agent::Agent;
use crate::rules::conditions::Condition;
use crate::rules::desk_version::DeskVersion;
use crate::rules::lists::ListRequest;
use crate::store::ReadTx;

/// The number of history steps per page.
const STEPS_PER_PAGE: i64 = 200;

/// The data of the page.
pub struct TicketPage {
    pub desk: DeskTicket,
    pub version: DeskVersion,
    /// The newest step of the history.
    pub newest: HistoryId,
    pub history: Paged<History>,
    /// The quoted texts of messages that arrived by mail.
    pub folded: Vec<FoldedText>,
    pub files: Vec<Attachment>,
    /// The canned replies to choose from.
    pub canned: Vec<CannedReply>,
    /// The selected canned reply, with its placeholders filled in.
    pub filled: Option<Filled>,
    /// The staff to whom the ticket can be assigned, except the agent and the assignee.
    pub assignees: Vec<String>,
    /// The colleagues who also have the ticket open.
    pub colleagues: Vec<String>,
    /// The users of the account who can read the ticket.
    pub readers: Vec<String>,
    /// The steps of other users since the page was opened.
    pub updates: Vec<History>,
    pub networks: Networks,
    /// The page of the VPC or instance that the ticket is about, if it exists.
    pub entity_url: Option<String>,
    /// The other open tickets of the account.
    pub others: Paged<DeskTicket>,
    /// The tickets that were merged into this ticket.
    pub merged: Vec<TicketId>,
    /// The number of mails about the ticket.
    pub mails: i64,
    /// The mails about the shown messages that were not delivered, or not yet.
    pub undelivered: Vec<UndeliveredMail>,
    /// The number of mails that did not reach their recipient.
    pub failed_mails: i64,
    /// The user who last updated the ticket, customer or staff.
    pub updated_by: Option<String>,
    pub now: Time,
}

/// A canned reply with the values of the ticket.
pub struct Filled {
    pub id: CannedReplyId,
    pub text: String,
    /// The placeholders that have no value on this ticket.
    pub empty: Vec<&'static str>,
}

impl TicketPage {
    /// Whether the newest steps are on the page.
    pub fn is_last_page(&self) -> bool {
        self.history.page.number >= self.history.pages()
    }
}

/// The query parameters of the page.
#[derive(Clone, Copy, Default)]
pub struct PageQuery {
    pub page: Option<i64>,
    /// The canned reply to preview.
    pub canned: Option<CannedReplyId>,
    /// The last step that the user has seen.
    pub after: Option<HistoryId>,
}

/// The state of the forms of the page.
#[derive(Default)]
pub struct Forms {
    /// The form for replies and notes.
    pub compose: FormState,
    /// Whether the user writes a note, not a reply.
    pub is_note: bool,
    /// The names of the files that the user had selected and that were not attached.
    pub unsent_files: Vec<String>,
    /// The field to show a preview of.
    pub preview: Option<&'static str>,
    /// The form of any other action.
    pub action: FormState,
}

impl Forms {
    /// The form that sets the status of the response.
    pub fn submitted_form(&self) -> &FormState {
        match self.action.errors.is_empty() {
            true => &self.compose,
            false => &self.action,
        }
    }
}

/// The ID of a canned reply in a form field.
pub fn canned_reply_in(data: &FormData, field: &str) -> Option<CannedReplyId> {
    data.text(field).parse().ok().map(CannedReplyId)
}

/// The condition that a mail did not reach its recipient.
fn failed_mail() -> Condition {
    let states = [MailState::Failed, MailState::Bounced];
    Condition::Any(
        states
            .into_iter()
            .map(|state| Condition::equal("state", state.word()))
            .collect(),
    )
}

pub fn load(tx: &mut ReadTx, agent: &Agent, id: TicketId, query: PageQuery) -> rules::Result<TicketPage> {
    let desk = rules::desk::view(tx, id)?;
    let steps = |page: i64| ListRequest::first(STEPS_PER_PAGE).at(page);
    let mut history = rules::history::list(tx, id, &steps(query.page.unwrap_or(1)))?;
    if query.page.is_none() && history.pages() > 1 {
        history = rules::history::list(tx, id, &steps(history.pages()))?;
    }
    let files = rules::desk_attachments::list(tx, id, &ListRequest::full_page())?.items;
    let canned = rules::canned_replies::list(tx, &ListRequest::full_page())?.items;
    let filled = query
        .canned
        .and_then(|id| canned.iter().find(|reply| reply.id == id));
    let filled = filled.map(|reply| Filled {
        id: reply.id,
        text: rules::canned_replies::fill(tx, agent, reply, &desk),
        empty: rules::canned_replies::empty_placeholders(tx, agent, reply, &desk),
    });
    let other_tickets = ListRequest::first(25)
        .only(Condition::equal("account_id", desk.ticket.account))
        .only(Condition::not_equal("status", Status::Closed.word()))
        .only(Condition::not_equal("id", id));
    let is_other = |name: &str| {
        name != agent.username.as_str() && desk.claim.as_ref().is_none_or(|claim| claim.username != name)
    };
    let staff = ListRequest::full_page().only(Condition::equal("disabled", Input::Bool(false)));
    let staff = rules::staff::list(tx, &staff)?.items.into_iter();
    let assignees = staff.map(|user| user.username.as_str().to_owned());
    let assignees = assignees.filter(|name| is_other(name)).collect();
    let shown: Vec<_> = history.items.iter().filter_map(|step| step.reply).collect();
    Ok(TicketPage {
        folded: rules::received_mails::folded(tx, id, &shown)?,
        undelivered: rules::outgoing_mails::undelivered(tx, id, &shown)?,
        newest: rules::history::newest(tx, id)?,
        version: rules::desk_version::current(tx, agent, Some(id))?,
        colleagues: rules::viewers::others(tx, agent, id)?,
        readers: rules::readers::names(tx, &desk.ticket)?,
        updates: match query.after {
            Some(after) => rules::history::since(tx, agent, id, after)?,
            None => Vec::new(),
        },
        networks: network::load(tx, &desk.ticket)?,
        entity_url: rules::ticket_network::existing_entity(tx, &desk.ticket)?
            .and_then(|entity| account_networks::entity_url(desk.ticket.account, entity)),
        others: rules::desk::list(tx, &other_tickets, None)?,
        merged: rules::merges::sources(tx, id)?,
        mails: rules::outgoing_mails::list(tx, id, &ListRequest::first(25))?.results,
        failed_mails: rules::outgoing_mails::list(tx, id, &ListRequest::first(25).only(failed_mail()))?
            .results,
        updated_by: rules::history::last_changers(tx, &[id])?.remove(&id),
        now: tx.now(),
        desk,
        history,
        files,
        canned,
        filled,
        assignees,
    })
}
