//! Pages for the personal access tokens of the user.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::account::{ACCOUNT, already_created, one_time_secret, scopes, tabs};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState, NEWEST_ID_FIELD, VERSION_FIELD};
use crate::console::layout::{empty_state, pagination, redirect_with_notice, time};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::entity_tag::EntityTag;
use crate::model::id::TokenId;
use crate::model::input::Input;
use crate::model::reason::Code;
use crate::model::scope::{Level, Scope, Scopes};
use crate::model::time::Time;
use crate::model::token::{Token, TokenText};
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::submission::Submission;
use crate::web::App;
use crate::web::extract::At;

/// The label and the URL of the list of tokens.
const LIST: (&str, &str) = ("Tokens", "/account/tokens");
const NEW_URL: &str = "/account/tokens/new";

/// The scopes that apply to this service, with label and hint.
const SCOPES: [(&str, &str, &str); 5] = [
    (
        "vpc",
        "VPCs and subnets",
        "Read: view VPCs and subnets. Write: create, update and delete them.",
    ),
    (
        "linodes",
        "Instances",
        "Read: view instances, configs and interfaces. Write: create, boot, shut down and delete them.",
    ),
    (
        "ips",
        "IP addresses",
        "Read: view the addresses in use in your VPCs. Write: no additional access.",
    ),
    (
        "events",
        "Events",
        "Read: view account events and mark them as seen. Write: no additional access.",
    ),
    (
        "account",
        "Account and support",
        "Read: view the profile, users, tokens, OAuth clients, quotas and tickets. Write: change them, open tickets and reply.",
    ),
];

/// The choices for the expiry of a token: value, label and number of days.
const EXPIRIES: [(&str, &str, Option<i64>); 6] = [
    ("1", "In 1 day", Some(1)),
    ("7", "In 7 days", Some(7)),
    ("30", "In 30 days", Some(30)),
    ("90", "In 90 days", Some(90)),
    ("365", "In 1 year", Some(365)),
    ("never", "Never", None),
];

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    let list_request = query.list_request();
    let tokens = app
        .read(caller.clone(), move |tx, caller| {
            rules::tokens::page(tx, caller, &list_request)
        })
        .await?;
    let now = app.store().context().clock.now();
    let body = html! {
        (tabs(&caller, LIST.1))
        div .title {
            h1 { "Tokens" }
            a .button.main href=(NEW_URL) { "Create token" }
        }
        p .lead { "Scripts and applications use personal access tokens to call the API as you, with the permissions you choose." }
        @if tokens.items.is_empty() {
            (empty_state("No tokens yet", "Create one token for each program that calls the API, and revoke it when you no longer need it.", Some(("Create token", NEW_URL))))
        } @else {
            table .list {
                thead { tr {
                    th scope="col" { "Label" } th scope="col" { "Prefix" } th scope="col" { "Permissions" }
                    th scope="col" { "Created" } th scope="col" { "Expires" } th scope="col" { span .hidden { "Actions" } }
                } }
                tbody { @for token in &tokens.items { (row(token, now)) } }
            }
            (pagination(&tokens, LIST.1))
        }
    };
    Ok(visit.page("Tokens", &[], &body))
}

fn row(token: &Token, now: Time) -> Markup {
    html! {
        tr {
            th scope="row" { (name(token)) " " span .id { (token.id) } }
            td data-label="Prefix" { code { (token.prefix) "…" } }
            td data-label="Permissions" { (scopes(&token.scopes.words())) }
            td data-label="Created" { (time(token.created)) }
            td data-label="Expires" { @match token.expiry {
                None => span .quiet { "Never" },
                Some(expiry) if expiry <= now => span .tag.bad { "Expired" },
                Some(expiry) => (time(expiry)),
            } }
            td { div .actions {
                a href=(format!("{}/{}/edit", LIST.1, token.id)) { "Rename" span .hidden { " " (name(token)) } }
                a href=(format!("{}/{}/revoke", LIST.1, token.id)) { "Revoke" span .hidden { " " (name(token)) } }
            } }
        }
    }
}

fn name(token: &Token) -> &str {
    match token.label.as_str() {
        "" => "(no label)",
        label => label,
    }
}

pub async fn new(State(app): State<App>, visit: Visit, caller: Caller) -> PageResult {
    let newest = app.read(caller, rules::tokens::newest).await?.to_string();
    let form_state = FormState::prefilled(&[
        ("access", "chosen"),
        ("scopes.vpc", "read_only"),
        ("expiry", "90"),
        (NEWEST_ID_FIELD, &newest),
    ]);
    Ok(render_new(&visit, &form_state))
}

