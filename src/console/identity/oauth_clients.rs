//! Pages for the OAuth clients of an account.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::account::{ACCOUNT, already_created, one_time_secret, tabs};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState, NEWEST_ID_FIELD};
use crate::console::layout::{empty_state, pagination, redirect_with_notice, time};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::oauth::OauthClient;
use crate::model::token::TokenText;
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::submission::Submission;
use crate::web::App;
use crate::web::extract::At;

/// The label and the URL of the list of clients.
const LIST: (&str, &str) = ("OAuth clients", "/account/clients");
const NEW_URL: &str = "/account/clients/new";

fn url(client: &OauthClient) -> String {
    format!("{}/{}", LIST.1, client.id)
}

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    let list_request = query.list_request();
    let clients = app
        .read(caller.clone(), move |tx, caller| {
            rules::oauth_clients::list(tx, caller, &list_request)
        })
        .await?;
    let may_change = !caller.is_restricted();
    let body = html! {
        (tabs(&caller, LIST.1))
        div .title {
            h1 { "OAuth clients" }
            @if may_change { a .button.main href=(NEW_URL) { "Create client" } }
        }
        p .lead { "Register your applications here so that users can authorize them to access their accounts." }
        @if clients.items.is_empty() {
            (empty_state("No OAuth clients yet", "Create an OAuth client for each application that requests access from users.",
                may_change.then_some(("Create client", NEW_URL))))
        } @else {
            table .list {
                thead { tr {
                    th scope="col" { "Label" } th scope="col" { "Client ID" } th scope="col" { "Redirect URI" } th scope="col" { "Type" }
                    th scope="col" { "Created" } @if may_change { th scope="col" { span .hidden { "Actions" } } }
                } }
                tbody {
                    @for client in &clients.items {
                        @let client_url = url(client);
                        tr {
                            th scope="row" { (client.label.as_str()) }
                            td data-label="Client ID" { code { (client.id) } }
                            td .long data-label="Redirect URI" { code { (client.redirect_uri.as_str()) } }
                            td data-label="Type" { (kind(client)) }
                            td data-label="Created" { (time(client.created)) }
                            @if may_change { td { div .actions {
                                a href=(format!("{client_url}/edit")) { "Edit" span .hidden { " " (client.label.as_str()) } }
                                @if !client.public { a href=(format!("{client_url}/reset")) { "Reset secret" span .hidden { " for " (client.label.as_str()) } } }
                                a href=(format!("{client_url}/delete")) { "Delete" span .hidden { " " (client.label.as_str()) } }
                            } } }
                        }
                    }
                }
            }
            (pagination(&clients, LIST.1))
        }
    };
    Ok(visit.page("OAuth clients", &[], &body))
}

fn kind(client: &OauthClient) -> Markup {
    html! { @if client.public { span .tag { "Public" } } @else { span .tag { "Confidential" } } }
}

fn fields(form_state: &FormState) -> Markup {
    let label = Field {
        name: "label",
        label: "Label",
        hint: "Users see this name when they authorize the application.",
        autofocus: true,
        max_chars: Some(512),
        ..Field::default()
    };
    let redirect = Field {
        name: "redirect_uri",
        label: "Redirect URI",
        hint: "An https URL without a fragment. For localhost, http is allowed too.",
        code: true,
        max_chars: Some(2048),
        ..Field::default()
    };
    html! { (forms::text_input(form_state, label)) (forms::text_input(form_state, redirect)) }
}

pub async fn new(State(app): State<App>, visit: Visit, caller: Caller) -> PageResult {
    let newest = app.read(caller, rules::oauth_clients::newest).await?.to_string();
    Ok(render_new(
        &visit,
        &FormState::prefilled(&[(NEWEST_ID_FIELD, &newest)]),
    ))
}

pub async fn create(State(app): State<App>, visit: Visit, caller: Caller, data: FormData) -> PageResult {
    let mut object = data.object(&["label", "redirect_uri"]);
    object.push(data.checkbox("public"));
    let (request, newest) = (data.request(object), data.newest_id());
    let created = app
        .write(caller, move |tx, caller| {
            rules::oauth_clients::create_once(tx, caller, &request, newest)
        })
        .await;
    match created {
        Ok(Submission::Created((client, secret))) => {
            Ok(render_created(&visit, "OAuth client created", &client, &secret))
        }
        Ok(Submission::Duplicate(())) => Ok(already_created(&visit, "client", LIST)),
        Err(error) => {
            let form_state = forms::from_error(data, error)?;
            Ok(render_new(&visit, &form_state))
        }
    }
}

