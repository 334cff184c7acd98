//! The page of a ticket on the desk: all that happened to it beside whose it is, and what one can do about it.

mod compose;
mod customer;

pub mod acts;
pub mod network;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use self::compose::CANNED;
use self::network::Network;
use crate::console::desk::{QUEUE, address, claim as whose, priority};
use crate::console::forms::{SEEN, Sent, Typed};
use crate::console::layout::{age, page_of, pager, time};
use crate::console::live;
use crate::console::query::Query;
use crate::console::session::{Answer, Visit};
use crate::console::threads::{self, Message, Side};
use crate::model::attachment::Attachment;
use crate::model::canned_reply::CannedReply;
use crate::model::history::{History, Step};
use crate::model::id::{CannedReplyId, HistoryId, TicketId};
use crate::model::input::Input;
use crate::model::page::Paged;
use crate::model::tag::Tag;
use crate::model::ticket::{DeskTicket, Status};
use crate::model::time::Time;
use crate::rules;
use crate::rules::agent::{Agent, Staff};
use crate::rules::desk::Mark;
use crate::rules::lists::ListRequest;
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

/// How many steps are on a page.
const FEW: i64 = 200;

/// All that is on the page.
struct Seen {
    desk: DeskTicket,
    mark: Mark,
    /// The step of the history up to which it is shown.
    newest: HistoryId,
    history: Paged<History>,
    files: Vec<Attachment>,
    canned: Vec<CannedReply>,
    /// The canned reply that is looked at, as it would be sent.
    filled: Option<(CannedReplyId, String)>,
    colleagues: Vec<String>,
    /// What others have done since the page was opened.
    arrived: Vec<History>,
    networks: Vec<Network>,
    /// Other tickets of the account that are open.
    others: Paged<DeskTicket>,
    /// Who of the two sides changed it last.
    changed_by: Option<String>,
    now: Time,
}

impl Seen {
    /// Whether the newest steps are on the page.
    fn is_last_page(&self) -> bool {
        self.history.page.number >= self.history.pages()
    }
}

/// What is asked for besides the ticket.
#[derive(Clone, Copy, Default)]
struct Asked {
    page: Option<i64>,
    canned: Option<CannedReplyId>,
    /// The step after which everything is news.
    after: Option<HistoryId>,
}

/// What was typed on the page, and what came of it.
#[derive(Default)]
struct Writing {
    /// What is in the boxes.
    typed: Typed,
    /// Whether it is the note that is being written, and not the reply.
    noting: bool,
    /// The field whose preview is asked for.
    preview: Option<&'static str>,
    other: Typed,
}

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
    Ok(draw(&app, visit, StatusCode::OK, &seen, &Writing::default()))
}

/// The canned reply that a field names.
fn canned_in(sent: &Sent, field: &str) -> Option<CannedReplyId> {
    sent.text(field).parse().ok().map(CannedReplyId)
}