/// Creates a token. Only this response shows the token.
pub async fn create(State(app): State<App>, visit: Visit, caller: Caller, data: FormData) -> PageResult {
    let mut object = data.non_empty(&["label"]);
    object.push(("scopes".to_owned(), Input::Text(selected_scopes(&data))));
    if let Some(expiry) = selected_expiry(&data, app.store().context().clock.now()) {
        object.push(("expiry".to_owned(), Input::Text(expiry)));
    }
    let (request, newest) = (data.request(object), data.newest_id());
    let created = app
        .write(caller, move |tx, caller| {
            rules::tokens::create_own_once(tx, caller, &request, newest)
        })
        .await;
    match created {
        Ok(Submission::Created((token, text))) => Ok(render_created(&visit, &token, &text)),
        Ok(Submission::Duplicate(())) => Ok(already_created(&visit, "token", LIST)),
        Err(error) => {
            let mut form_state = forms::from_error(data, error)?;
            for error in form_state
                .errors
                .iter_mut()
                .filter(|error| error.code == Code::ScopesInvalid)
            {
                error.reason = "Select at least one permission, or full access".to_owned();
            }
            Ok(render_new(&visit, &form_state))
        }
    }
}

fn selected_scopes(data: &FormData) -> String {
    if data.text("access") == "all" {
        return "*".to_owned();
    }
    let chosen = SCOPES.iter().filter_map(|(family, _, _)| {
        let level = data.text(&format!("scopes.{family}"));
        (!level.is_empty()).then(|| format!("{family}:{level}"))
    });
    chosen.collect::<Vec<_>>().join(" ")
}

/// The selected time of expiry; `None` for a token that does not expire. Any other value is passed to the
/// rule, which refuses it.
fn selected_expiry(data: &FormData, now: Time) -> Option<String> {
    let chosen = data.text("expiry");
    match EXPIRIES.iter().find(|(word, _, _)| *word == chosen) {
        Some((_, _, None)) => None,
        Some((_, _, Some(days))) => Some(now.plus_seconds(days * 24 * 3600).to_string()),
        None => Some(chosen.to_owned()),
    }
}

const LABEL: Field = Field {
    name: "label",
    label: "Label",
    hint: "For example, the program and where it runs: terraform on build-3.",
    optional: true,
    autofocus: true,
    code: false,
    max_chars: Some(100),
    check_url: None,
};

fn render_new(visit: &Visit, form_state: &FormState) -> Response {
    let expiry = Field {
        name: "expiry",
        label: "Expires",
        hint: "An expiration date limits the damage if the token leaks.",
        ..Field::default()
    };
    let choices = EXPIRIES.map(|(word, shown, _)| (word.to_owned(), shown.to_owned()));
    let form = Card::new(NEW_URL, "Create token", LIST.1).wide();
    let body = html! {
        h1 { "Create token" }
        (forms::card(visit, form_state, &form, &html! {
            (forms::newest_id_field(form_state.data.newest_id()))
            (forms::text_input(form_state, LABEL))
            (forms::select(form_state, expiry, &choices))
            (access_fields(form_state))
        }))
    };
    visit.form_page(form_state, "Create token", &[ACCOUNT, LIST], &body)
}

