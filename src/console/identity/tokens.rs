//! Pages of one's own tokens.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::account::{ACCOUNT, made_before, scopes, shown_once, tabs};
use crate::console::error_page::Answer;
use crate::console::forms::{self, Card, Field, NEWEST, SEEN, Sent, Typed};
use crate::console::layout::{done, empty, pager, time};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::id::TokenId;
use crate::model::input::Input;
use crate::model::reason::Code;
use crate::model::tag::Tag;
use crate::model::time::Time;
use crate::model::token::{Token, TokenText};
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::once::Once;
use crate::web::App;
use crate::web::extract::At;

const LIST: (&str, &str) = ("Tokens", "/account/tokens");
const NEW: &str = "/account/tokens/new";

/// The families of scopes that open something here, in words.
const FAMILIES: [(&str, &str, &str); 5] = [
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
        "Read: view the addresses in use in your VPCs. There is nothing to write.",
    ),
    (
        "events",
        "Events",
        "Read: view account events and mark them as seen. There is nothing to write.",
    ),
    (
        "account",
        "Account and support",
        "Read: view the profile, users, tokens, OAuth clients, quotas and tickets. Write: change them and reply to tickets.",
    ),
];

/// When a token may end: a word, what is shown for it, and the days until then.
const ENDS: [(&str, &str, Option<i64>); 6] = [
    ("1", "In 1 day", Some(1)),
    ("7", "In 7 days", Some(7)),
    ("30", "In 30 days", Some(30)),
    ("90", "In 90 days", Some(90)),
    ("365", "In 1 year", Some(365)),
    ("never", "Never", None),
];

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> Answer {
    let wanted = query.list(50);
    let tokens = app
        .read(caller.clone(), move |tx, caller| {
            rules::tokens::page(tx, caller, &wanted)
        })
        .await?;
    let now = app.store().world().clock.now();
    let body = html! {
        (tabs(&caller, LIST.1))
        div .title {
            h1 { "Tokens" }
            a .button.main href=(NEW) { "Create token" }
        }
        p .lead { "Scripts and applications use personal access tokens to call the API as you, with the permissions you choose." }
        @if tokens.items.is_empty() {
            (empty("No tokens yet", "Create one token for each program that calls the API, and revoke it when you no longer need it.", Some(("Create token", NEW))))
        } @else {
            table .list {
                thead { tr {
                    th scope="col" { "Label" } th scope="col" { "Prefix" } th scope="col" { "Permissions" }
                    th scope="col" { "Created" } th scope="col" { "Expires" } th scope="col" { span .hidden { "Actions" } }
                } }
                tbody { @for token in &tokens.items { (row(token, now)) } }
            }
            (pager(&tokens, LIST.1))
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

pub async fn new(State(app): State<App>, visit: Visit, caller: Caller) -> Answer {
    let newest = app.read(caller, rules::tokens::newest).await?.to_string();
    let typed = Typed::proposed(&[
        ("access", "chosen"),
        ("scopes.vpc", "read_only"),
        ("expiry", "90"),
        (NEWEST, &newest),
    ]);
    Ok(draw_new(&visit, &typed))
}

/// Makes a token. Its text is on the answer to this form, and nowhere else ever.
pub async fn create(State(app): State<App>, visit: Visit, caller: Caller, sent: Sent) -> Answer {
    let mut object = sent.filled(&["label"]);
    object.push(("scopes".to_owned(), Input::Text(wanted_scopes(&sent))));
    if let Some(expiry) = ends(&sent, app.store().world().clock.now()) {
        object.push(("expiry".to_owned(), Input::Text(expiry)));
    }
    let (request, newest) = (sent.request(object), sent.newest());
    let made = app
        .write(caller, move |tx, caller| {
            rules::tokens::create_own_once(tx, caller, &request, newest)
        })
        .await;
    match made {
        Ok(Once::Made((token, text))) => Ok(draw_made(&visit, &token, &text)),
        Ok(Once::Before(())) => Ok(made_before(&visit, "token", LIST)),
        Err(error) => {
            let mut typed = forms::again(sent, error)?;
            for wrong in typed
                .wrong
                .iter_mut()
                .filter(|wrong| wrong.code == Code::ScopesInvalid)
            {
                wrong.reason = "Select at least one permission, or full access".to_owned();
            }
            Ok(draw_new(&visit, &typed))
        }
    }
}

fn wanted_scopes(sent: &Sent) -> String {
    if sent.text("access") == "all" {
        return "*".to_owned();
    }
    let chosen = FAMILIES.iter().filter_map(|(family, _, _)| {
        let level = sent.text(&format!("scopes.{family}"));
        (!level.is_empty()).then(|| format!("{family}:{level}"))
    });
    chosen.collect::<Vec<_>>().join(" ")
}

/// The time that was chosen; what is none of the choices goes to the rule as it is, and is refused there.
fn ends(sent: &Sent, now: Time) -> Option<String> {
    let chosen = sent.text("expiry");
    match ENDS.iter().find(|(word, _, _)| *word == chosen) {
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
    most: Some(100),
    check: None,
};

fn draw_new(visit: &Visit, typed: &Typed) -> Response {
    let expiry = Field {
        name: "expiry",
        label: "Expires",
        hint: "An expiration date limits the damage if the token leaks.",
        ..Field::default()
    };
    let choices = ENDS.map(|(word, shown, _)| (word.to_owned(), shown.to_owned()));
    let form = Card::new(NEW, "Create token", LIST.1).wide();
    let body = html! {
        h1 { "Create token" }
        (forms::card(visit, typed, &form, &html! {
            (forms::newest(typed.sent.newest()))
            (forms::line(typed, LABEL))
            (forms::choice(typed, expiry, &choices))
            (access(typed))
        }))
    };
    visit.form_page(typed, "Create token", &[ACCOUNT, LIST], &body)
}

/// What the token may be used for.
fn access(typed: &Typed) -> Markup {
    let wrong = typed.reasons("scopes");
    let all = typed.sent.text("access") == "all";
    html! {
        fieldset #(forms::id_of("scopes")) .access .field .wrong[!wrong.is_empty()] aria-describedby=[(!wrong.is_empty()).then_some("f-scopes-wrong")] {
            legend { "Permissions" }
            @if !wrong.is_empty() { p #f-scopes-wrong .reason { (wrong.join(". ")) } }
            label .option { input type="radio" name="access" value="all" checked[all]; span { strong { "Full access" } " everything you can do, now and later" } }
            label .option { input type="radio" name="access" value="chosen" checked[!all]; span { strong { "Custom access" } " only the permissions selected below" } }
            table .matrix {
                thead { tr { th scope="col" { "Scope" } th scope="col" { "No access" } th scope="col" { "Read-only" } th scope="col" { "Read/write" } } }
                tbody {
                    @for (family, name, text) in FAMILIES {
                        @let field = format!("scopes.{family}");
                        tr {
                            th scope="row" { (name) " " code { (family) } p .hint { (text) } }
                            @for (level, shown) in [("", "No access"), ("read_only", "Read-only"), ("read_write", "Read/write")] {
                                td { label { input type="radio" name=(field) value=(level) checked[typed.sent.text(&field) == level]; span { (shown) } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn draw_made(visit: &Visit, token: &Token, text: &TokenText) -> Response {
    let body = html! {
        h1 { "Token created" }
        (shown_once("The token", text.reveal()))
        dl .facts {
            div { dt { "Label" } dd { (name(token)) } }
            div { dt { "Permissions" } dd { (scopes(&token.scopes.words())) } }
            div { dt { "Expires" } dd { @match token.expiry { Some(expiry) => (time(expiry)), None => "Never" } } }
        }
        p { "Send it with every request:" }
        pre .sample { code { "curl -H \"Authorization: Bearer $TOKEN\" …/v4/vpcs" } }
        p { a .button href=(LIST.1) { "Done" } }
    };
    visit.page("Token created", &[ACCOUNT, LIST], &body)
}

pub async fn edit(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<TokenId>) -> Answer {
    let token = app
        .read(caller, move |tx, caller| rules::tokens::view(tx, caller, id))
        .await?;
    let typed = Typed::proposed(&[("label", token.label.as_str())]).now(&token);
    Ok(draw_edit(&visit, &token, &typed))
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<TokenId>,
    sent: Sent,
) -> Answer {
    let request = sent.request(sent.object(&["label"]));
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::tokens::update(tx, caller, id, &request)
        })
        .await;
    let typed = match changed {
        Ok(_) => return Ok(done(LIST.1, "token-changed")),
        Err(error) => forms::again(sent, error)?,
    };
    let token = app
        .read(caller, move |tx, caller| rules::tokens::view(tx, caller, id))
        .await?;
    Ok(draw_edit(&visit, &token, &typed.now(&token)))
}

fn draw_edit(visit: &Visit, token: &Token, typed: &Typed) -> Response {
    let form = Card::new(format!("{}/{}/edit", LIST.1, token.id), "Save", LIST.1);
    let body = html! {
        h1 { "Rename " (name(token)) }
        (forms::card(visit, typed, &form, &html! {
            (forms::line(typed, LABEL))
            p .quiet { "The permissions and the expiration date of " code { (token.prefix) "…" } " cannot be changed." }
        }))
    };
    visit.form_page(typed, "Rename token", &[ACCOUNT, LIST], &body)
}

pub async fn ask_revoke(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<TokenId>) -> Answer {
    let token = app
        .read(caller, move |tx, caller| rules::tokens::view(tx, caller, id))
        .await?;
    let typed = Typed::proposed(&[(SEEN, &Tag::of(&token).to_string())]);
    let form = Card::new(format!("{}/{id}/revoke", LIST.1), "Revoke token", LIST.1).danger();
    let body = html! {
        h1 { "Revoke " (name(&token)) "?" }
        (forms::card(&visit, &typed, &form, &html! {
            p { "Programs that use " code { (token.prefix) "…" } " lose access immediately. This cannot be undone." }
        }))
    };
    Ok(visit.page("Revoke token", &[ACCOUNT, LIST], &body))
}

pub async fn revoke(State(app): State<App>, caller: Caller, At(id): At<TokenId>, sent: Sent) -> Answer {
    let request = sent.request(Vec::new());
    app.write(caller, move |tx, caller| {
        rules::tokens::delete(tx, caller, id, &request)
    })
    .await?;
    Ok(done(LIST.1, "token-revoked"))
}
