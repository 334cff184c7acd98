//! The page of a ticket at the desk.

mod compose;
mod customer;
mod history;
mod ticket_page;

pub mod actions;
pub mod mails;
pub mod merge;
pub mod network;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use self::compose::{CANNED_FIELD, REOPEN_FORM};
use self::history::thread;
use self::ticket_page::{Forms, PageQuery, TicketPage, canned_reply_in, load};
use crate::console::desk::{QUEUE, assignee, priority, tags, url};
use crate::console::error_page::PageResult;
use crate::console::forms::VERSION_FIELD;
use crate::console::layout::{age, page_url, time};
use crate::console::live;
use crate::console::query::Query;
use crate::console::targets;
use crate::console::threads;
use crate::console::visit::Visit;
use crate::model::entity_tag::EntityTag;
use crate::model::id::{HistoryId, TicketId};
use crate::model::ticket::Status;
use crate::rules::agent::Staff;
use crate::web::App;
use crate::web::extract::At;

pub async fn view(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    query: Query,
) -> PageResult {
    let query = PageQuery {
        page: query.text("page").parse().ok(),
        canned: canned_reply_in(&query.0, CANNED_FIELD),
        after: query.text("after").parse().ok().map(HistoryId),
    };
    let page = app
        .read(staff, move |tx, staff| load(tx, &staff.agent, id, query))
        .await?;
    Ok(render(&app, visit, &page, &Forms::default()))
}

fn render(app: &App, mut visit: Visit, page: &TicketPage, forms: &Forms) -> Response {
    let ticket = &page.desk.ticket;
    let ticket_url = url(ticket.id);
    visit.stream_url = Some(live::desk_url(&page.version, Some(ticket.id)));
    let policy = &app.store().policy();
    let (provider, forbidden) = (policy.support.provider.as_str(), &policy.forbidden_ranges);
    let mut reload_url = format!("{ticket_url}?after={}", page.newest);
    if !page.is_last_page() {
        reload_url = page_url(&reload_url, page.history.page.number);
    }
    let body = html! {
        // htmx loads the updates by other users, and updates the hidden field with the last step.
        div hx-get=(reload_url) hx-trigger=(format!("garth:ticket-{} from:body", ticket.id)) hx-select="#thread" hx-target="#thread"
            hx-swap="outerHTML" hx-select-oob="#head,#context,#since,#also-here,#arrived:innerHTML" {}
        (head(&visit, page, policy.support.reopen_days))
        (forms.action.alert())
        div .sides {
            div .talk {
                (thread(page, provider))
                @if ticket.status == Status::Closed { (compose::closed_notice(&visit, page, forms)) }
                (compose::compose(&visit, page, forms, &policy.support))
            }
            (customer::sidebar(&visit, page, forbidden, policy.outgoing_mail.is_some()))
        }
    };
    visit.form_page(forms.submitted_form(), ticket.summary.as_str(), &[QUEUE], &body)
}

fn head(visit: &Visit, page: &TicketPage, reopen_days: Option<i64>) -> Markup {
    let (desk, ticket) = (&page.desk, &page.desk.ticket);
    html! {
        div #head data-at=(url(ticket.id)) data-closed[ticket.status == Status::Closed] {
            div .title {
                h1 { (priority(desk.priority)) (ticket.summary.as_str()) " " span .id { (ticket.id) } }
                (actions(visit, page, reopen_days))
            }
            dl .facts {
                div { dt { "Status" } dd { (threads::status_tag(ticket.status)) } }
                div { dt { "Assignee" } dd { (assignee(desk, &visit.username)) @if let Some(claim) = &desk.claim { " " span .quiet { "since " (time(claim.since)) } } } }
                @if let Some(targets) = &desk.targets { (targets::facts(targets, ticket.status == Status::Closed)) }
                @if !desk.tags.is_empty() { div { dt { "Tags" } dd { (tags(&desk.tags)) } } }
                @if let Some(target) = ticket.merged_into { div { dt { "Merged into" } dd { a href=(url(target)) { "ticket " (target) } } } }
                @if !page.merged.is_empty() {
                    div { dt { "Merged tickets" } dd { @for source in &page.merged { a href=(url(*source)) { (source) } " " } } }
                }
                div { dt { "Age" } dd { (age(ticket.opened, page.now)) } }
                div { dt { "Last updated" } dd { (threads::time_and_user(ticket.updated, page.updated_by.as_deref())) } }
            }
            @if !page.colleagues.is_empty() {
                p .present role="status" {
                    @for name in &page.colleagues { (threads::avatar(name)) }
                    strong { (page.colleagues.join(", ")) }
                    @if page.colleagues.len() == 1 { " is also viewing this ticket." } @else { " are also viewing this ticket." }
                }
            }
        }
    }
}

/// `reopen_days` are those in which a reply of the customer reopens a closed ticket.
fn actions(visit: &Visit, page: &TicketPage, reopen_days: Option<i64>) -> Markup {
    let desk = &page.desk;
    let ticket_url = url(desk.ticket.id);
    let post = |path: &str, button: Markup| {
        html! { form method="post" novalidate action=(format!("{ticket_url}/{path}")) { (visit.form_token()) (button) } }
    };
    html! {
        div .actions {
            @match &desk.claim {
                _ if desk.ticket.status == Status::Closed => {},
                None => (post("claim", html! { button .main type="submit" data-key="c" { "Assign to me" } })),
                Some(claim) if claim.username == visit.username => (post("release", html! { button type="submit" { "Unassign" } })),
                Some(claim) => (threads::confirmation("Reassign to me", (false, Some("c")), &html! {
                    p { "This ticket is assigned to " strong { (claim.username) } ". Check with them before you reassign it." }
                    (post("claim", html! { input type="hidden" name="take_over" value="yes"; button .main type="submit" { "Reassign from " (claim.username) } }))
                })),
            }
            @if desk.ticket.status != Status::Closed && !page.assignees.is_empty() {
                (threads::confirmation("Assign…", (false, Some("a")), &post("claim", html! {
                    @if let Some(claim) = &desk.claim { p { "This ticket is assigned to " strong { (claim.username) } "." } }
                    // The page shows the assignee.
                    input type="hidden" name="take_over" value="yes";
                    input type="hidden" name=(VERSION_FIELD) value=(EntityTag::of(desk).to_string());
                    label for="assignee" { "Colleague" }
                    select #assignee name="assignee" required {
                        @for name in &page.assignees { option value=(name) { (name) } }
                    }
                    button .main type="submit" { "Assign" }
                })))
            }
            @if desk.ticket.status != Status::Closed { a .button href=(format!("{ticket_url}/merge")) { "Merge into…" } }
            @if desk.ticket.merged_into.is_some() {} @else if desk.ticket.status == Status::Closed {
                button type="submit" form=(REOPEN_FORM) { "Reopen" }
            } @else {
                (threads::confirmation("Close", (false, Some("x")), &html! {
                    p { "The customer sees that the ticket is closed, and "
                        @match reopen_days {
                            Some(days) => { "can reopen it with a reply within " (days) " days." }
                            None => "cannot reply to it.",
                        }
                    }
                    (post("close", html! { input type="hidden" name=(VERSION_FIELD) value=(EntityTag::of(desk).to_string()); button .main type="submit" { "Close ticket " (desk.ticket.id) } }))
                }))
            }
        }
    }
}
