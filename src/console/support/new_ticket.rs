//! Opening a ticket: as a customer, or as the provider for a customer.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::error_page::Answer;
use crate::console::forms::{self, Field, Sent, Typed};
use crate::console::layout::done;
use crate::console::query::Query;
use crate::console::subjects;
use crate::console::threads;
use crate::console::visit::Visit;
use crate::console::{desk, tickets};
use crate::model::account::DeskAccount;
use crate::model::id::AccountId;
use crate::model::input::Input;
use crate::model::policy::Support;
use crate::model::ticket::{Priority, Summary, TicketText};
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::rules::once::Once;
use crate::rules::subjects::{Offered, Requester, offered};
use crate::store::ReadTx;
use crate::web::App;

const HERE: &str = "/tickets/new";
const DESK_HERE: &str = "/desk/tickets/new";
/// What stays of a form when only a part of it is asked for anew.
const PROPOSED: [&str; 4] = ["about", "account_id", "summary", "about_kind"];

pub async fn form(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> Answer {
    let typed = proposed(&query);
    let words = query.text("find").trim().to_owned();
    let around = app
        .read(caller, move |tx, caller| look(tx, caller, &words))
        .await?;
    Ok(draw(&app, &visit, &typed, &around, false))
}

pub async fn open(State(app): State<App>, visit: Visit, caller: Caller, sent: Sent) -> Answer {
    let (typed, preview) = if sent.text("act") == "preview" {
        (Typed::refused(sent, Vec::new()), true)
    } else {
        let mut object = sent.object(&["summary", "description"]);
        object.extend(subjects::chosen(&sent));
        let (request, newest) = (sent.request(object), sent.newest());
        let opened = app
            .write(caller.clone(), move |tx, caller| {
                rules::tickets::create_once(tx, caller, &request, newest)
            })
            .await;
        let error = match opened {
            Ok(Once::Made(id)) => return Ok(done(&tickets::address(id), "ticket-opened")),
            Ok(Once::Before(id)) => return Ok(done(&tickets::address(id), "ticket-opened-before")),
            Err(error) => error,
        };
        (subjects::refused(sent, error)?, false)
    };
    let around = app.read(caller, move |tx, caller| look(tx, caller, "")).await?;
    Ok(draw(&app, &visit, &typed, &around, preview))
}

/// What a ticket may be about, of that what has these words, and the caller's newest ticket.
fn look(tx: &mut ReadTx, caller: &Caller, words: &str) -> rules::Result<(Vec<Offered>, i64)> {
    let newest = rules::tickets::newest(tx, caller)?;
    Ok((offered(tx, Requester::Tenant(caller), words)?, newest))
}

/// A form with what the address proposes: `?vpc_id=5` comes from the page of that VPC.
fn proposed(query: &Query) -> Typed {
    let mut typed = Typed::default();
    for name in PROPOSED {
        if !query.text(name).is_empty() {
            typed.sent.set(name, query.text(name));
        }
    }
    for attribute in ["vpc_id", "linode_id"] {
        let id = query.text(attribute);
        if !id.is_empty() {
            typed.sent.set("about", format!("{attribute}:{id}"));
        }
    }
    typed
}

fn draw(
    app: &App,
    visit: &Visit,
    typed: &Typed,
    (choices, newest): &(Vec<Offered>, i64),
    preview: bool,
) -> Response {
    let support = &app.store().world().policy.support;
    let body = html! {
        h1 { "Open a ticket" }
        (typed.alert_calling(&[(TEXT.name, TEXT.label)]))
        form .card.wide method="post" action=(HERE) data-draft="ticket" data-with-files {
            (visit.form_token())
            (forms::newest(*newest))
            (subject(typed))
            (subjects::draw(typed, choices, HERE))
            (threads::box_to_write(typed, TEXT, 10, preview))
            (files(support))
            div .actions {
                button .main type="submit" { "Open ticket" }
                (threads::preview_button("description", HERE))
                a .button href="/tickets" { "Cancel" }
            }
        }
    };
    visit.form_page(typed, "Open a ticket", &[tickets::LIST], &body)
}

const FOR_CUSTOMER: &str = "What the customer is told";
const TEXT: Field = Field {
    name: "description",
    label: "What is going on?",
    hint: "What you did, what happened, and what you expected instead.",
    optional: false,
    autofocus: false,
    code: false,
    most: Some(TicketText::MAX),
    check: None,
};

fn subject(typed: &Typed) -> Markup {
    let field = Field {
        name: "summary",
        label: "Subject",
        hint: "In a few words, at most 64 characters.",
        autofocus: true,
        most: Some(Summary::MAX),
        ..Field::default()
    };
    forms::line(typed, field)
}

fn files(support: &Support) -> Markup {
    html! {
        @if support.attachments_per_ticket > 0 {
            div .field {
                span .label { "Files " span .optional { "optional" } }
                (threads::drop_zone(support, 0, None))
                p .no-script.quiet { "You can attach files on the ticket's page, once it is open." }
                (threads::limits(support, 0))
            }
        }
    }
}

// The desk

pub async fn desk_form(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> Answer {
    let typed = proposed(&query);
    let words = query.text("find").trim().to_owned();
    desk_draw(&app, &visit, staff, &typed, words, false).await
}

pub async fn desk_open(State(app): State<App>, visit: Visit, staff: Staff, sent: Sent) -> Answer {
    if sent.has("act") {
        let preview = sent.text("act") == "preview";
        let typed = Typed::refused(sent, Vec::new());
        return desk_draw(&app, &visit, staff, &typed, String::new(), preview).await;
    }
    let mut object = sent.object(&["summary", "description"]);
    object.extend(sent.filled(&["priority"]));
    object.extend(subjects::chosen(&sent));
    object.push(("closable".to_owned(), Input::Bool(sent.has("closable"))));
    object.push(("account_id".to_owned(), account_of(&sent)));
    let (request, newest) = (sent.request(object), sent.newest());
    let opened = app
        .write(staff.clone(), move |tx, staff| {
            rules::desk::create_once(tx, &staff.agent, &request, newest)
        })
        .await;
    match opened {
        Ok(Once::Made(id)) => Ok(done(&desk::address(id), "customer-told")),
        Ok(Once::Before(id)) => Ok(done(&desk::address(id), "ticket-opened-before")),
        Err(error) => {
            let mut typed = subjects::refused(sent, error)?;
            for wrong in &mut typed.wrong {
                wrong.reason = wrong.reason.replace("account_id", "The account's number");
            }
            desk_draw(&app, &visit, staff, &typed, String::new(), false).await
        }
    }
}

fn account_of(sent: &Sent) -> Input {
    match sent.text("account_id").trim().parse() {
        Ok(id) => Input::Integer(id),
        Err(_) if sent.text("account_id").trim().is_empty() => Input::Null,
        Err(_) => Input::Text(sent.text("account_id").to_owned()),
    }
}

async fn desk_draw(
    app: &App,
    visit: &Visit,
    staff: Staff,
    typed: &Typed,
    words: String,
    preview: bool,
) -> Answer {
    let account = match account_of(&typed.sent) {
        Input::Integer(id) => Some(AccountId(id)),
        _ => None,
    };
    let (newest, accounts, whose, choices) = app
        .read(staff, move |tx, _| {
            let newest = rules::desk::newest_opened(tx)?;
            let accounts = rules::accounts::desk_list(tx, &ListRequest::full_page())?.items;
            let (whose, choices) = match account {
                Some(account) => (
                    rules::accounts::desk_view(tx, account).ok(),
                    offered(tx, Requester::Staff(account), &words)?,
                ),
                None => (None, Vec::new()),
            };
            Ok((newest, accounts, whose, choices))
        })
        .await?;
    let body = html! {
        h1 { "Open a ticket for a customer" }
        p .quiet { "The customer sees it among their tickets, under your provider's name, and is told at once." }
        (typed.alert_calling(&[(TEXT.name, FOR_CUSTOMER)]))
        form .card.wide method="post" action=(DESK_HERE) data-draft="desk-ticket" {
            (visit.form_token())
            (forms::newest(newest))
            (account_field(typed, &accounts, whose.as_ref()))
            (subject(typed))
            (subjects::draw(typed, &choices, DESK_HERE))
            (threads::box_to_write(typed, Field { label: FOR_CUSTOMER, hint: "", ..TEXT }, 10, preview))
            div .columns {
                (priority_field(typed))
                label .tick { input type="checkbox" name="closable" checked[typed.sent.has("closable")]; " The customer may close it" }
            }
            div .actions {
                button .main type="submit" { "Open ticket for customer" }
                (threads::preview_button("description", DESK_HERE))
                // After the one that opens the ticket, which is the one for the Enter key.
                button type="submit" name="act" value="account" .no-script formnovalidate { "Show the account and what it has" }
                a .button href="/desk" { "Cancel" }
            }
        }
    };
    let title = "Open a ticket for a customer";
    Ok(visit.form_page(typed, title, &[desk::QUEUE], &body))
}

fn account_field(typed: &Typed, accounts: &[DeskAccount], whose: Option<&DeskAccount>) -> Markup {
    let wrong = typed.reasons("account_id");
    let is_typed = !typed.sent.text("account_id").trim().is_empty();
    html! {
        div .field .wrong[!wrong.is_empty()] {
            label for="f-account-id" { "Account" }
            input #f-account-id type="text" name="account_id" list="accounts" required autocomplete="off"
                value=(typed.sent.text("account_id")) aria-invalid=[(!wrong.is_empty()).then_some("true")]
                hx-get=(DESK_HERE) hx-trigger="load, input changed delay:250ms" hx-include="closest form" hx-params="about,account_id" hx-target="#f-about"
                hx-select="#f-about" hx-select-oob="#account-name:innerHTML" hx-swap="outerHTML" hx-sync="this:replace";
            datalist #accounts {
                @for account in accounts { option value=(account.id) { (account.company) " · " (account.email) } }
            }
            @if !wrong.is_empty() { p .reason { (wrong.join(". ")) } }
            div #account-name role="status" {
                @match whose {
                    Some(account) => p { strong { (account.company) } @if !account.company.is_empty() { " · " } (account.email) },
                    None if is_typed && wrong.is_empty() => p .quiet { "No account has this number. Choose one of the list." },
                    None => {},
                }
            }
            p .hint { "Its number; begin to type a company's name or address to find it." }
        }
    }
}

fn priority_field(typed: &Typed) -> Markup {
    let chosen = Some(typed.sent.text("priority"))
        .filter(|word| !word.is_empty())
        .unwrap_or("normal");
    html! {
        div .field {
            label for="f-priority" { "Priority" }
            select #f-priority name="priority" {
                @for word in Priority::WORDS { option value=(word) selected[word == chosen] { (word) } }
            }
        }
    }
}
