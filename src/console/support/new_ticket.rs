//! The forms to open a ticket, for customers and for staff.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::error_page::PageResult;
use crate::console::forms::{self, Field, FormData, FormState};
use crate::console::layout::redirect_with_notice;
use crate::console::query::Query;
use crate::console::subjects;
use crate::console::threads;
use crate::console::visit::Visit;
use crate::console::{desk, tickets};
use crate::model::account::DeskAccount;
use crate::model::id::AccountId;
use crate::model::input::Input;
use crate::model::policy::Support;
use crate::model::reason::{Code, Reason};
use crate::model::ticket::{Priority, Summary};
use crate::rules::agent::Staff;
use crate::rules::caller::Caller;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::rules::subjects::{Candidate, Requester, candidates};
use crate::rules::submission::Submission;
use crate::rules::{self, Error};
use crate::store::ReadTx;
use crate::web::App;

const NEW_TICKET_URL: &str = "/tickets/new";
const DESK_NEW_TICKET_URL: &str = "/desk/tickets/new";
/// The fields that the query can prefill.
const PREFILLED_FIELDS: [&str; 4] = ["about", "account_id", "summary", "about_kind"];
/// The hidden field with the object or the subject that the form was opened for. Each has its own draft.
const DRAFT_FIELD: &str = "draft";

pub async fn form(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    let form_state = prefilled(&query);
    let words = query.text("find").trim().to_owned();
    let choices = app
        .read(caller, move |tx, caller| load(tx, caller, &words))
        .await?;
    Ok(render(&app, &visit, &form_state, &choices, false))
}

pub async fn open(State(app): State<App>, visit: Visit, caller: Caller, data: FormData) -> PageResult {
    let (form_state, shows_preview) = if data.text("act") == "preview" {
        (FormState::with_errors(data, Vec::new()), true)
    } else if let Some(error) = subjects::missing_type(&data) {
        (subjects::from_error(data, error)?, false)
    } else {
        let mut object = data.object(&["summary", "description"]);
        object.extend(subjects::selected_fields(&data));
        let (request, newest) = (data.request(object), data.newest_id());
        let opened = app
            .write(caller.clone(), move |tx, caller| {
                rules::tickets::create_once(tx, caller, &request, newest)
            })
            .await;
        let error = match opened {
            Ok(Submission::Created(id)) => {
                return Ok(redirect_with_notice(&tickets::url(id), "ticket-opened"));
            }
            Ok(Submission::Duplicate(id)) => {
                return Ok(redirect_with_notice(&tickets::url(id), "ticket-opened-before"));
            }
            Err(error) => error,
        };
        (subjects::from_error(data, error)?, false)
    };
    let choices = app.read(caller, move |tx, caller| load(tx, caller, "")).await?;
    Ok(render(&app, &visit, &form_state, &choices, shows_preview))
}

/// The resources to select from, filtered by these words, and the ID of the caller's newest ticket.
fn load(tx: &mut ReadTx, caller: &Caller, words: &str) -> rules::Result<(Vec<Candidate>, i64)> {
    let newest = rules::tickets::newest(tx, caller)?;
    Ok((candidates(tx, Requester::Tenant(caller), words)?, newest))
}

/// The form with the values of the query. The page of a VPC links here with `?vpc_id=5`.
fn prefilled(query: &Query) -> FormState {
    let mut form_state = FormState::default();
    for name in PREFILLED_FIELDS {
        if !query.text(name).is_empty() {
            form_state.data.set(name, query.text(name));
        }
    }
    for attribute in ["vpc_id", "linode_id"] {
        let id = query.text(attribute);
        if !id.is_empty() {
            form_state.data.set("about", format!("{attribute}:{id}"));
        }
    }
    let opened_for = ["about", "summary"].map(|name| form_state.data.text(name).to_owned());
    if let Some(draft) = opened_for.into_iter().find(|text| !text.is_empty()) {
        form_state.data.set(DRAFT_FIELD, draft);
    }
    form_state
}

