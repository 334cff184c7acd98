//! The page that merges a ticket into another ticket of the customer: a search, then a confirmation.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::desk::{QUEUE, account_name, url};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, FormData, FormState, VERSION_FIELD};
use crate::console::layout::{age, redirect_with_notice};
use crate::console::query::{MAX_SEARCH_CHARS, Query};
use crate::console::threads;
use crate::console::visit::Visit;
use crate::model::entity_tag::EntityTag;
use crate::model::id::TicketId;
use crate::model::input::Input;
use crate::model::page::Paged;
use crate::model::ticket::{DeskTicket, Status};
use crate::model::time::Time;
use crate::rules::agent::Staff;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::rules::{self, Error};
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

/// The number of tickets to choose from.
const MAX_LISTED: i64 = 50;

/// The data of the page.
struct MergePage {
    source: DeskTicket,
    /// The selected ticket, if the page is the confirmation.
    target: Option<DeskTicket>,
    /// The open tickets of the account that match the search, each with the reason why it cannot be the target.
    candidates: Paged<(DeskTicket, Option<String>)>,
    now: Time,
}

pub async fn view(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    query: Query,
) -> PageResult {
    render(
        &app,
        &visit,
        staff,
        id,
        &FormState::with_errors(query.0, Vec::new()),
    )
    .await
}

pub async fn send(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    data: FormData,
) -> PageResult {
    let into = target_in(&data).map_or(Input::Null, |into| Input::Integer(into.0));
    let request = data.request(vec![("into".to_owned(), into)]);
    let merged = app
        .write(staff.clone(), move |tx, staff| {
            rules::merges::create(tx, &staff.agent, id, &request)
        })
        .await;
    match merged {
        Ok(source) => {
            let target = source.ticket.merged_into.unwrap_or(id);
            Ok(redirect_with_notice(&url(target), "ticket-merged"))
        }
        Err(error) => render(&app, &visit, staff, id, &forms::from_error(data, error)?).await,
    }
}

/// The selected target. Staff can type it with `#`.
fn target_in(data: &FormData) -> Option<TicketId> {
    let text = data.text("into").trim().trim_start_matches('#');
    text.parse().ok().map(TicketId)
}

async fn render(app: &App, visit: &Visit, staff: Staff, id: TicketId, form_state: &FormState) -> PageResult {
    let (words, into) = (form_state.data.text("q").to_owned(), target_in(&form_state.data));
    let page = app.read(staff, move |tx, _| load(tx, id, &words, into)).await?;
    Ok(render_page(visit, &page, form_state))
}

fn load(tx: &mut ReadTx, id: TicketId, words: &str, into: Option<TicketId>) -> rules::Result<MergePage> {
    let source = rules::desk::view(tx, id)?;
    let account = source.ticket.account;
    let number = words
        .trim()
        .strip_prefix('#')
        .and_then(|number| number.parse::<i64>().ok());
    let mut list = ListRequest::first(MAX_LISTED)
        .only(Condition::equal("account_id", account))
        .only(Condition::not_equal("status", Status::Closed.word()))
        .only(Condition::not_equal("id", id));
    if let Some(number) = number {
        list = list.only(Condition::equal("id", number));
    }
    let has_letters = words.chars().any(char::is_alphanumeric) && number.is_none();
    let search = has_letters.then_some(words);
    let target = match into.map(|into| rules::desk::view(tx, into)) {
        None | Some(Err(Error::NotFound)) => None,
        Some(found) => Some(found?),
    };
    let candidates = rules::desk::list(tx, &list, search)?.try_map(|candidate| {
        let missing_access = rules::merges::missing_access(tx, &source.ticket, &candidate.ticket)?;
        Ok::<_, Error>((candidate, missing_access))
    })?;
    Ok(MergePage {
        candidates,
        target: target.filter(|target| target.ticket.account == account && target.ticket.id != id),
        source,
        now: tx.now(),
    })
}

