//! Pages of an account's users, for those who manage them.

use axum::extract::State;
use axum::http::request::Parts;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::account::{ACCOUNT, shown_once, tabs};
use crate::console::error_page::Answer;
use crate::console::forms::{self, Card, Field, Sent, Typed};
use crate::console::grants;
use crate::console::layout::{counted, done, pager, time};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::user::User;
use crate::rules;
use crate::rules::caller::Caller;
use crate::web::App;
use crate::web::extract::At;
use crate::web::origin::issuer;
use crate::web::user_names;

pub const LIST: (&str, &str) = ("Users", "/account/users");
/// Not below the list: somebody may be called `new`.
const NEW: &str = "/account/new-user";

pub fn address(user: &User) -> String {
    address_of(user.username.as_str())
}

pub fn address_of(username: &str) -> String {
    format!("{}/{username}", LIST.1)
}

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> Answer {
    let wanted = query.list(50).sorted("username", false);
    let users = app
        .read(caller.clone(), move |tx, caller| {
            rules::users::page(tx, caller, &wanted)
        })
        .await?;
    let body = html! {
        (tabs(&caller, LIST.1))
        div .title {
            h1 { "Users" }
            a .button.main href=(NEW) { "Create user" }
        }
        p .lead { "Unrestricted users may do everything, and manage the others. Restricted ones may do what they were granted." }
        p .count role="status" { (counted(users.results as usize, "user", "users")) }
        table .list {
            thead { tr {
                th scope="col" { "Username" } th scope="col" { "E-mail" } th scope="col" { "May do" }
                th scope="col" { "Last log-in" } th scope="col" { span .hidden { "Actions" } }
            } }
            tbody {
                @for user in &users.items {
                    @let (name, here) = (user.username.as_str(), address(user));
                    tr {
                        th scope="row" { a href=(here) { (name) } @if user.id == caller.user() { " " span .tag { "you" } } }
                        td data-label="E-mail" { (user.email.as_str()) }
                        td data-label="May do" { (allowed(user)) }
                        td data-label="Last log-in" { (last_login(user)) }
                        td { div .actions {
                            a href=(format!("{here}/edit")) { "Edit" span .hidden { " " (name) } }
                            @if user.restricted { a href=(format!("{here}/grants")) { "Grants" span .hidden { " of " (name) } } }
                            @if user.id != caller.user() { a href=(format!("{here}/delete")) { "Delete" span .hidden { " " (name) } } }
                        } }
                    }
                }
            }
        }
        (pager(&users, LIST.1))
    };
    Ok(visit.page("Users", &[], &body))
}

fn allowed(user: &User) -> Markup {
    html! { @if user.restricted { span .tag { "what was granted" } } @else { span .tag.on { "everything" } } }
}

fn last_login(user: &User) -> Markup {
    html! {
        @match &user.last_login {
            Some(login) => { (time(login.at)) @if login.status != "successful" { " " span .tag.bad { (login.status) } } }
            None => span .quiet { "never" },
        }
    }
}

const USERNAME: Field = Field {
    name: "username",
    label: "Username",
    hint: "3 to 32 letters, digits, dashes and underscores.",
    optional: false,
    autofocus: true,
    code: false,
    most: Some(32),
    check: None,
};

