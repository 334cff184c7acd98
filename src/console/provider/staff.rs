//! Pages for the provider's staff: roles, disabled users and password links.

use axum::extract::State;
use axum::http::request::Parts;
use axum::response::Response;
use maud::{Markup, html};

use super::account_summary::refused;
use super::tabs::{STAFF as LIST, tabs};
use crate::console::account::one_time_secret;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState};
use crate::console::invitations;
use crate::console::layout::{pagination, redirect_with_notice, time};
use crate::console::query::Query;
use crate::console::threads::confirmation;
use crate::console::visit::Visit;
use crate::model::staff_role::StaffRole;
use crate::model::user::User;
use crate::rules;
use crate::rules::agent::Staff;
use crate::web::App;
use crate::web::extract::At;
use crate::web::origin::issuer;

/// The URL of the form for a new user. It is not below the list, because `new` is a valid username.
const NEW_URL: &str = "/provider/new-staff";

/// The permissions of each role. A role also has those of the roles before it.
const PERMISSIONS: [&str; 3] = [
    "Support answers tickets, and reads hosts, accounts with their users, VPCs, instances and activity, and, over the API, announcements.",
    "Operators also manage hosts, regions, plans, background jobs and announcements; change the details and quotas of accounts, suspend and reactivate accounts, and disable their users; see the branding, the mail templates, the state of mail and the mails about users, and allow suppressed addresses.",
    "Admins also manage staff; create, export and close accounts, add users to accounts, and make password links; change the branding and the mail templates.",
];

fn url(username: &str) -> String {
    format!("{}/{username}", LIST.1)
}

pub async fn list(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    let list_request = query.list_request().sorted("username", false);
    let users = app
        .read(staff, move |tx, _| rules::staff::list(tx, &list_request))
        .await?;
    let body = html! {
        (tabs(&visit, LIST.1))
        div .title { h1 { "Staff" } a .button.main href=(NEW_URL) { "Create staff user" } }
        ul .lead { @for permissions in PERMISSIONS { li { (permissions) } } }
        table .list {
            thead { tr {
                th scope="col" { "Username" } th scope="col" { "E-mail" } th scope="col" { "Role" }
                th scope="col" { "Status" } th scope="col" { "Last log-in" }
            } }
            tbody { @for user in &users.items { (row(&visit, user)) } }
        }
        (pagination(&users, LIST.1))
    };
    Ok(visit.page("Staff", &[], &body))
}

fn row(visit: &Visit, user: &User) -> Markup {
    let name = user.username.as_str();
    html! {
        tr {
            th scope="row" { a href=(url(name)) { (name) } @if name == visit.username { " " span .tag { "you" } } }
            td data-label="E-mail" { (user.email.as_str()) }
            td data-label="Role" { (role_word(user)) }
            td data-label="Status" { @if user.disabled { span .tag.bad { "Disabled" } } @else { span .tag.on { "Enabled" } } }
            td data-label="Last log-in" {
                @match &user.last_login { Some(login) => (time(login.at)), None => span .quiet { "Never" } }
            }
        }
    }
}

fn role_word(user: &User) -> &'static str {
    user.role.map_or("", StaffRole::word)
}

fn email_field(form_state: &FormState) -> Markup {
    let email = Field {
        name: "email",
        label: "E-mail",
        ..Field::default()
    };
    forms::text_input(form_state, email)
}

fn role_field(form_state: &FormState) -> Markup {
    let role = Field {
        name: "role",
        label: "Role",
        hint: &PERMISSIONS.join(" "),
        ..Field::default()
    };
    let roles = StaffRole::ALL.map(|role| (role.word().to_owned(), role.word().to_owned()));
    forms::select(form_state, role, &roles)
}

pub async fn new(State(app): State<App>, visit: Visit) -> PageResult {
    Ok(render_new(&app, &visit, &FormState::default()))
}

pub async fn create(State(app): State<App>, visit: Visit, staff: Staff, data: FormData) -> PageResult {
    let mut object = data.object(&["username", "email"]);
    object.extend(data.non_empty(&["role"]));
    let request = data.request(object);
    let created = app
        .write(staff, move |tx, _| rules::staff::create(tx, &request))
        .await;
    match created {
        Ok(user) => Ok(redirect_with_notice(
            &url(user.username.as_str()),
            invitations::created_notice(&app),
        )),
        Err(error) => {
            let form_state = forms::from_error(data, error)?;
            Ok(render_new(&app, &visit, &form_state))
        }
    }
}

fn render_new(app: &App, visit: &Visit, form_state: &FormState) -> Response {
    let username = Field {
        name: "username",
        label: "Username",
        hint: "3 to 32 letters, digits, dashes and underscores.",
        autofocus: true,
        max_chars: Some(32),
        ..Field::default()
    };
    let form = Card::new(NEW_URL, "Create staff user", LIST.1);
    let body = html! {
        h1 { "Create staff user" }
        (forms::card(visit, form_state, &form, &html! {
            (forms::text_input(form_state, username))
            (email_field(form_state))
            (role_field(form_state))
            p .quiet { (invitations::hint(app)) }
        }))
    };
    visit.form_page(form_state, "Create staff user", &[LIST], &body)
}