/// The name of the draft of a form.
fn draft_name(form_state: &FormState) -> String {
    match form_state.data.text(DRAFT_FIELD) {
        "" => "ticket".to_owned(),
        opened_for => format!("ticket-{opened_for}"),
    }
}

fn render(
    app: &App,
    visit: &Visit,
    form_state: &FormState,
    (choices, newest): &(Vec<Candidate>, i64),
    shows_preview: bool,
) -> Response {
    let policy = app.store().policy();
    let support = &policy.support;
    let body = html! {
        h1 { "Open a ticket" }
        (form_state.alert_with_labels(&[(DESCRIPTION.name, DESCRIPTION.label)]))
        form .card.wide method="post" novalidate action=(NEW_TICKET_URL) data-draft=(draft_name(form_state)) data-with-files {
            (visit.form_token())
            @let opened_for = form_state.data.text(DRAFT_FIELD);
            @if !opened_for.is_empty() { input type="hidden" name=(DRAFT_FIELD) value=(opened_for); }
            (forms::newest_id_field(*newest))
            (subject(form_state, true))
            (subjects::render(form_state, choices, NEW_TICKET_URL))
            (threads::markdown_editor(form_state, DESCRIPTION, 10, shows_preview))
            (files(support))
            div .actions {
                button .main type="submit" { "Open ticket" }
                (threads::preview_button("description", NEW_TICKET_URL))
                a .button href="/tickets" data-discard { "Cancel" }
            }
        }
    };
    visit.form_page(form_state, "Open a ticket", &[tickets::LIST], &body)
}

const MESSAGE_LABEL: &str = "Message to the customer";
const DESCRIPTION: Field = Field {
    name: "description",
    label: "Description",
    hint: "What you did, what happened, and what you expected.",
    optional: false,
    autofocus: false,
    code: false,
    // The browser would cut a longer text without a message. The server refuses it with one.
    max_chars: None,
    check_url: None,
};

fn subject(form_state: &FormState, autofocus: bool) -> Markup {
    let field = Field {
        name: "summary",
        label: "Subject",
        hint: "Up to 64 characters.",
        autofocus,
        max_chars: Some(Summary::MAX),
        ..Field::default()
    };
    forms::text_input(form_state, field)
}

fn files(support: &Support) -> Markup {
    html! {
        @if support.attachments_per_ticket > 0 {
            div .field {
                span .label { "Files " span .optional { "optional" } }
                (threads::drop_zone(support, 0, None))
                p .no-script.quiet { "You can attach files after the ticket is opened." }
                (threads::upload_limits(support, 0))
            }
        }
    }
}

// Staff

pub async fn desk_form(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    let mut form_state = prefilled(&query);
    form_state
        .data
        .set(LINKED_ACCOUNT, query.text("account_id").trim());
    let words = query.text("find").trim().to_owned();
    render_desk_form(&app, &visit, staff, &form_state, words, false).await
}