fn look(tx: &mut ReadTx, agent: &Agent, id: TicketId, asked: Asked) -> rules::Result<Seen> {
    let desk = rules::desk::view(tx, id)?;
    let list = |page: i64, size: i64| ListRequest {
        page: Some(page.max(1).to_string()),
        page_size: Some(size.to_string()),
        ..ListRequest::default()
    };
    let mut history = rules::desk::history(tx, id, &list(asked.page.unwrap_or(1), FEW))?;
    if asked.page.is_none() && history.pages() > 1 {
        history = rules::desk::history(tx, id, &list(history.pages(), FEW))?;
    }
    let files = rules::desk::attachments(tx, id, &list(1, 500))?.items;
    let canned = rules::canned_replies::list(tx, &list(1, 500))?.items;
    let filled = asked
        .canned
        .and_then(|id| canned.iter().find(|reply| reply.id == id));
    let filled = filled.map(|reply| (reply.id, rules::canned_replies::fill(tx, agent, reply, &desk)));
    let object = |key: &str, value: Input| (key.to_owned(), value);
    let open = Input::Object(vec![object(
        "+neq",
        Input::Text(Status::Closed.word().to_owned()),
    )]);
    let its_others = Input::Object(vec![
        object("account_id", Input::Integer(desk.ticket.account.0)),
        object("status", open),
        object("id", Input::Object(vec![object("+neq", Input::Integer(id.0))])),
    ]);
    let others = ListRequest {
        filter: Some(Ok(its_others)),
        ..list(1, 25)
    };
    Ok(Seen {
        newest: rules::desk::newest(tx, id)?,
        mark: rules::desk::mark(tx, agent, Some(id))?,
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

fn draw(app: &App, mut visit: Visit, status: StatusCode, seen: &Seen, writing: &Writing) -> Response {
    let ticket = &seen.desk.ticket;
    let here = address(ticket.id);
    visit.live = Some(live::desk_address(&seen.mark, Some(ticket.id)));
    let policy = &app.store().world().policy;
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
    visit.page_with(status, ticket.summary.as_str(), &[QUEUE], &body)
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

fn thread(seen: &Seen, provider: &str) -> Markup {
    let ticket = &seen.desk.ticket;
    let opener = match &seen.desk.customer {
        Some(customer) => customer.username.as_str(),
        None => ticket.opened_by.as_str(),
    };
    let by_provider = ticket.opener.is_none() && ticket.opened_by == provider;
    html! {
        div #thread .thread aria-label="What happened" {
            @if seen.history.page.number == 1 {
                (threads::message(&Message {
                    by: opener, side: if by_provider { Side::Staff } else { Side::Customer }, at: ticket.opened,
                    text: ticket.description.as_str(), provider,
                }))
            }
            @for step in &seen.history.items { (draw_step(step, provider, &address(ticket.id))) }
            (pager(&seen.history, &address(ticket.id)))
        }
    }
}

/// A step of the history: words as a message, deeds on a line.
fn draw_step(step: &History, provider: &str, here: &str) -> Markup {
    if let Some(text) = &step.description {
        let side = match (step.note, step.from_staff) {
            (Some(_), _) => Side::Note,
            (None, true) => Side::Staff,
            (None, false) => Side::Customer,
        };
        let message = threads::message(&Message {
            by: &step.created_by,
            side,
            at: step.created,
            text,
            provider,
        });
        return html! { div #(place_of(step)) { (message) } };
    }
    let file = step.attachment.map(|id| format!("{here}/attachments/{id}"));
    let file = file.filter(|_| step.step == Step::Attachment);
    html! {
        p #(place_of(step)) .step {
            strong { (step.created_by) } " " (deed(step, file.as_deref()))
            " · " (time(step.created))
        }
    }
}

/// What a step is called in the page's own links.
fn place_of(step: &History) -> String {
    format!("step-{}", step.id)
}

/// What somebody did, as it follows their name; `file` is where an attached one can be had.
fn deed(step: &History, file: Option<&str>) -> Markup {
    let (before, after) = (
        step.before.as_deref().unwrap_or("–"),
        step.after.as_deref().unwrap_or("–"),
    );
    html! {
        @match step.step {
            Step::Opened => "opened the ticket",
            Step::Reply => "replied",
            Step::Note => "wrote an internal note",
            Step::Claim if step.before.is_some() => { "took the ticket over from " (before) }
            Step::Claim => "claimed the ticket",
            Step::Release => "gave the ticket back",
            Step::Close => "closed the ticket",
            Step::Reopen => "reopened the ticket",
            Step::Closable if after == "true" => "let the customer close it",
            Step::Closable => "kept the customer from closing it",
            Step::Priority => { "set the priority from " (before) " to " (after) }
            Step::Attachment => { "attached " @match file { Some(file) => a href=(file) download { (after) }, None => (after) } }
            Step::AttachmentRefused => { "tried to attach " em { (after) } ", which the scanner refused" }
            Step::Download => { "downloaded " em { (after) } }
        }
    }
}
