//! The page of a ticket on the desk: all that happened to it beside whose it is, and what one can do about it.

mod compose;
mod customer;
mod history;
mod seen;

pub mod acts;
pub mod network;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use self::compose::CANNED;
use self::history::thread;
use self::seen::{Asked, Seen, Writing, canned_in, look};
use crate::console::desk::{QUEUE, address, claim as whose, priority};
use crate::console::error_page::Answer;
use crate::console::forms::SEEN;
use crate::console::layout::{age, page_of, time};
use crate::console::live;
use crate::console::query::Query;
use crate::console::threads;
use crate::console::visit::Visit;
use crate::model::id::{HistoryId, TicketId};
use crate::model::tag::Tag;
use crate::model::ticket::{DeskTicket, Status};
use crate::rules::agent::Staff;
use crate::web::App;
use crate::web::extract::At;

pub async fn view(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    query: Query,
) -> Answer {
    let asked = Asked {
        page: query.text("page").parse().ok(),
        canned: canned_in(&query.0, CANNED),
        after: query.text("after").parse().ok().map(HistoryId),
    };
    let seen = app
        .read(staff, move |tx, staff| look(tx, &staff.agent, id, asked))
        .await?;
    Ok(draw(&app, visit, &seen, &Writing::default()))
}

fn draw(app: &App, mut visit: Visit, seen: &Seen, writing: &Writing) -> Response {
    let ticket = &seen.desk.ticket;
    let here = address(ticket.id);
    visit.live = Some(live::desk_address(&seen.mark, Some(ticket.id)));
    let policy = &app.store().context().policy;
    let (provider, forbidden) = (policy.support.provider.as_str(), &policy.forbidden_ranges);
    let mut live = format!("{here}?after={}", seen.newest);
    if !seen.is_last_page() {
        live = page_of(&live, seen.history.page.number);
    }
    let body = html! {
        // What others do comes in here, and with it up to where the page shows it.
        div hx-get=(live) hx-trigger=(format!("garth:ticket-{} from:body", ticket.id)) hx-select="#thread" hx-target="#thread"
            hx-swap="outerHTML" hx-select-oob="#head,#context,#since,#also-here,#arrived:innerHTML" {}
        (head(&visit, seen))
        (writing.other.alert())
        div .sides {
            div .talk {
                (thread(seen, provider))
                @if ticket.status == Status::Closed { (compose::closed(&visit, seen, writing)) }
                (compose::compose(&visit, seen, writing))
            }
            (customer::context(&visit, seen, forbidden))
        }
    };
    visit.form_page(writing.decisive(), ticket.summary.as_str(), &[QUEUE], &body)
}

fn head(visit: &Visit, seen: &Seen) -> Markup {
    let (desk, ticket) = (&seen.desk, &seen.desk.ticket);
    html! {
        div #head data-at=(address(ticket.id)) data-closed[ticket.status == Status::Closed] {
            div .title {
                h1 { (priority(desk.priority)) (ticket.summary.as_str()) " " span .id { (ticket.id) } }
                (actions(visit, desk))
            }
            dl .facts {
                div { dt { "Status" } dd { (threads::status(ticket.status)) } }
                div { dt { "Whose" } dd { (whose(desk, &visit.username)) @if let Some(claim) = &desk.claim { " " span .quiet { "since " (time(claim.since)) } } } }
                div { dt { "Age" } dd { (age(ticket.opened, seen.now)) } }
                div { dt { "Last change" } dd { (threads::changed(ticket.updated, seen.changed_by.as_deref())) } }
            }
            @if !seen.colleagues.is_empty() {
                p .present role="status" {
                    @for name in &seen.colleagues { (threads::face(name)) }
                    strong { (seen.colleagues.join(", ")) }
                    @if seen.colleagues.len() == 1 { " has this ticket open, too." } @else { " have this ticket open, too." }
                }
            }
        }
    }
}

fn actions(visit: &Visit, desk: &DeskTicket) -> Markup {
    let here = address(desk.ticket.id);
    let post = |path: &str, button: Markup| {
        html! { form method="post" action=(format!("{here}/{path}")) { (visit.form_token()) (button) } }
    };
    html! {
        div .actions {
            @match &desk.claim {
                _ if desk.ticket.status == Status::Closed => {},
                None => (post("claim", html! { button .main type="submit" data-key="c" { "Claim" } })),
                Some(claim) if claim.username == visit.username => (post("release", html! { button type="submit" { "Give back" } })),
                Some(claim) => (threads::confirm("Take over", (false, Some("c")), &html! {
                    p { strong { (claim.username) } " has taken this ticket. Take it over only if you have agreed on it." }
                    (post("claim", html! { input type="hidden" name="take_over" value="yes"; button .main type="submit" { "Take over from " (claim.username) } }))
                })),
            }
            @if desk.ticket.status == Status::Closed {
                (post("reopen", html! { button type="submit" { "Reopen" } }))
            } @else {
                (threads::confirm("Close", (false, None), &html! {
                    p { "The customer is told that the ticket is closed." }
                    (post("close", html! { input type="hidden" name=(SEEN) value=(Tag::of(desk).to_string()); button .main type="submit" { "Close ticket " (desk.ticket.id) } }))
                }))
            }
        }
    }
}