/// The permissions of the token.
fn access_fields(form_state: &FormState) -> Markup {
    let errors = form_state.errors_on("scopes");
    let is_full_access = form_state.data.text("access") == "all";
    html! {
        fieldset #(forms::element_id("scopes")) .access .field .wrong[!errors.is_empty()] aria-describedby=[(!errors.is_empty()).then_some("f-scopes-wrong")] {
            legend { "Permissions" }
            @if !errors.is_empty() { p #f-scopes-wrong .reason { (errors.join(". ")) } }
            label .option { input type="radio" name="access" value="all" checked[is_full_access]; span { strong { "Full access" } ": all your permissions, including any that you get later" } }
            label .option { input type="radio" name="access" value="chosen" checked[!is_full_access]; span { strong { "Custom access" } ": only the permissions selected below" } }
            table .matrix {
                thead { tr { th scope="col" { "Scope" } th scope="col" { "No access" } th scope="col" { "Read-only" } th scope="col" { "Read/write" } } }
                tbody {
                    @for (family, name, text) in SCOPES {
                        @let field = format!("scopes.{family}");
                        tr {
                            th scope="row" { (name) " " code { (family) } p .hint { (text) } }
                            @for (level, shown) in [("", "No access"), ("read_only", "Read-only"), ("read_write", "Read/write")] {
                                td { label { input type="radio" name=(field) value=(level) checked[form_state.data.text(&field) == level]; span { (shown) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn render_created(visit: &Visit, token: &Token, text: &TokenText) -> Response {
    let body = html! {
        h1 { "Token created" }
        (one_time_secret("The token", text.reveal()))
        dl .facts {
            div { dt { "Label" } dd { (name(token)) } }
            div { dt { "Permissions" } dd { (scopes(&token.scopes.words())) } }
            div { dt { "Expires" } dd { @match token.expiry { Some(expiry) => (time(expiry)), None => "Never" } } }
        }
        p { "Send it with every request. To try it in a terminal:" }
        @let sample = format!("curl -H \"Authorization: Bearer {}\" {}/v4{}", text.reveal(), visit.origin, sample_path(&token.scopes));
        div .copied { code #sample { (sample) } button type="button" data-copy="sample" hidden { "Copy" } }
        p { a .button href=(LIST.1) { "Done" } }
    };
    visit.page("Token created", &[ACCOUNT, LIST], &body)
}

/// The path of an operation that a token with these scopes may call.
fn sample_path(scopes: &Scopes) -> &'static str {
    const PATHS: [(&str, &str); 4] = [
        ("account", "/profile"),
        ("vpc", "/vpcs"),
        ("linodes", "/linode/instances"),
        ("events", "/account/events"),
    ];
    let mut paths = PATHS.iter();
    let allowed = paths.find(|&&(family, _)| scopes.allow(Scope::new(family, Level::ReadOnly)));
    // Every token may read the regions.
    allowed.map_or("/regions", |&(_, path)| path)
}

pub async fn edit(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<TokenId>) -> PageResult {
    let token = app
        .read(caller, move |tx, caller| rules::tokens::view(tx, caller, id))
        .await?;
    let form_state = FormState::prefilled(&[("label", token.label.as_str())]).with_version_of(&token);
    Ok(render_edit(&visit, &token, &form_state))
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<TokenId>,
    data: FormData,
) -> PageResult {
    let request = data.request(data.object(&["label"]));
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::tokens::update(tx, caller, id, &request)
        })
        .await;
    let form_state = match changed {
        Ok(_) => return Ok(redirect_with_notice(LIST.1, "token-changed")),
        Err(error) => forms::from_error(data, error)?,
    };
    let token = app
        .read(caller, move |tx, caller| rules::tokens::view(tx, caller, id))
        .await?;
    Ok(render_edit(&visit, &token, &form_state.with_version_of(&token)))
}

fn render_edit(visit: &Visit, token: &Token, form_state: &FormState) -> Response {
    let form = Card::new(format!("{}/{}/edit", LIST.1, token.id), "Save", LIST.1);
    let body = html! {
        h1 { "Rename " (name(token)) }
        (forms::card(visit, form_state, &form, &html! {
            (forms::text_input(form_state, LABEL))
            p .quiet { "The permissions and the expiration date of " code { (token.prefix) "…" } " cannot be changed." }
        }))
    };
    visit.form_page(form_state, "Rename token", &[ACCOUNT, LIST], &body)
}

pub async fn confirm_revoke(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<TokenId>,
) -> PageResult {
    let token = app
        .read(caller, move |tx, caller| rules::tokens::view(tx, caller, id))
        .await?;
    let form_state = FormState::prefilled(&[(VERSION_FIELD, &EntityTag::of(&token).to_string())]);
    let form = Card::new(format!("{}/{id}/revoke", LIST.1), "Revoke token", LIST.1).danger();
    let body = html! {
        h1 { @match token.label.as_str() { "" => "Revoke the token without a label?", label => { "Revoke “" (label) "”?" } } }
        (forms::card(&visit, &form_state, &form, &html! {
            p { "Programs that use " code { (token.prefix) "…" } " lose access immediately. This cannot be undone." }
        }))
    };
    Ok(visit.page("Revoke token", &[ACCOUNT, LIST], &body))
}

pub async fn revoke(
    State(app): State<App>,
    caller: Caller,
    At(id): At<TokenId>,
    data: FormData,
) -> PageResult {
    let request = data.request(Vec::new());
    app.write(caller, move |tx, caller| {
        rules::tokens::delete(tx, caller, id, &request)
    })
    .await?;
    Ok(redirect_with_notice(LIST.1, "token-revoked"))
}
