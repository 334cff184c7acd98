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
        "See private networks; with writing, also create, change and delete them.",
    ),
    (
        "linodes",
        "Instances",
        "See instances with their configs and interfaces; with writing, also create, start, stop and delete them.",
    ),
    (
        "ips",
        "Addresses",
        "See which addresses are in use across your VPCs. Reading is all there is.",
    ),
    (
        "events",
        "Events",
        "Follow what happens on the account, and mark it as seen. Reading is all there is.",
    ),
    (
        "account",
        "Account and support",
        "See profile, users, tokens, clients, quotas and tickets; with writing, also change them and answer tickets.",
    ),
];

/// When a token may end: a word, what is shown for it, and the days until then.
const ENDS: [(&str, &str, Option<i64>); 6] = [
    ("1", "In a day", Some(1)),
    ("7", "In a week", Some(7)),
    ("30", "In 30 days", Some(30)),
    ("90", "In 90 days", Some(90)),
    ("365", "In a year", Some(365)),
    ("never", "Never", None),
];

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> Answer {
    let wanted = query.list(50);
    let tokens = app
        .read(caller.clone(), move |tx, caller| {
            rules::tokens::page(tx, caller, &wanted)
        })
        .await?;
    let now = app.store().context().clock.now();
    let body = html! {
        (tabs(&caller, LIST.1))
        div .title {
            h1 { "Tokens" }
            a .button.main href=(NEW) { "Create token" }
        }
        p .lead { "A token lets a program act for you, without your password and only as far as you say." }
        @if tokens.items.is_empty() {
            (empty("No tokens yet", "Create one for each program that calls the API, and revoke it when the program is gone.", Some(("Create token", NEW))))
        } @else {
            table .list {
                thead { tr {
                    th scope="col" { "Label" } th scope="col" { "Begins with" } th scope="col" { "May be used for" }
                    th scope="col" { "Created" } th scope="col" { "Ends" } th scope="col" { span .hidden { "Actions" } }
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
            td data-label="Begins with" { code { (token.prefix) "…" } }
            td data-label="For" { (scopes(&token.scopes.words())) }
            td data-label="Created" { (time(token.created)) }
            td data-label="Ends" { @match token.expiry {
                None => span .quiet { "never" },
                Some(expiry) if expiry <= now => span .tag.bad { "has ended" },
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
        "" => "Without a label",
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
    if let Some(expiry) = ends(&sent, app.store().context().clock.now()) {
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
                wrong.reason = "Choose at least one family, or everything".to_owned();
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
    hint: "To tell it by later: the program and where it runs, like terraform on build-3.",
    optional: true,
    autofocus: true,
    code: false,
    most: Some(100),
    check: None,
};

fn draw_new(visit: &Visit, typed: &Typed) -> Response {
    let expiry = Field {
        name: "expiry",
        label: "Ends",
        hint: "A token that ends by itself does no harm when it is forgotten.",
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
            legend { "May be used for" }
            @if !wrong.is_empty() { p #f-scopes-wrong .reason { (wrong.join(". ")) } }
            label .option { input type="radio" name="access" value="all" checked[all]; span { strong { "Everything you may do" } " also what you are granted later" } }
            label .option { input type="radio" name="access" value="chosen" checked[!all]; span { strong { "Only what you choose" } " the less, the better" } }
            table .matrix {
                thead { tr { th scope="col" { "Family" } th scope="col" { "Nothing" } th scope="col" { "Read" } th scope="col" { "Read and write" } } }
                tbody {
                    @for (family, name, text) in FAMILIES {
                        @let field = format!("scopes.{family}");
                        tr {
                            th scope="row" { (name) " " code { (family) } p .hint { (text) } }
                            @for (level, shown) in [("", "Nothing"), ("read_only", "Read"), ("read_write", "Read and write")] {
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
        h1 { "Your new token" }
        (shown_once("The token", text.reveal()))
        dl .facts {
            div { dt { "Label" } dd { (name(token)) } }
            div { dt { "May be used for" } dd { (scopes(&token.scopes.words())) } }
            div { dt { "Ends" } dd { @match token.expiry { Some(expiry) => (time(expiry)), None => "never" } } }
        }
        p { "Programs send it with every request:" }
        pre .sample { code { "curl -H \"Authorization: Bearer $TOKEN\" …/v4/vpcs" } }
        p { a .button href=(LIST.1) { "Done" } }
    };
    visit.page("Your new token", &[ACCOUNT, LIST], &body)
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
            p .quiet { "It begins with " code { (token.prefix) "…" } ". What it may be used for, and until when, stays as it is." }
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
            p { "Whatever still uses the token that begins with " code { (token.prefix) } " is shut out at once. It cannot be brought back." }
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