/// The fields of a user; whoever edits themselves is told what only others can change.
fn fields(typed: &Typed, own: bool) -> Markup {
    let email = Field {
        name: "email",
        label: "E-mail",
        ..Field::default()
    };
    let restricted = Field {
        name: "restricted",
        label: "Restricted",
        hint: "May do only what is granted: nothing at first.",
        ..Field::default()
    };
    html! {
        (forms::line(typed, USERNAME))
        (forms::line(typed, email))
        @if own { p #(forms::id_of(restricted.name)) .quiet { "You cannot restrict yourself; another unrestricted user can." } }
        @else { (forms::switch(typed, restricted)) }
    }
}

pub async fn new(State(app): State<App>, visit: Visit, caller: Caller) -> Answer {
    app.read(caller, |_, caller| caller.require_unrestricted())
        .await?;
    let typed = Typed::proposed(&[("restricted", "true")]);
    Ok(draw_new(&visit, &typed))
}

pub async fn create(State(app): State<App>, visit: Visit, caller: Caller, sent: Sent) -> Answer {
    let mut object = sent.object(&["username", "email"]);
    object.push(sent.truth("restricted"));
    let request = sent.request(object);
    match user_names::add_user(&app, caller, request).await {
        Ok(user) => Ok(done(&address(&user), "user-created")),
        Err(error) => {
            let typed = forms::again(sent, error)?;
            Ok(draw_new(&visit, &typed))
        }
    }
}

fn draw_new(visit: &Visit, typed: &Typed) -> Response {
    let form = Card::new(NEW, "Create user", LIST.1);
    let body = html! {
        h1 { "Create user" }
        (forms::card(visit, typed, &form, &html! {
            (fields(typed, false))
            p .quiet { "On the next page you can make a link with which the user chooses a password." }
        }))
    };
    visit.form_page(typed, "Create user", &[ACCOUNT, LIST], &body)
}

pub async fn view(State(app): State<App>, visit: Visit, caller: Caller, At(username): At<String>) -> Answer {
    let (user, grants) = app
        .read(caller.clone(), move |tx, caller| {
            let user = rules::users::view(tx, caller, &username)?;
            let grants = rules::grants::of(tx, caller, user.username.as_str())?;
            Ok((user, grants))
        })
        .await?;
    let (name, here) = (user.username.as_str(), address(&user));
    let own = user.id == caller.user();
    let body = html! {
        div .title {
            h1 { (name) @if own { " " span .tag { "you" } } }
            div .actions {
                @if user.restricted { a .button.main href=(format!("{here}/grants")) { "Change grants" } }
                a .button href=(format!("{here}/edit")) { "Edit" }
                @if !own { a .button.danger href=(format!("{here}/delete")) { "Delete" } }
            }
        }
        dl .facts {
            div { dt { "E-mail" } dd { (user.email.as_str()) } }
            div { dt { "May do" } dd { (allowed(&user)) } }
            div { dt { "Last log-in" } dd { (last_login(&user)) } }
            div { dt { "Password" } dd { @match user.password_created { Some(at) => { "set " (time(at)) } None => "none yet" } } }
            div { dt { "Created" } dd { (time(user.created)) } }
        }
        @if user.password_created.is_none() {
            form .card method="post" action=(format!("{here}/link")) {
                (visit.form_token())
                h2 { "Cannot log in yet" }
                p { (name) " has no password. Make a link with which one can be chosen, once and within three days, and send it to "
                    strong { (user.email.as_str()) } "." }
                div .actions { button .main type="submit" { "Make a link" } }
            }
        }
        section aria-labelledby="grants" {
            h2 #grants { "Grants" }
            @match &grants {
                Some(grants) => (grants::summary(grants, &here)),
                None => p .quiet { "An unrestricted user needs no grants." },
            }
        }
    };
    Ok(visit.page(name, &[ACCOUNT, LIST], &body))
}

/// Makes a link for somebody's first password. It is on the answer to this form, and nowhere else ever.
pub async fn make_link(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
    parts: Parts,
) -> Answer {
    let (user, link) = app
        .write(caller, move |tx, caller| {
            let user = rules::users::view(tx, caller, &username)?;
            let link = rules::passwords::invite(tx, caller, &username)?;
            Ok((user, link))
        })
        .await?;
    let address_of_link = format!("{}/oauth/password/{}", issuer(&app, &parts), link.reveal());
    let here = address(&user);
    let body = html! {
        h1 { "A link for " (user.username.as_str()) }
        (shown_once("The link", &address_of_link))
        p { "Send it to " strong { (user.email.as_str()) } ". Whoever opens it first, within three days, chooses the password." }
        p { a .button href=(here) { "Done" } }
    };
    Ok(visit.page("Link", &[ACCOUNT, LIST, (user.username.as_str(), &here)], &body))
}

async fn load(app: &App, caller: Caller, username: String) -> rules::Result<User> {
    app.read(caller, move |tx, caller| {
        rules::users::view(tx, caller, &username)
    })
    .await
}

pub async fn edit(State(app): State<App>, visit: Visit, caller: Caller, At(username): At<String>) -> Answer {
    let user = load(&app, caller.clone(), username).await?;
    let mut typed = Typed::proposed(&now(&user)).now(&user.without_login());
    typed.sent.set("restricted", user.restricted.to_string());
    Ok(draw_edit(&visit, &caller, &user, &typed))
}

/// What can be typed of a user, as it is now.
fn now(user: &User) -> [(&'static str, &str); 2] {
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
    sent: Sent,
) -> Answer {
    let mut object = sent.object(&["username", "email"]);
    object.push(sent.truth("restricted"));
    let (request, name) = (sent.request(object), username.clone());
    let changed = user_names::update_user(&app, caller.clone(), name, request).await;
    let typed = match changed {
        Ok(user) => return Ok(done(&address(&user), "user-changed")),
        Err(error) => forms::again(sent, error)?,
    };
    let user = load(&app, caller.clone(), username).await?;
    let typed = typed.now(&user.without_login()).beside(&now(&user));
    Ok(draw_edit(&visit, &caller, &user, &typed))
}

fn draw_edit(visit: &Visit, caller: &Caller, user: &User, typed: &Typed) -> Response {
    let (name, here) = (user.username.as_str(), address(user));
    let title = format!("Edit {name}");
    let form = Card::new(format!("{here}/edit"), "Save", &here);
    let own = user.id == caller.user();
    let body = html! {
        h1 { (title) }
        (forms::card(visit, typed, &form, &html! {
            (fields(typed, own))
            @if own {}
            @else if !user.restricted { p .quiet { "Whoever becomes restricted may do nothing until it is granted." } }
            @else { p .quiet { "Whoever is restricted no longer loses the grants, and may do everything." } }
        }))
    };
    visit.form_page(typed, &title, &[ACCOUNT, LIST, (name, &here)], &body)
}

pub async fn ask_delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
) -> Answer {
    let user = load(&app, caller.clone(), username).await?;
    rules::users::require_other_user(&caller, &user)?;
    let typed = Typed::default().now(&user.without_login());
    Ok(draw_delete(&visit, &user, &typed))
}

pub async fn delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
    sent: Sent,
) -> Answer {
    let user = load(&app, caller.clone(), username.clone()).await?;
    let request = sent.request(Vec::new());
    let deleting = app.write(caller, move |tx, caller| {
        rules::users::delete(tx, caller, &username, &request)
    });
    let deleted = forms::confirmed(&sent, user.username.as_str(), deleting).await;
    let typed = match deleted {
        Ok(()) => return Ok(done(LIST.1, "user-deleted")),
        Err(error) => forms::again(sent, error)?,
    };
    Ok(draw_delete(&visit, &user, &typed.now(&user.without_login())))
}

fn draw_delete(visit: &Visit, user: &User, typed: &Typed) -> Response {
    let (name, here) = (user.username.as_str(), address(user));
    let form = Card::new(format!("{here}/delete"), "Delete user", &here).danger();
    let body = html! {
        h1 { "Delete " (name) "?" }
        (forms::card(visit, typed, &form, &html! {
            p { "The user's tokens and sessions end at once. Tickets and what they tell stay." }
            (forms::confirm(typed, name))
        }))
    };
    visit.form_page(
        typed,
        &format!("Delete {name}"),
        &[ACCOUNT, LIST, (name, &here)],
        &body,
    )
}