pub async fn desk_open(State(app): State<App>, visit: Visit, staff: Staff, mut data: FormData) -> PageResult {
    let text = data.text("account_id").to_owned();
    let account = app
        .read(staff.clone(), move |tx, _| find_account(tx, &text))
        .await?;
    if let FoundAccount::Named(account) | FoundAccount::Containing(account) = &account {
        data.set("account_id", account.id.to_string());
    }
    if data.has("act") {
        let shows_preview = data.text("act") == "preview";
        let form_state = FormState::with_errors(data, Vec::new());
        return render_desk_form(&app, &visit, staff, &form_state, String::new(), shows_preview).await;
    }
    let error = match account {
        // A part of a name can match an account that staff did not mean.
        FoundAccount::Containing(account) if data.text(SHOWN_ACCOUNT) != account.id.to_string() => Some(
            Error::on("account_id", Reason::new(Code::ChoiceInvalid, CONFIRM_ACCOUNT)),
        ),
        _ => subjects::missing_type(&data),
    };
    if let Some(error) = error {
        let form_state = subjects::from_error(data, error)?;
        return render_desk_form(&app, &visit, staff, &form_state, String::new(), false).await;
    }
    let mut object = data.object(&["summary", "description"]);
    object.extend(data.non_empty(&["priority"]));
    object.extend(subjects::selected_fields(&data));
    object.push(("closable".to_owned(), Input::Bool(data.has("closable"))));
    object.push(("account_id".to_owned(), account_input(&data)));
    let (request, newest) = (data.request(object), data.newest_id());
    let opened = app
        .write(staff.clone(), move |tx, staff| {
            rules::desk::create_once(tx, &staff.agent, &request, newest)
        })
        .await;
    match opened {
        Ok(Submission::Created(id)) => Ok(redirect_with_notice(&desk::url(id), "ticket-opened-for-customer")),
        Ok(Submission::Duplicate(id)) => Ok(redirect_with_notice(&desk::url(id), "ticket-opened-before")),
        Err(error) => {
            let is_account_id = matches!(account_input(&data), Input::Integer(_));
            let mut form_state = subjects::from_error(data, error)?;
            for error in &mut form_state.errors {
                if error.field.as_deref() == Some("account_id") && !is_account_id {
                    error.reason =
                        "Choose an account from the list, or enter its ID or its complete name".to_owned();
                }
            }
            render_desk_form(&app, &visit, staff, &form_state, String::new(), false).await
        }
    }
}

const CONFIRM_ACCOUNT: &str = "Check that this is the account, then open the ticket";
/// The ID of the account that the page shows below the field.
const SHOWN_ACCOUNT: &str = "shown_account";
/// The account of the link that led to the form. The form has a draft for each of these accounts, so that a link from
/// one customer does not restore the text for another one.
const LINKED_ACCOUNT: &str = "linked_account";

/// The account that a text in the account field means.
enum FoundAccount {
    None,
    /// The account with this ID, or with this complete company name or e-mail address.
    Named(Box<DeskAccount>),
    /// The only account whose company name or e-mail address contains the text.
    Containing(Box<DeskAccount>),
    /// The number of accounts that match.
    Several(i64),
}

fn find_account(tx: &mut ReadTx, text: &str) -> rules::Result<FoundAccount> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(FoundAccount::None);
    }
    if let Ok(id) = text.parse() {
        return match rules::accounts::desk_view(tx, AccountId(id)) {
            Ok(account) => Ok(FoundAccount::Named(Box::new(account))),
            Err(Error::NotFound) => Ok(FoundAccount::None),
            Err(error) => Err(error),
        };
    }
    let named = Condition::contained_in(["company", "email"], text);
    let found = rules::accounts::desk_list(tx, &ListRequest::full_page().only(named))?;
    let is_complete = |account: &&DeskAccount| {
        [&account.company, &account.email]
            .iter()
            .any(|name| name.to_lowercase() == text.to_lowercase())
    };
    let mut complete = found.items.iter().filter(is_complete);
    Ok(match (complete.next(), complete.next(), &found.items[..]) {
        (Some(account), None, _) => FoundAccount::Named(Box::new(account.clone())),
        (_, _, []) => FoundAccount::None,
        (_, _, [account]) => FoundAccount::Containing(Box::new(account.clone())),
        _ => FoundAccount::Several(found.results),
    })
}

fn account_input(data: &FormData) -> Input {
    match data.text("account_id").trim().parse() {
        Ok(id) => Input::Integer(id),
        Err(_) if data.text("account_id").trim().is_empty() => Input::Null,
        Err(_) => Input::Text(data.text("account_id").to_owned()),
    }
}

