//! Pages for the users of an account.

use axum::extract::State;
use axum::http::request::Parts;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::account::event_filter::url_of_object;
use crate::console::account::{ACCOUNT, one_time_secret, tabs};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState};
use crate::console::grants;
use crate::console::invitations;
use crate::console::layout::{pagination, pluralize, redirect_with_notice, time};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::user::User;
use crate::rules;
use crate::rules::caller::Caller;
use crate::web::App;
use crate::web::extract::At;
use crate::web::origin::issuer;
use crate::web::user_names;

/// The label and the URL of the list of users.
pub const LIST: (&str, &str) = ("Users", "/account/users");
/// The URL of the form for a new user. It is not below `/account/users`, because `new` is a valid username.
const NEW_URL: &str = "/account/new-user";

pub fn url(user: &User) -> String {
    url_of(user.username.as_str())
}

pub fn url_of(username: &str) -> String {
    format!("{}/{username}", LIST.1)
}

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    let list_request = query.list_request().sorted("username", false);
    let users = app
        .read(caller.clone(), move |tx, caller| {
            rules::users::page(tx, caller, &list_request)
        })
        .await?;
    let body = html! {
        (tabs(&caller, LIST.1))
        div .title {
            h1 { "Users" }
            a .button.main href=(NEW_URL) { "Create user" }
        }
        p .lead { "Unrestricted users have full access and manage other users. Restricted users have only the access you grant them." }
        p .count role="status" { (pluralize(users.results as usize, "user", "users")) }
        table .list {
            thead { tr {
                th scope="col" { "Username" } th scope="col" { "E-mail" } th scope="col" { "Permissions" }
                th scope="col" { "Last log-in" } th scope="col" { span .hidden { "Actions" } }
            } }
            tbody {
                @for user in &users.items {
                    @let (name, user_url) = (user.username.as_str(), url(user));
                    tr {
                        th scope="row" { a href=(user_url) { (name) } @if user.id == caller.user() { " " span .tag { "you" } } }
                        td data-label="E-mail" { (user.email.as_str()) }
                        td data-label="Permissions" { (permissions_tag(user)) }
                        td data-label="Last log-in" { (last_login(user)) }
                        td { div .actions {
                            a href=(format!("{user_url}/edit")) { "Edit" span .hidden { " " (name) } }
                            @if user.restricted { a href=(format!("{user_url}/grants")) { "Grants" span .hidden { " for " (name) } } }
                            @if user.id != caller.user() { a href=(format!("{user_url}/delete")) { "Delete" span .hidden { " " (name) } } }
                        } }
                    }
                }
            }
        }
        (pagination(&users, LIST.1))
    };
    Ok(visit.page("Users", &[], &body))
}

fn permissions_tag(user: &User) -> Markup {
    html! { @if user.restricted { span .tag { "Restricted" } } @else { span .tag.on { "Full access" } } }
}

fn last_login(user: &User) -> Markup {
    html! {
        @match &user.last_login {
            Some(login) => { (time(login.at)) @if login.status != "successful" { " " span .tag.bad { (login.status) } } }
            None => span .quiet { "Never" },
        }
    }
}

pub const USERNAME: Field = Field {
    name: "username",
    label: "Username",
    hint: "3 to 32 letters, digits, dashes and underscores.",
    optional: false,
    autofocus: true,
    code: false,
    max_chars: Some(32),
    check_url: None,
};

