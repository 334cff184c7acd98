//! Tags of tickets, which only staff see (decision 0040).

use std::collections::BTreeSet;

use crate::model::history::HistoryStep;
use crate::model::id::TicketId;
use crate::model::input::Input;
use crate::model::ticket::DeskTicket;
use crate::model::ticket_tag::{self, TicketTag};
use crate::rules::agent::Agent;
use crate::rules::conditions::Condition;
use crate::rules::desk::{author, load_unchanged};
use crate::rules::error::Result;
use crate::rules::form::Form;
use crate::rules::request::Request;
use crate::rules::tags::{MAX_TAGS_PER_OBJECT, too_many_tags};
use crate::rules::tickets::{TicketAuthor, append_history};
use crate::store::history::NewHistory;
use crate::store::{self, ReadTx, WriteTx};

const FIELD: &str = "tags";
/// The field of the tag that is added.
const ADDED: &str = "tag";

/// The first tags in use, by name, for a choice.
pub fn in_use(tx: &mut ReadTx) -> Result<Vec<TicketTag>> {
    const MAX_CHOICES: i64 = 500;
    Ok(store::ticket_tags::in_use(tx, MAX_CHOICES)?)
}

/// The condition that a ticket has this tag, in any case.
pub fn having(tag: &str) -> Condition {
    let parsed = TicketTag::parse(tag).ok();
    Condition::equal(FIELD, parsed.as_ref().map_or(tag, TicketTag::as_str))
}

/// The distinct tags in the form, by name; `None` if the field is missing.
pub(super) fn read(form: &mut Form) -> Option<Vec<TicketTag>> {
    form.value(FIELD)?;
    if form.count(FIELD) > MAX_TAGS_PER_OBJECT {
        form.refuse(FIELD, too_many_tags());
        return None;
    }
    let tags = form.values(FIELD, "a string", |item| match item {
        Input::Text(tag) => Some(TicketTag::parse(tag)),
        _ => None,
    })?;
    Some(tags.into_iter().collect::<BTreeSet<_>>().into_iter().collect())
}

/// Fails if a text is not a tag.
pub fn check(tag: &str) -> Result<()> {
    let request = Request::with_fields([(ADDED, Input::from(tag))]);
    let mut form = request.form()?;
    let tag = form.required(ADDED, TicketTag::parse);
    form.finish(|| tag).map(drop)
}

/// Adds the tag in `tag` to a ticket.
pub fn add(tx: &mut WriteTx, agent: &Agent, id: TicketId, request: &Request) -> Result<()> {
    let desk = load_unchanged(tx, id, request)?;
    let mut form = request.form()?;
    let tag = form.required(ADDED, TicketTag::parse);
    let tags: BTreeSet<_> = desk.tags.iter().cloned().chain(tag.clone()).collect();
    if tags.len() > MAX_TAGS_PER_OBJECT {
        form.refuse(ADDED, too_many_tags());
    }
    form.finish(|| tag)?;
    let author = author(tx, agent);
    set(tx, &desk, &author, &tags.into_iter().collect::<Vec<_>>())
}

/// Replaces the tags of a ticket. The account sees neither the tags nor the change.
pub(super) fn set(
    tx: &mut WriteTx,
    desk: &DeskTicket,
    author: &TicketAuthor,
    tags: &[TicketTag],
) -> Result<()> {
    if tags == desk.tags {
        return Ok(());
    }
    store::ticket_tags::set(tx, desk.ticket.id, tags)?;
    let text = |tags: &[TicketTag]| (!tags.is_empty()).then(|| ticket_tag::join(tags));
    let details = NewHistory {
        before: text(&desk.tags),
        after: text(tags),
        ..NewHistory::default()
    };
    append_history(tx, &desk.ticket, author, HistoryStep::Tags, &details)
}
