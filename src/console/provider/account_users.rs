//! The users of an account on its page for the provider: add, disable, enable and password links.

use axum::extract::State;
use axum::http::request::Parts;
use axum::response::Response;
use maud::{Markup, html};

use super::account_summary::{LIST, name, refused, url};
use super::account_user_mails::mails_url;
use crate::console::account::one_time_secret;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState};
use crate::console::invitations;
use crate::console::layout::{empty_state, redirect_with_notice, time};
use crate::console::users::USERNAME;
use crate::console::visit::Visit;
use crate::model::account::Account;
use crate::model::account::status::AccountStatus;
use crate::model::id::AccountId;
use crate::model::input::Input;
use crate::model::page::Paged;
use crate::model::staff_role::StaffRole;
use crate::model::user::User;
use crate::rules::agent::Staff;
use crate::rules::lists::ListRequest;
use crate::rules::{self, accounts};
use crate::web::App;
use crate::web::extract::At;
use crate::web::origin::issuer;

/// The maximum number of users on the page of an account.
const MAX_USERS_SHOWN: i64 = 100;

/// The users that the page of an account shows.
pub fn list_request() -> ListRequest {
    ListRequest::first(MAX_USERS_SHOWN).sorted("username", false)
}

fn new_url(account: AccountId) -> String {
    format!("{}/new-user", url(account))
}

/// The users, with a link to the form for another one.
pub fn section(app: &App, visit: &Visit, account: &Account, users: &Paged<User>) -> Markup {
    let may_add = account.status != AccountStatus::Closed && visit.has_role(StaffRole::Admin);
    html! {
        section aria-labelledby="users" {
            div .title {
                h2 #users { "Users" }
                @if may_add && users.results > 0 { a .button href=(new_url(account.id)) { "Add a user" } }
            }
            @if users.results > 0 {
                (table(app, visit, account, users))
            } @else if may_add {
                (empty_state("No users yet", "Until the account has a user, the customer cannot log in.",
                    Some(("Add the first user", &new_url(account.id)))))
            } @else {
                p .quiet { "The account has no users." @if account.status != AccountStatus::Closed { " An admin can add one." } }
            }
        }
    }
}

fn table(app: &App, visit: &Visit, account: &Account, users: &Paged<User>) -> Markup {
    html! {
        table .list {
            thead { tr {
                th scope="col" { "Username" } th scope="col" { "E-mail" } th scope="col" { "Status" }
                th scope="col" { "Last log-in" } th scope="col" { span .hidden { "Actions" } }
            } }
            tbody { @for user in &users.items { (row(visit, account, user, app.sends_mail())) } }
        }
        @if users.results > MAX_USERS_SHOWN { p .hint { "The first " (MAX_USERS_SHOWN) " users." } }
    }
}

fn row(visit: &Visit, account: &Account, user: &User, sends_mail: bool) -> Markup {
    let name = user.username.as_str();
    let action = |action: &str| format!("{}/users/{name}/{action}", url(account.id));
    let is_closed = account.status == AccountStatus::Closed;
    let (label, target) = match user.disabled {
        true => ("Enable", action("enable")),
        false => ("Disable", action("disable")),
    };
    html! {
        tr {
            th scope="row" { (name) @if user.restricted { " " span .tag { "Restricted" } } }
            td data-label="E-mail" { (user.email.as_str()) }
            td data-label="Status" { @if is_closed { span .tag { "Account closed" } } @else if user.disabled { span .tag.bad { "Disabled" } } @else { span .tag.on { "Enabled" } } }
            td data-label="Last log-in" {
                @match &user.last_login { Some(login) => (time(login.at)), None => span .quiet { "Never" } }
            }
            td { div .actions {
                @if !is_closed && visit.has_role(StaffRole::Operator) {
                    form method="post" action=(target) {
                        (visit.form_token())
                        button type="submit" { (label) span .hidden { " " (name) } }
                    }
                }
                @if sends_mail && visit.has_role(StaffRole::Operator) {
                    a .button href=(mails_url(account.id, name)) { "Mails" span .hidden { " about " (name) } }
                }
                @if !is_closed && visit.has_role(StaffRole::Admin) {
                    form method="post" action=(action("link")) {
                        (visit.form_token())
                        button type="submit" { "Password link" span .hidden { " for " (name) } }
                        @if sends_mail && user.password_created.is_none() {
                            button type="submit" formaction=(action("invitation")) { "Send the invitation again" span .hidden { " to " (name) } }
                        }
                    }
                }
            } }
        }
    }
}

