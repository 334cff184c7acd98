//! Canned replies for the staff.

use crate::model::canned_reply::{CannedLabel, CannedReply, PLACEHOLDERS, Template};
use crate::model::id::{CannedReplyId, TicketId};
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::model::ticket::DeskTicket;
use crate::rules::agent::Agent;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::store::{self, ReadTx, WriteTx};

pub fn list(tx: &mut ReadTx, list: &ListRequest) -> Result<Paged<CannedReply>> {
    let query = list.read(tx.policy(), &store::canned_replies::FIELDS)?;
    Ok(store::canned_replies::list(tx, &query)?)
}

pub fn create(tx: &mut WriteTx, request: &Request) -> Result<CannedReply> {
    let mut form = request.form()?;
    let label = form.required("label", CannedLabel::parse);
    let description = form.required("description", Template::parse);
    refuse_taken_label(tx, &mut form, label.as_ref(), None)?;
    let (label, description) = form.finish(|| Some((label?, description?)))?;
    Ok(store::canned_replies::insert(tx, &label, &description)?)
}

pub fn view(tx: &mut ReadTx, id: CannedReplyId) -> Result<CannedReply> {
    store::canned_replies::find(tx, id)?.ok_or(Error::NotFound)
}

pub fn update(tx: &mut WriteTx, id: CannedReplyId, request: &Request) -> Result<CannedReply> {
    let mut reply = view(tx, id)?;
    request.check_if_match(&reply)?;
    let mut form = request.form()?;
    let label = form.optional("label", CannedLabel::parse);
    let description = form.optional("description", Template::parse);
    refuse_taken_label(tx, &mut form, label.as_ref(), Some(id))?;
    form.finish(|| Some(()))?;

    reply.label = label.unwrap_or(reply.label);
    reply.description = description.unwrap_or(reply.description);
    reply.updated = tx.now_after(reply.updated);
    store::canned_replies::update(tx, &reply)?;
    Ok(reply)
}

pub fn delete(tx: &mut WriteTx, id: CannedReplyId, request: &Request) -> Result<()> {
    let reply = view(tx, id)?;
    request.check_if_match(&reply)?;
    request.require_valid_body()?;
    Ok(store::canned_replies::delete(tx, id)?)
}

/// A canned reply with its placeholders filled in for a ticket.
pub fn preview(tx: &mut ReadTx, agent: &Agent, id: CannedReplyId, request: &Request) -> Result<String> {
    let reply = view(tx, id)?;
    let mut form = request.form()?;
    let ticket = form.required_integer("ticket_id").map(TicketId);
    let found = match ticket {
        Some(ticket) => store::desk::find(tx, ticket)?,
        None => None,
    };
    if ticket.is_some() && found.is_none() {
        form.refuse(
            "ticket_id",
            Reason::new(Code::EntityInvalid, "ticket_id is not valid"),
        );
    }
    let ticket = form.finish(|| found)?;
    Ok(fill(tx, agent, &reply, &ticket))
}

/// Fills in the placeholders.
pub fn fill(tx: &ReadTx, agent: &Agent, reply: &CannedReply, desk: &DeskTicket) -> String {
    reply.description.fill(|name| value(tx, agent, desk, name))
}

/// The placeholders of a canned reply that have no value on this ticket, so that the text has a gap.
pub fn empty_placeholders(
    tx: &ReadTx,
    agent: &Agent,
    reply: &CannedReply,
    desk: &DeskTicket,
) -> Vec<&'static str> {
    let used = reply.description.placeholders();
    let mut empty = PLACEHOLDERS.to_vec();
    empty.retain(|name| used.contains(name) && value(tx, agent, desk, name).is_empty());
    empty
}

/// The value of a placeholder. It is empty if the ticket has none.
fn value(tx: &ReadTx, agent: &Agent, desk: &DeskTicket, name: &str) -> String {
    let ticket = &desk.ticket;
    let entity = ticket.entity.as_ref();
    let provider = tx.policy().support.provider.as_str();
    match name {
        "ticket.id" => ticket.id.to_string(),
        "ticket.summary" => escape_markdown(ticket.summary.as_str()),
        "customer.username" => match &desk.customer {
            Some(customer) => customer.username.clone(),
            // Staff opened the ticket for the customer.
            None if ticket.opener.is_none() && ticket.opened_by == provider => escape_markdown(&desk.company),
            None => ticket.opened_by.clone(),
        },
        "account.id" => ticket.account.to_string(),
        "account.company" => escape_markdown(&desk.company),
        "entity.label" => entity.map_or(String::new(), |entity| escape_markdown(&entity.label)),
        "entity.type" => entity.map_or(String::new(), |entity| entity.kind.word().to_owned()),
        "agent.username" => agent.username.as_str().to_owned(),
        "provider.name" => provider.to_owned(),
        _ => String::new(),
    }
}

/// Escapes Markdown, so that a customer's text cannot become a link in the provider's reply.
fn escape_markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '[' | ']' | '<') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

fn refuse_taken_label(
    tx: &mut ReadTx,
    form: &mut Form,
    label: Option<&CannedLabel>,
    except: Option<CannedReplyId>,
) -> Result<()> {
    if let Some(label) = label
        && store::canned_replies::has_label(tx, label, except)?
    {
        let text = "Label must be unique among the canned replies";
        form.refuse("label", Reason::new(Code::LabelTaken, text));
    }
    Ok(())
}