async fn render_desk_form(
    app: &App,
    visit: &Visit,
    staff: Staff,
    form_state: &FormState,
    words: String,
    shows_preview: bool,
) -> PageResult {
    let text = form_state.data.text("account_id").to_owned();
    let linked = Some(form_state.data.text(LINKED_ACCOUNT)).filter(|linked| !linked.is_empty());
    let has_account = !text.trim().is_empty();
    let (newest, accounts, found, choices) = app
        .read(staff, move |tx, _| {
            let newest = rules::desk::newest_opened(tx)?;
            let accounts = rules::accounts::desk_list(tx, &ListRequest::full_page())?.items;
            let found = find_account(tx, &text)?;
            let choices = match &found {
                FoundAccount::Named(account) | FoundAccount::Containing(account) => {
                    candidates(tx, Requester::Staff(account.id), &words)?
                }
                FoundAccount::None | FoundAccount::Several(_) => Vec::new(),
            };
            Ok((newest, accounts, found, choices))
        })
        .await?;
    let body = html! {
        h1 { "Open a ticket for a customer" }
        p .quiet { "The customer sees the ticket in the console, with the provider, not you, as the author." }
        (form_state.alert_with_labels(&[(DESCRIPTION.name, MESSAGE_LABEL)]))
        form .card.wide method="post" novalidate action=(DESK_NEW_TICKET_URL) data-draft="desk-ticket" data-draft-account=[linked] {
            (visit.form_token())
            @if let Some(linked) = linked { input type="hidden" name=(LINKED_ACCOUNT) value=(linked); }
            (forms::newest_id_field(newest))
            (account_field(form_state, &accounts, &found))
            (subject(form_state, has_account))
            (subjects::render(form_state, &choices, DESK_NEW_TICKET_URL))
            (threads::markdown_editor(form_state, Field { label: MESSAGE_LABEL, hint: "", ..DESCRIPTION }, 10, shows_preview))
            div .columns {
                (priority_field(form_state))
                label .tick { input type="checkbox" name="closable" checked[form_state.data.has("closable")]; " Customer can close the ticket" }
            }
            div .actions {
                button .main type="submit" { "Open ticket for customer" }
                (threads::preview_button("description", DESK_NEW_TICKET_URL))
                // This button is after the button that opens the ticket, because the Enter key uses the first
                // button.
                button type="submit" name="act" value="account" .no-script formnovalidate { "Load account" }
                a .button href="/desk" data-discard { "Cancel" }
            }
        }
    };
    let title = "Open a ticket for a customer";
    Ok(visit.form_page(form_state, title, &[desk::QUEUE], &body))
}

fn account_field(form_state: &FormState, accounts: &[DeskAccount], found: &FoundAccount) -> Markup {
    let errors = form_state.errors_on("account_id");
    let has_value = !form_state.data.text("account_id").trim().is_empty();
    html! {
        div .field .wrong[!errors.is_empty()] {
            label for="f-account-id" { "Account" }
            input #f-account-id type="text" name="account_id" list="accounts" required autocomplete="off"
                value=(form_state.data.text("account_id")) autofocus[!has_value && form_state.errors.is_empty()] aria-invalid=[(!errors.is_empty()).then_some("true")]
                hx-get=(DESK_NEW_TICKET_URL) hx-trigger="load, input changed delay:250ms" hx-include="closest form" hx-params="about,account_id" hx-target="#f-about"
                hx-select="#f-about" hx-select-oob="#account-name:innerHTML" hx-swap="outerHTML" hx-sync="this:replace";
            datalist #accounts {
                @for account in accounts { option value=(account.id) { (account.company) @if !account.company.is_empty() { " · " } (account.email) } }
            }
            @if !errors.is_empty() { p .reason { (errors.join(". ")) } }
            div #account-name role="status" {
                @match found {
                    FoundAccount::Named(account) | FoundAccount::Containing(account) => p { strong { (account.company) } @if !account.company.is_empty() { " · " } (account.email) " " span .id { (account.id) } input type="hidden" name=(SHOWN_ACCOUNT) value=(account.id); },
                    FoundAccount::Several(count) => p .quiet { (count) " accounts match. Enter more of the name, or the ID." },
                    FoundAccount::None if has_value && errors.is_empty() => p .quiet { "No account matches." },
                    FoundAccount::None => {},
                }
            }
            p .hint { "ID, company name or e-mail address." }
        }
    }
}

fn priority_field(form_state: &FormState) -> Markup {
    let chosen = Some(form_state.data.text("priority"))
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