/// The form for a new user.
pub async fn new(State(app): State<App>, visit: Visit, staff: Staff, At(id): At<AccountId>) -> PageResult {
    let (account, has_unrestricted) = app
        .read(staff, move |tx, _| {
            let account = accounts::load_open(tx, id)?;
            Ok((account, rules::account_users::has_unrestricted(tx, id)?))
        })
        .await?;
    // The first user of an account manages it, so this user must be unrestricted.
    let form_state = match has_unrestricted {
        true => FormState::prefilled(&[("restricted", "true")]),
        false => FormState::prefilled(&[("email", &account.email)]),
    };
    Ok(render_new(&app, &visit, &account, &form_state))
}

pub async fn create(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<AccountId>,
    data: FormData,
) -> PageResult {
    let mut object = data.object(&["username", "email"]);
    object.push(data.checkbox("restricted"));
    let request = data.request(object);
    let created = app
        .write(staff.clone(), move |tx, staff| {
            let user = rules::account_users::create(tx, &staff.agent, id, &request)?;
            rules::account_mails::is_invited(tx, user.id)
        })
        .await;
    let error = match created {
        Ok(is_invited) => {
            let notice = invitations::notice_of(&app, is_invited);
            return Ok(redirect_with_notice(&url(id), notice));
        }
        Err(error) => error,
    };
    let form_state = forms::from_error(data, error)?;
    let account = app.read(staff, move |tx, _| accounts::load(tx, id)).await?;
    Ok(render_new(&app, &visit, &account, &form_state))
}

fn render_new(app: &App, visit: &Visit, account: &Account, form_state: &FormState) -> Response {
    let email = Field {
        name: "email",
        label: "E-mail",
        ..Field::default()
    };
    let restricted = Field {
        name: "restricted",
        label: "Restricted",
        hint: "A restricted user has only the access that an unrestricted user of the account grants.",
        ..Field::default()
    };
    let account_url = url(account.id);
    let form = Card::new(new_url(account.id), "Add user", &account_url);
    let body = html! {
        h1 { "Add a user to " (name(account)) }
        (forms::card(visit, form_state, &form, &html! {
            (forms::text_input(form_state, USERNAME))
            (forms::text_input(form_state, email))
            (forms::checkbox(form_state, restricted))
            p .quiet { (invitations::hint(app)) }
        }))
    };
    visit.form_page(
        form_state,
        "Add a user",
        &[LIST, (name(account), &account_url)],
        &body,
    )
}

type Path = At<(AccountId, String)>;

pub async fn disable(State(app): State<App>, staff: Staff, At(at): Path, data: FormData) -> PageResult {
    set_disabled(&app, staff, at, data, true).await
}

pub async fn enable(State(app): State<App>, staff: Staff, At(at): Path, data: FormData) -> PageResult {
    set_disabled(&app, staff, at, data, false).await
}

async fn set_disabled(
    app: &App,
    staff: Staff,
    (id, username): (AccountId, String),
    data: FormData,
    disabled: bool,
) -> PageResult {
    let request = data.request(vec![("disabled".to_owned(), Input::Bool(disabled))]);
    let changed = app
        .write(staff, move |tx, staff| {
            rules::account_users::update(tx, &staff.agent, id, &username, &request)
        })
        .await;
    match changed {
        Ok(_) => Ok(redirect_with_notice(&url(id), "user-changed")),
        Err(error) => refused(&url(id), error),
    }
}

/// Sends another invitation.
pub async fn invite(State(app): State<App>, staff: Staff, At((id, username)): Path) -> PageResult {
    let invited = app
        .write(staff, move |tx, _| {
            rules::account_users::invite_again(tx, id, &username)
        })
        .await;
    invitations::sent(&url(id), invited)
}

/// Creates a password link. Only this response shows it.
pub async fn link(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At((id, username)): Path,
    parts: Parts,
) -> PageResult {
    let name = username.clone();
    let link = app
        .write(staff, move |tx, staff| {
            rules::account_users::make_link(tx, &staff.agent, id, &name)
        })
        .await?;
    let link_url = format!("{}/oauth/password/{}", issuer(&app, &parts), link.reveal());
    let title = format!("Password link for {username}");
    let account_url = url(id);
    let body = html! {
        h1 { (title) }
        (one_time_secret("The link", &link_url))
        p { "Send it to the user. It works once and expires after three days." }
        p { a .button href=(account_url) { "Done" } }
    };
    Ok(visit.page(&title, &[LIST, ("Account", &account_url)], &body))
}