fn render_new(visit: &Visit, form_state: &FormState) -> Response {
    let public = Field {
        name: "public",
        label: "Public client",
        hint: "For applications that cannot keep a secret, such as mobile and browser apps. They use PKCE instead.",
        ..Field::default()
    };
    let newest = forms::newest_id_field(form_state.data.newest_id());
    let fields = html! { (newest) (fields(form_state)) (forms::checkbox(form_state, public)) };
    form_page(
        visit,
        "Create client",
        form_state,
        &Card::new(NEW_URL, "Create client", LIST.1),
        &fields,
    )
}

/// A page with one form.
fn form_page(visit: &Visit, title: &str, form_state: &FormState, form: &Card, fields: &Markup) -> Response {
    let body = html! { h1 { (title) } (forms::card(visit, form_state, form, fields)) };
    visit.form_page(form_state, title, &[ACCOUNT, LIST], &body)
}

/// The page that shows the secret.
fn render_created(visit: &Visit, title: &str, client: &OauthClient, secret: &TokenText) -> Response {
    let body = html! {
        h1 { (title) }
        @if !client.public { (one_time_secret("The client secret", secret.reveal())) }
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

pub async fn edit(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<String>) -> PageResult {
    let client = load(&app, caller, id).await?;
    let form_state = FormState::prefilled(&editable_fields(&client)).with_version_of(&client);
    Ok(render_edit(&visit, &client, &form_state))
}

/// The editable fields of a client.
fn editable_fields(client: &OauthClient) -> [(&'static str, &str); 2] {
    [
        ("label", client.label.as_str()),
        ("redirect_uri", client.redirect_uri.as_str()),
    ]
}

async fn load(app: &App, caller: Caller, id: String) -> rules::Result<OauthClient> {
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
    data: FormData,
) -> PageResult {
    let request = data.request(data.object(&["label", "redirect_uri"]));
    let client_id = id.clone();
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::oauth_clients::update(tx, caller, &client_id, &request)
        })
        .await;
    let form_state = match changed {
        Ok(_) => return Ok(redirect_with_notice(LIST.1, "client-changed")),
        Err(error) => forms::from_error(data, error)?,
    };
    let client = load(&app, caller, id).await?;
    let form_state = form_state
        .with_version_of(&client)
        .with_current_values(&editable_fields(&client));
    Ok(render_edit(&visit, &client, &form_state))
}

fn render_edit(visit: &Visit, client: &OauthClient, form_state: &FormState) -> Response {
    let title = format!("Edit {}", client.label.as_str());
    let action = format!("{}/edit", url(client));
    form_page(
        visit,
        &title,
        form_state,
        &Card::new(action, "Save", LIST.1),
        &fields(form_state),
    )
}

pub async fn confirm_reset(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<String>,
) -> PageResult {
    let client = load(&app, caller, id).await?;
    let title = format!("Reset the secret of {}?", client.label.as_str());
    let action = format!("{}/reset", url(&client));
    let form = Card::new(action, "Reset secret", LIST.1).danger();
    let form_state = FormState::default().with_version_of(&client);
    let text = html! { p { "The current secret stops working immediately, and all tokens of this client are revoked. Users must authorize it again." } };
    Ok(form_page(&visit, &title, &form_state, &form, &text))
}

pub async fn reset(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<String>,
    data: FormData,
) -> PageResult {
    let request = data.request(Vec::new());
    let (client, secret) = app
        .write(caller, move |tx, caller| {
            rules::oauth_clients::reset_secret(tx, caller, &id, &request)
        })
        .await?;
    Ok(render_created(&visit, "Client secret reset", &client, &secret))
}

pub async fn confirm_delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<String>,
) -> PageResult {
    let client = load(&app, caller, id).await?;
    let form_state = FormState::default().with_version_of(&client);
    Ok(render_delete(&visit, &client, &form_state))
}

pub async fn delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<String>,
    data: FormData,
) -> PageResult {
    let client = load(&app, caller.clone(), id.clone()).await?;
    let request = data.request(Vec::new());
    let deleting = app.write(caller, move |tx, caller| {
        rules::oauth_clients::delete(tx, caller, &id, &request)
    });
    let deleted = forms::if_confirmed(&data, client.label.as_str(), deleting).await;
    let form_state = match deleted {
        Ok(()) => return Ok(redirect_with_notice(LIST.1, "client-deleted")),
        Err(error) => forms::from_error(data, error)?,
    };
    Ok(render_delete(
        &visit,
        &client,
        &form_state.with_version_of(&client),
    ))
}

fn render_delete(visit: &Visit, client: &OauthClient, form_state: &FormState) -> Response {
    let title = format!("Delete {}?", client.label.as_str());
    let action = format!("{}/delete", url(client));
    let form = Card::new(action, "Delete client", LIST.1).danger();
    let fields = html! {
        p { "Users can no longer authorize this client, and all tokens issued to it are revoked immediately." }
        (forms::confirmation_input(form_state, client.label.as_str()))
    };
    form_page(visit, &title, form_state, &form, &fields)
}