fn render_page(visit: &Visit, page: &MergePage, form_state: &FormState) -> Response {
    let source = &page.source.ticket;
    let (source_url, label) = (url(source.id), format!("Ticket {}", source.id));
    let body = html! {
        h1 { "Merge ticket " (source.id) }
        (form_state.alert())
        @match &page.target {
            Some(target) => (confirmation(visit, page, target)),
            None => (search(page, form_state)),
        }
    };
    let breadcrumbs = [QUEUE, (label.as_str(), source_url.as_str())];
    visit.form_page(form_state, "Merge ticket", &breadcrumbs, &body)
}

fn search(page: &MergePage, form_state: &FormState) -> Markup {
    let merge_url = format!("{}/merge", url(page.source.ticket.id));
    html! {
        p { "Choose the ticket of " (account_name(&page.source)) " that continues ticket " (page.source.ticket.id) ", “" (page.source.ticket.summary.as_str()) "”." }
        form .search role="search" method="get" action=(merge_url) {
            div .field {
                label for="q" { "Search" }
                input #q type="search" name="q" value=(form_state.data.text("q")) autocomplete="off" spellcheck="false"
                    maxlength=(MAX_SEARCH_CHARS) placeholder="Text in tickets, replies and notes, or #ID";
            }
            button type="submit" { "Search" }
        }
        @if page.candidates.items.is_empty() {
            p .quiet { "No other open ticket of this account matches. A closed ticket must be reopened first." }
        } @else {
            table .list {
                thead { tr { th scope="col" { "Ticket" } th scope="col" { "Status" } th scope="col" { "Opened by" } th scope="col" .number { "Age" } } }
                tbody {
                    @for (candidate, missing_access) in &page.candidates.items {
                        @let ticket = &candidate.ticket;
                        tr {
                            th scope="row" {
                                @match missing_access {
                                    None => { a href=(format!("{merge_url}?into={}", ticket.id)) { (ticket.summary.as_str()) } " " span .id { (ticket.id) } },
                                    Some(reason) => { (ticket.summary.as_str()) " " span .id { (ticket.id) } p .quiet.small { "Cannot be chosen: " (reason) } },
                                }
                            }
                            td data-label="Status" { (threads::status_tag(ticket.status)) }
                            td data-label="Opened by" { (ticket.opened_by) }
                            td .number data-label="Age" { (age(ticket.opened, page.now)) }
                        }
                    }
                }
            }
            @if page.candidates.pages() > 1 { p .hint { "The first " (MAX_LISTED) " tickets are shown. Search to find others." } }
        }
    }
}

fn confirmation(visit: &Visit, page: &MergePage, target: &DeskTicket) -> Markup {
    let (source, target) = (&page.source.ticket, &target.ticket);
    let merge_url = format!("{}/merge", url(source.id));
    html! {
        form .card method="post" novalidate action=(merge_url) {
            (visit.form_token())
            input type="hidden" name=(VERSION_FIELD) value=(EntityTag::of(&page.source).to_string());
            input type="hidden" name="into" value=(target.id);
            dl .facts {
                div { dt { "This ticket" } dd { (source.summary.as_str()) " " span .id { (source.id) } } }
                div { dt { "Continues in" } dd { a href=(url(target.id)) { (target.summary.as_str()) } " " span .id { (target.id) } } }
            }
            ul {
                li { "Ticket " (target.id) " gets a message to the customer with all messages of ticket " (source.id) ". Files and internal notes remain in ticket " (source.id) "." }
                li { "Ticket " (source.id) " is closed with a message to the customer that names ticket " (target.id) "." }
                li { "Replies by mail to ticket " (source.id) " go to ticket " (target.id) "." }
            }
            p { strong { "A merge cannot be undone." } }
            div .actions {
                button .main.danger type="submit" { "Merge into ticket " (target.id) }
                a .button href=(merge_url) { "Choose another ticket" }
                a .button href=(url(source.id)) { "Cancel" }
            }
        }
    }
}
