//! JSON views of tickets for the provider's staff.

use std::convert;

use axum::extract::State;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::api::tickets::TicketView;
use crate::model::id::{AttachmentId, TicketId};
use crate::model::target::{TargetProgress, TicketTargets};
use crate::model::ticket::{Customer, DeskTicket};
use crate::model::ticket_tag::TicketTag;
use crate::model::time::Time;
use crate::rules::agent::Staff;
use crate::rules::lists::ListRequest;
use crate::rules::{self, Result};
use crate::web::extract::{At, Search};
use crate::web::{App, answer};
use crate::web::{downloads, upload};

#[derive(Serialize)]
pub struct DeskTicketView<'a> {
    #[serde(flatten)]
    ticket: TicketView<'a>,
    account_id: i64,
    account: AccountView<'a>,
    customer: Option<CustomerView<'a>>,
    priority: &'static str,
    tags: Vec<&'a str>,
    targets: Option<TargetsView>,
    claimed_by: Option<&'a str>,
    #[serde(serialize_with = "answer::optional_time")]
    claimed: Option<Time>,
    managed_issue: bool,
    merged_into: Option<i64>,
    replies: i64,
    notes: i64,
}

#[derive(Serialize)]
struct AccountView<'a> {
    id: i64,
    company: &'a str,
    email: &'a str,
}

#[derive(Serialize)]
struct TargetsView {
    paused: bool,
    first_response: Option<TargetView>,
    resolution: Option<TargetView>,
}

#[derive(Serialize)]
struct TargetView {
    target_seconds: i64,
    remaining_seconds: i64,
    #[serde(serialize_with = "answer::optional_time")]
    due: Option<Time>,
    #[serde(serialize_with = "answer::optional_time")]
    reached: Option<Time>,
    met: bool,
    breached: bool,
}

#[derive(Serialize)]
struct CustomerView<'a> {
    username: &'a str,
    email: &'a str,
    restricted: bool,
}

impl<'a> DeskTicketView<'a> {
    pub fn new(desk: &'a DeskTicket) -> Self {
        let account = desk.ticket.account.0;
        Self {
            ticket: TicketView::new(&desk.ticket),
            account_id: account,
            account: AccountView {
                id: account,
                company: &desk.company,
                email: &desk.email,
            },
            customer: desk.customer.as_ref().map(CustomerView::new),
            priority: desk.priority.word(),
            tags: desk.tags.iter().map(TicketTag::as_str).collect(),
            targets: desk.targets.as_ref().map(TargetsView::new),
            claimed_by: desk.claim.as_ref().map(|claim| claim.username.as_str()),
            claimed: desk.claim.as_ref().map(|claim| claim.since),
            managed_issue: desk.managed_issue,
            merged_into: desk.ticket.merged_into.map(|target| target.0),
            replies: desk.ticket.replies,
            notes: desk.notes,
        }
    }
}

impl TargetsView {
    fn new(targets: &TicketTargets) -> Self {
        Self {
            paused: targets.is_paused,
            first_response: targets.first_response.as_ref().map(TargetView::new),
            resolution: targets.resolution.as_ref().map(TargetView::new),
        }
    }
}

impl TargetView {
    fn new(target: &TargetProgress) -> Self {
        Self {
            target_seconds: target.target_seconds,
            remaining_seconds: target.remaining_seconds,
            due: target.due,
            reached: target.reached,
            met: target.is_met(),
            breached: target.is_breached(),
        }
    }
}

impl<'a> CustomerView<'a> {
    fn new(customer: &'a Customer) -> Self {
        Self {
            username: &customer.username,
            email: &customer.email,
            restricted: customer.restricted,
        }
    }
}

/// Lists tickets. Unlike other lists, this list also accepts search words.
pub async fn list(
    State(app): State<App>,
    staff: Staff,
    list: ListRequest,
    Search(words): Search,
) -> Result<Response> {
    app.read(staff, move |tx, _| {
        let tickets = rules::desk::list(tx, &list, words.as_deref())?;
        Ok(answer::page(&tickets, DeskTicketView::new))
    })
    .await
}

pub async fn attach(
    State(app): State<App>,
    staff: Staff,
    At(ticket): At<TicketId>,
    request: axum::extract::Request,
) -> Result<Response> {
    upload::receive_attachment(app, staff.into(), ticket, request, convert::identity).await?;
    Ok(answer::done())
}

pub async fn download(
    State(app): State<App>,
    staff: Staff,
    At((ticket, id)): At<(TicketId, AttachmentId)>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response> {
    downloads::send_to_staff(app, staff, (ticket, id), &method, &headers).await
}

pub fn one(ticket: &DeskTicket, _: &ViewContext) -> Response {
    answer::one(ticket, &DeskTicketView::new(ticket))
}
