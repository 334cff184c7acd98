//! Pages of an account's OAuth clients: programs that may ask users for access.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::account::{ACCOUNT, made_before, shown_once, tabs};
use crate::console::error_page::Answer;
use crate::console::forms::{self, Card, Field, NEWEST, Sent, Typed};
use crate::console::layout::{done, empty, pager, time};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::oauth::OauthClient;
use crate::model::token::TokenText;
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::once::Once;
use crate::web::App;
use crate::web::extract::At;

const LIST: (&str, &str) = ("OAuth clients", "/account/clients");
const NEW: &str = "/account/clients/new";

fn address(client: &OauthClient) -> String {
    format!("{}/{}", LIST.1, client.id)
}

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> Answer {
    let wanted = query.list(50);
    let clients = app
        .read(caller.clone(), move |tx, caller| {
            rules::oauth_clients::list(tx, caller, &wanted)
        })
        .await?;
    let may_change = !caller.is_restricted();
    let body = html! {
        (tabs(&caller, LIST.1))
        div .title {
            h1 { "OAuth clients" }
            @if may_change { a .button.main href=(NEW) { "Create client" } }
        }
        p .lead { "Register your applications here so that users can authorize them to access their accounts." }
        @if clients.items.is_empty() {
            (empty("No OAuth clients yet", "Create an OAuth client for each application that requests access from users.",
                may_change.then_some(("Create client", NEW))))
        } @else {
            table .list {
                thead { tr {
                    th scope="col" { "Label" } th scope="col" { "Client ID" } th scope="col" { "Redirect URI" } th scope="col" { "Type" }
                    th scope="col" { "Created" } @if may_change { th scope="col" { span .hidden { "Actions" } } }
                } }
                tbody {
                    @for client in &clients.items {
                        @let here = address(client);
                        tr {
                            th scope="row" { (client.label.as_str()) }
                            td data-label="Client ID" { code { (client.id) } }
                            td .long data-label="Redirect URI" { code { (client.redirect_uri.as_str()) } }
                            td data-label="Type" { (kind(client)) }
                            td data-label="Created" { (time(client.created)) }
                            @if may_change { td { div .actions {
                                a href=(format!("{here}/edit")) { "Edit" span .hidden { " " (client.label.as_str()) } }
                                @if !client.public { a href=(format!("{here}/reset")) { "Reset secret" span .hidden { " for " (client.label.as_str()) } } }
                                a href=(format!("{here}/delete")) { "Delete" span .hidden { " " (client.label.as_str()) } }
                            } } }
                        }
                    }
                }
            }
            (pager(&clients, LIST.1))
        }
    };
    Ok(visit.page("OAuth clients", &[], &body))
}

fn kind(client: &OauthClient) -> Markup {
    html! { @if client.public { span .tag { "Public" } } @else { span .tag { "Confidential" } } }
}

fn fields(typed: &Typed) -> Markup {
    let label = Field {
        name: "label",
        label: "Label",
        hint: "Users see this name when they authorize the application.",
        autofocus: true,
        most: Some(512),
        ..Field::default()
    };
    let redirect = Field {
        name: "redirect_uri",
        label: "Redirect URI",
        hint: "An absolute http or https URL without a fragment.",
        code: true,
        most: Some(2048),
        ..Field::default()
    };
    html! { (forms::line(typed, label)) (forms::line(typed, redirect)) }
}

pub async fn new(State(app): State<App>, visit: Visit, caller: Caller) -> Answer {
    let newest = app.read(caller, rules::oauth_clients::newest).await?.to_string();
    Ok(draw_new(&visit, &Typed::proposed(&[(NEWEST, &newest)])))
}

pub async fn create(State(app): State<App>, visit: Visit, caller: Caller, sent: Sent) -> Answer {
    let mut object = sent.object(&["label", "redirect_uri"]);
    object.push(sent.truth("public"));
    let (request, newest) = (sent.request(object), sent.newest());
    let made = app
        .write(caller, move |tx, caller| {
            rules::oauth_clients::create_once(tx, caller, &request, newest)
        })
        .await;
    match made {
        Ok(Once::Made((client, secret))) => Ok(draw_made(&visit, "OAuth client created", &client, &secret)),
        Ok(Once::Before(())) => Ok(made_before(&visit, "client", LIST)),
        Err(error) => {
            let typed = forms::again(sent, error)?;
            Ok(draw_new(&visit, &typed))
        }
    }
}

fn draw_new(visit: &Visit, typed: &Typed) -> Response {
    let public = Field {
        name: "public",
        label: "Public client",
        hint: "For applications that cannot keep a secret, such as mobile and browser apps. They use PKCE instead.",
        ..Field::default()
    };
    let newest = forms::newest(typed.sent.newest());
    let fields = html! { (newest) (fields(typed)) (forms::switch(typed, public)) };
    ask(
        visit,
        "Create client",
        typed,
        &Card::new(NEW, "Create client", LIST.1),
        &fields,
    )
}