/// The fields of a user. If `is_own` is true, the user to edit is the caller, who cannot change their own
/// restriction.
fn fields(form_state: &FormState, is_own: bool) -> Markup {
    let email = Field {
        name: "email",
        label: "E-mail",
        ..Field::default()
    };
    let restricted = Field {
        name: "restricted",
        label: "Restricted",
        hint: "A restricted user has only the access that you grant.",
        ..Field::default()
    };
    html! {
        (forms::text_input(form_state, USERNAME))
        (forms::text_input(form_state, email))
        @if is_own { p #(forms::element_id(restricted.name)) .quiet { "You cannot restrict yourself. Another unrestricted user can." } }
        @else { (forms::checkbox(form_state, restricted)) }
    }
}

pub async fn new(State(app): State<App>, visit: Visit, caller: Caller) -> PageResult {
    app.read(caller, |_, caller| caller.require_unrestricted())
        .await?;
    let form_state = FormState::prefilled(&[("restricted", "true")]);
    Ok(render_new(&app, &visit, &form_state))
}

pub async fn create(State(app): State<App>, visit: Visit, caller: Caller, data: FormData) -> PageResult {
    let mut object = data.object(&["username", "email"]);
    object.push(data.checkbox("restricted"));
    let request = data.request(object);
    match user_names::add_user(&app, caller.clone(), request).await {
        Ok(user) => {
            let (user_url, id) = (url(&user), user.id);
            let is_invited = app
                .read(caller, move |tx, _| rules::account_mails::is_invited(tx, id))
                .await?;
            let notice = invitations::notice_of(&app, is_invited);
            Ok(redirect_with_notice(&user_url, notice))
        }
        Err(error) => {
            let form_state = forms::from_error(data, error)?;
            Ok(render_new(&app, &visit, &form_state))
        }
    }
}

fn render_new(app: &App, visit: &Visit, form_state: &FormState) -> Response {
    let form = Card::new(NEW_URL, "Create user", LIST.1);
    let body = html! {
        h1 { "Create user" }
        (forms::card(visit, form_state, &form, &html! {
            (fields(form_state, false))
            p .quiet { (invitations::hint(app)) }
        }))
    };
    visit.form_page(form_state, "Create user", &[ACCOUNT, LIST], &body)
}

pub async fn view(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
) -> PageResult {
    let (user, grants, is_invited) = app
        .read(caller.clone(), move |tx, caller| {
            let user = rules::users::view(tx, caller, &username)?;
            let name = user.username.as_str();
            let grants = rules::object_grants::summary(tx, caller, name, grants::MAX_LISTED_OBJECTS)?;
            let is_invited = rules::account_mails::is_invited(tx, user.id)?;
            Ok((user, grants, is_invited))
        })
        .await?;
    let (name, user_url) = (user.username.as_str(), url(&user));
    let is_own = user.id == caller.user();
    let body = html! {
        div .title {
            h1 { (name) @if is_own { " " span .tag { "you" } } }
            div .actions {
                @if user.restricted { a .button.main href=(format!("{user_url}/grants")) { "Edit grants" } }
                a .button href=(url_of_object("user", user.id.0)) { "Activity" }
                a .button href=(format!("{user_url}/edit")) { "Edit" }
                @if !is_own { a .button.danger href=(format!("{user_url}/delete")) { "Delete" } }
            }
        }
        @if let Some(message) = &visit.refused { div .alert role="alert" { p { (message) } } }
        dl .facts {
            div { dt { "E-mail" } dd { (user.email.as_str()) } }
            div { dt { "Permissions" } dd { (permissions_tag(&user)) } }
            div { dt { "Last log-in" } dd { (last_login(&user)) } }
            div { dt { "Password" } dd { @match user.password_created { Some(at) => { "Set " (time(at)) } None => "Not set" } } }
            div { dt { "Created" } dd { (time(user.created)) } }
        }
        @if user.password_created.is_none() {
            form .card method="post" novalidate action=(format!("{user_url}/link")) {
                (visit.form_token())
                h2 { "No password set" }
                @if app.sends_mail() && is_invited {
                    p { (name) " cannot log in yet. A mail with a password link was sent to " strong { (user.email.as_str()) }
                        ". The link works once and expires after three days. You can send the mail again, or generate a link and send it yourself." }
                } @else {
                    p { (name) " cannot log in yet. Generate a password link and send it to " strong { (user.email.as_str()) }
                        ". It works once and expires after three days." }
                }
                div .actions {
                    button .main type="submit" { "Generate link" }
                    @if app.sends_mail() {
                        button type="submit" formaction=(format!("{user_url}/invitation")) { "Send the invitation again" }
                    }
                }
            }
        }
        section aria-labelledby="grants" {
            h2 #grants { "Grants" }
            @match &grants {
                Some(grants) => (grants::summary(&user, grants, &user_url)),
                None => p .quiet { "Unrestricted users do not need grants." },
            }
        }
    };
    Ok(visit.page(name, &[ACCOUNT, LIST], &body))
}

/// Creates a link for a user's first password. Only this response shows the link.
pub async fn create_link(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
    parts: Parts,
) -> PageResult {
    let (user, link) = app
        .write(caller, move |tx, caller| {
            let user = rules::users::view(tx, caller, &username)?;
            let link = rules::passwords::invite(tx, caller, &username)?;
            Ok((user, link))
        })
        .await?;
    let link_url = format!("{}/oauth/password/{}", issuer(&app, &parts), link.reveal());
    let user_url = url(&user);
    let body = html! {
        h1 { "Password link for " (user.username.as_str()) }
        (one_time_secret("The link", &link_url))
        p { "Send it to " strong { (user.email.as_str()) } ". It works once and expires after three days." }
        p { a .button href=(user_url) { "Done" } }
    };
    Ok(visit.page(
        "Password link",
        &[ACCOUNT, LIST, (user.username.as_str(), &user_url)],
        &body,
    ))
}

/// Sends another invitation.
pub async fn invite(State(app): State<App>, caller: Caller, At(username): At<String>) -> PageResult {
    let user_url = url_of(&username);
    let invited = app
        .write(caller, move |tx, caller| {
            rules::users::invite_again(tx, caller, &username)
        })
        .await;
    invitations::sent(&user_url, invited.map(drop))
}

async fn load(app: &App, caller: Caller, username: String) -> rules::Result<User> {
    app.read(caller, move |tx, caller| {
        rules::users::view(tx, caller, &username)
    })
    .await
}

pub async fn edit(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
) -> PageResult {
    let user = load(&app, caller.clone(), username).await?;
    let mut form_state = FormState::prefilled(&editable_fields(&user)).with_version_of(&user.without_login());
    form_state.data.set("restricted", user.restricted.to_string());
    Ok(render_edit(&visit, &caller, &user, &form_state))
}

/// The editable text fields of a user.
fn editable_fields(user: &User) -> [(&'static str, &str); 2] {
    [
        ("username", user.username.as_str()),
        ("email", user.email.as_str()),
    ]
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
    data: FormData,
) -> PageResult {
    let mut object = data.object(&["username", "email"]);
    object.push(data.checkbox("restricted"));
    let (request, name) = (data.request(object), username.clone());
    let changed = user_names::update_user(&app, caller.clone(), name, request).await;
    let form_state = match changed {
        Ok(user) => return Ok(redirect_with_notice(&url(&user), "user-changed")),
        Err(error) => forms::from_error(data, error)?,
    };
    let user = load(&app, caller.clone(), username).await?;
    let form_state = form_state
        .with_version_of(&user.without_login())
        .with_current_values(&editable_fields(&user));
    Ok(render_edit(&visit, &caller, &user, &form_state))
}

fn render_edit(visit: &Visit, caller: &Caller, user: &User, form_state: &FormState) -> Response {
    let (name, user_url) = (user.username.as_str(), url(user));
    let title = format!("Edit {name}");
    let form = Card::new(format!("{user_url}/edit"), "Save", &user_url);
    let is_own = user.id == caller.user();
    let body = html! {
        h1 { (title) }
        (forms::card(visit, form_state, &form, &html! {
            (fields(form_state, is_own))
            @if is_own {}
            @else if !user.restricted { p .quiet { "A restricted user has no access until you add grants." } }
            @else { p .quiet { "Removing the restriction deletes this user's grants and gives full access." } }
        }))
    };
    visit.form_page(form_state, &title, &[ACCOUNT, LIST, (name, &user_url)], &body)
}

pub async fn confirm_delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
) -> PageResult {
    let user = load(&app, caller.clone(), username).await?;
    rules::users::require_other_user(&caller, &user)?;
    let form_state = FormState::default().with_version_of(&user.without_login());
    Ok(render_delete(&visit, &user, &form_state))
}

pub async fn delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
    data: FormData,
) -> PageResult {
    let user = load(&app, caller.clone(), username.clone()).await?;
    let request = data.request(Vec::new());
    let deleting = app.write(caller, move |tx, caller| {
        rules::users::delete(tx, caller, &username, &request)
    });
    let deleted = forms::if_confirmed(&data, user.username.as_str(), deleting).await;
    let form_state = match deleted {
        Ok(()) => return Ok(redirect_with_notice(LIST.1, "user-deleted")),
        Err(error) => forms::from_error(data, error)?,
    };
    Ok(render_delete(
        &visit,
        &user,
        &form_state.with_version_of(&user.without_login()),
    ))
}

fn render_delete(visit: &Visit, user: &User, form_state: &FormState) -> Response {
    let (name, user_url) = (user.username.as_str(), url(user));
    let form = Card::new(format!("{user_url}/delete"), "Delete user", &user_url).danger();
    let body = html! {
        h1 { "Delete " (name) "?" }
        (forms::card(visit, form_state, &form, &html! {
            p { "The user's tokens and sessions are revoked immediately. Tickets and replies are not deleted." }
            (forms::confirmation_input(form_state, name))
        }))
    };
    visit.form_page(
        form_state,
        &format!("Delete {name}"),
        &[ACCOUNT, LIST, (name, &user_url)],
        &body,
    )
}