async fn load(app: &App, staff: Staff, username: String) -> rules::Result<User> {
    app.read(staff, move |tx, _| rules::staff::view(tx, &username))
        .await
}

pub async fn edit(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(username): At<String>,
) -> PageResult {
    let user = load(&app, staff, username).await?;
    let mut form_state = FormState::prefilled(&editable_fields(&user)).with_version_of(&user.without_login());
    form_state.data.set("disabled", user.disabled.to_string());
    Ok(render_edit(&app, &visit, &user, &form_state))
}

fn editable_fields(user: &User) -> [(&'static str, &str); 2] {
    [("email", user.email.as_str()), ("role", role_word(user))]
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(username): At<String>,
    data: FormData,
) -> PageResult {
    let mut object = data.object(&["email", "role"]);
    object.push(data.checkbox("disabled"));
    let (request, name) = (data.request(object), username.clone());
    let changed = app
        .write(staff.clone(), move |tx, _| {
            rules::staff::update(tx, &name, &request)
        })
        .await;
    let form_state = match changed {
        Ok(user) => {
            // The user may no longer have access to this page.
            let is_own = user.username.as_str() == visit.username;
            let target = if is_own {
                "/desk".to_owned()
            } else {
                url(&username)
            };
            return Ok(redirect_with_notice(&target, "user-changed"));
        }
        Err(error) => forms::from_error(data, error)?,
    };
    let user = load(&app, staff, username).await?;
    let form_state = form_state
        .with_version_of(&user.without_login())
        .with_current_values(&editable_fields(&user));
    Ok(render_edit(&app, &visit, &user, &form_state))
}

fn render_edit(app: &App, visit: &Visit, user: &User, form_state: &FormState) -> Response {
    let name = user.username.as_str();
    let user_url = url(name);
    let disabled = Field {
        name: "disabled",
        label: "Disabled",
        hint: "The tokens and sessions of a disabled user are refused.",
        ..Field::default()
    };
    let form = Card::new(user_url.clone(), "Save", LIST.1);
    let body = html! {
        div .title {
            h1 { (name) }
            div .actions {
                form method="post" action=(format!("{user_url}/link")) {
                    (visit.form_token())
                    button type="submit" { "Password link" }
                    @if app.sends_mail() && user.password_created.is_none() {
                        button type="submit" formaction=(format!("{user_url}/invitation")) { "Send the invitation again" }
                    }
                }
                (confirmation("Delete", (true, None), &html! {
                    p { "The user's tokens and sessions are revoked immediately. Replies and notes are not deleted." }
                    form method="post" action=(format!("{user_url}/delete")) {
                        (visit.form_token())
                        button .danger type="submit" { "Delete " (name) }
                    }
                }))
            }
        }
        @if let Some(message) = &visit.refused { div .alert role="alert" { p { (message) } } }
        (forms::card(visit, form_state, &form, &html! {
            (email_field(form_state))
            (role_field(form_state))
            (forms::checkbox(form_state, disabled))
        }))
    };
    visit.form_page(form_state, name, &[LIST], &body)
}

pub async fn delete(
    State(app): State<App>,
    staff: Staff,
    At(username): At<String>,
    data: FormData,
) -> PageResult {
    let (request, name) = (data.request(Vec::new()), username.clone());
    let deleted = app
        .write(staff, move |tx, _| rules::staff::delete(tx, &name, &request))
        .await;
    match deleted {
        Ok(()) => Ok(redirect_with_notice(LIST.1, "user-deleted")),
        Err(error) => refused(&url(&username), error),
    }
}

/// Sends another invitation.
pub async fn invite(State(app): State<App>, staff: Staff, At(username): At<String>) -> PageResult {
    let user_url = url(&username);
    let invited = app
        .write(staff, move |tx, _| rules::staff::invite_again(tx, &username))
        .await;
    invitations::sent(&user_url, invited)
}

/// Creates a password link. Only this response shows it.
pub async fn link(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(username): At<String>,
    parts: Parts,
) -> PageResult {
    let name = username.clone();
    let link = app
        .write(staff, move |tx, _| rules::staff::make_link(tx, &name))
        .await?;
    let link_url = format!("{}/oauth/password/{}", issuer(&app, &parts), link.reveal());
    let title = format!("Password link for {username}");
    let user_url = url(&username);
    let body = html! {
        h1 { (title) }
        (one_time_secret("The link", &link_url))
        p { "Send it to the user. It works once and expires after three days." }
        p { a .button href=(user_url) { "Done" } }
    };
    Ok(visit.page(&title, &[LIST, (&username, &user_url)], &body))
}