/// A page with one form on it.
fn ask(visit: &Visit, title: &str, typed: &Typed, form: &Card, fields: &Markup) -> Response {
    let body = html! { h1 { (title) } (forms::card(visit, typed, form, fields)) };
    visit.form_page(typed, title, &[ACCOUNT, LIST], &body)
}

/// The answer that has the secret on it.
fn draw_made(visit: &Visit, title: &str, client: &OauthClient, secret: &TokenText) -> Response {
    let body = html! {
        h1 { (title) }
        @if !client.public { (shown_once("The client secret", secret.reveal())) }
        dl .facts {
            div { dt { "Label" } dd { (client.label.as_str()) } }
            div { dt { "Client ID" } dd { code { (client.id) } } }
            div { dt { "Redirect URI" } dd { code { (client.redirect_uri.as_str()) } } }
            div { dt { "Type" } dd { (kind(client)) } }
        }
        @if client.public { p { "Public clients have no secret. They use PKCE with the method " code { "S256" } "." } }
        p { a .button href=(LIST.1) { "Done" } }
    };
    visit.page(title, &[ACCOUNT, LIST], &body)
}

pub async fn edit(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<String>) -> Answer {
    let client = to_change(&app, caller, id).await?;
    let typed = Typed::proposed(&now(&client)).now(&client);
    Ok(draw_edit(&visit, &client, &typed))
}

/// What can be typed of a client, as it is now.
fn now(client: &OauthClient) -> [(&'static str, &str); 2] {
    [
        ("label", client.label.as_str()),
        ("redirect_uri", client.redirect_uri.as_str()),
    ]
}

async fn to_change(app: &App, caller: Caller, id: String) -> rules::Result<OauthClient> {
    app.read(caller, move |tx, caller| {
        rules::oauth_clients::load_to_change(tx, caller, &id)
    })
    .await
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<String>,
    sent: Sent,
) -> Answer {
    let request = sent.request(sent.object(&["label", "redirect_uri"]));
    let wanted = id.clone();
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::oauth_clients::update(tx, caller, &wanted, &request)
        })
        .await;
    let typed = match changed {
        Ok(_) => return Ok(done(LIST.1, "client-changed")),
        Err(error) => forms::again(sent, error)?,
    };
    let client = to_change(&app, caller, id).await?;
    let typed = typed.now(&client).beside(&now(&client));
    Ok(draw_edit(&visit, &client, &typed))
}

fn draw_edit(visit: &Visit, client: &OauthClient, typed: &Typed) -> Response {
    let title = format!("Edit {}", client.label.as_str());
    let action = format!("{}/edit", address(client));
    ask(
        visit,
        &title,
        typed,
        &Card::new(action, "Save", LIST.1),
        &fields(typed),
    )
}

pub async fn ask_reset(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<String>) -> Answer {
    let client = to_change(&app, caller, id).await?;
    let title = format!("Reset the secret of {}?", client.label.as_str());
    let action = format!("{}/reset", address(&client));
    let form = Card::new(action, "Reset secret", LIST.1).danger();
    let typed = Typed::default().now(&client);
    let text = html! { p { "The current secret stops working immediately. Access that users have granted is not affected." } };
    Ok(ask(&visit, &title, &typed, &form, &text))
}

pub async fn reset(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<String>,
    sent: Sent,
) -> Answer {
    let request = sent.request(Vec::new());
    let (client, secret) = app
        .write(caller, move |tx, caller| {
            rules::oauth_clients::reset_secret(tx, caller, &id, &request)
        })
        .await?;
    Ok(draw_made(&visit, "Client secret reset", &client, &secret))
}

pub async fn ask_delete(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<String>) -> Answer {
    let client = to_change(&app, caller, id).await?;
    let typed = Typed::default().now(&client);
    Ok(draw_delete(&visit, &client, &typed))
}

pub async fn delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<String>,
    sent: Sent,
) -> Answer {
    let client = to_change(&app, caller.clone(), id.clone()).await?;
    let request = sent.request(Vec::new());
    let deleting = app.write(caller, move |tx, caller| {
        rules::oauth_clients::delete(tx, caller, &id, &request)
    });
    let deleted = forms::confirmed(&sent, client.label.as_str(), deleting).await;
    let typed = match deleted {
        Ok(()) => return Ok(done(LIST.1, "client-deleted")),
        Err(error) => forms::again(sent, error)?,
    };
    Ok(draw_delete(&visit, &client, &typed.now(&client)))
}

fn draw_delete(visit: &Visit, client: &OauthClient, typed: &Typed) -> Response {
    let title = format!("Delete {}?", client.label.as_str());
    let action = format!("{}/delete", address(client));
    let form = Card::new(action, "Delete client", LIST.1).danger();
    let fields = html! {
        p { "Users can no longer authorize this client, and all tokens issued to it are revoked immediately." }
        (forms::confirm(typed, client.label.as_str()))
    };
    ask(visit, &title, typed, &form, &fields)
}
