//! Pages of what a restricted user may do.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::account::ACCOUNT;
use crate::console::error_page::{Answer, ErrorPage};
use crate::console::forms::{self, Card, Field, Sent, Typed};
use crate::console::layout::done;
use crate::console::users::{self, LIST};
use crate::console::visit::Visit;
use crate::model::grant::Granting;
use crate::model::grant::{Global, Permission};
use crate::model::input::Input;
use crate::model::user::User;
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::grants::Grants;
use crate::web::App;
use crate::web::extract::At;

/// The grants on the account as a whole that open something here, in words.
const GLOBALS: [(Global, &str, &str); 2] = [
    (
        Global::AddVpcs,
        "Create VPCs",
        "The user gets read/write access to each VPC they create.",
    ),
    (
        Global::AddLinodes,
        "Create instances",
        "The user gets read/write access to each instance they create.",
    ),
];

/// What is said of a user's grants on the user's own page.
pub fn summary(grants: &Grants, user: &str) -> Markup {
    let globals = GLOBALS
        .iter()
        .filter(|(global, _, _)| grants.globals.contains(global));
    let globals: Vec<_> = globals.map(|(_, name, _)| *name).collect();
    let nothing = grants.account_access.is_none()
        && grants.globals.is_empty()
        && grants
            .vpcs
            .iter()
            .chain(&grants.linodes)
            .all(|granting| granting.permission.is_none());
    html! {
        @if nothing {
            p .quiet { "No grants yet. " a href=(format!("{user}/grants")) { "Add grants" } }
        } @else {
            dl .facts {
                div { dt { "Account and support" } dd { (level(grants.account_access)) } }
                div { dt { "Account-wide permissions" } dd { @if globals.is_empty() { "–" } @else { (globals.join(", ")) } } }
            }
            div .beside {
                (granted("VPCs", &grants.vpcs))
                (granted("Instances", &grants.linodes))
            }
        }
    }
}

fn granted(title: &str, grantings: &[Granting]) -> Markup {
    let held: Vec<_> = grantings
        .iter()
        .filter(|granting| granting.permission.is_some())
        .collect();
    html! {
        div {
            h3 { (title) }
            @if held.is_empty() { p .quiet { "None." } } @else {
                table .list {
                    thead { tr { th scope="col" { "Label" } th scope="col" { "Access" } } }
                    tbody { @for granting in held { tr {
                        th scope="row" { (granting.label) " " span .id { (granting.id) } }
                        td data-label="Access" { (level(granting.permission)) }
                    } } }
                }
            }
        }
    }
}

fn level(permission: Option<Permission>) -> &'static str {
    match permission {
        None => "No access",
        Some(Permission::ReadOnly) => "Read-only",
        Some(Permission::ReadWrite) => "Read/write",
    }
}

pub async fn edit(State(app): State<App>, visit: Visit, caller: Caller, At(username): At<String>) -> Answer {
    let (user, grants) = load(&app, caller, username).await?;
    let typed = typed(&grants).now(&grants);
    Ok(draw(&visit, &user, &grants, &typed))
}

async fn load(app: &App, caller: Caller, username: String) -> Result<(User, Grants), ErrorPage> {
    let (user, grants) = app
        .read(caller, move |tx, caller| {
            let user = rules::users::view(tx, caller, &username)?;
            Ok((user, rules::grants::of(tx, caller, &username)?))
        })
        .await?;
    Ok((user, grants.ok_or_else(ErrorPage::not_found)?))
}

/// The form as the grants are now.
fn typed(grants: &Grants) -> Typed {
    let mut sent = Sent::default();
    sent.set("global.account_access", word(grants.account_access));
    for global in &grants.globals {
        sent.set(&format!("global.{}", global.word()), "true");
    }
    for (list, grantings) in [("vpc", &grants.vpcs), ("linode", &grants.linodes)] {
        for (at, granting) in grantings.iter().enumerate() {
            sent.set(&format!("{list}[{at}].id"), granting.id.to_string());
            sent.set(&format!("{list}[{at}].permissions"), word(granting.permission));
        }
    }
    Typed::refused(sent, Vec::new())
}

fn word(permission: Option<Permission>) -> &'static str {
    permission.map_or("", Permission::word)
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
    sent: Sent,
) -> Answer {
    let mut globals = vec![permission(&sent, "global.account_access", "account_access")];
    for (global, _, _) in GLOBALS {
        let (_, held) = sent.truth(&format!("global.{}", global.word()));
        globals.push((global.word().to_owned(), held));
    }
    let object = vec![
        ("global".to_owned(), Input::Object(globals)),
        ("vpc".to_owned(), entries(&sent, "vpc")),
        ("linode".to_owned(), entries(&sent, "linode")),
    ];
    let (request, name) = (app.prepare(sent.request(object)), username.clone());
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::grants::update(tx, caller, &name, &request)
        })
        .await;
    let typed = match changed {
        Ok(_) => return Ok(done(&users::address_of(&username), "grants-changed")),
        Err(error) => forms::again(sent, error)?,
    };
    let (user, grants) = load(&app, caller, username).await?;
    Ok(draw(&visit, &user, &grants, &typed.now(&grants)))
}

/// A permission for a rule; nothing chosen is none.
fn permission(sent: &Sent, field: &str, name: &str) -> (String, Input) {
    let value = match sent.text(field) {
        "" => Input::Null,
        word => Input::Text(word.to_owned()),
    };
    (name.to_owned(), value)
}

fn entries(sent: &Sent, list: &str) -> Input {
    let entry = |at: usize| {
        let id = sent.text(&format!("{list}[{at}].id"));
        let id = id.parse().map_or(Input::Text(id.to_owned()), Input::Integer);
        let permissions = permission(sent, &format!("{list}[{at}].permissions"), "permissions");
        Input::Object(vec![("id".to_owned(), id), permissions])
    };
    Input::List((0..sent.rows(list, &["id"])).map(entry).collect())
}

fn draw(visit: &Visit, user: &User, grants: &Grants, typed: &Typed) -> Response {
    let (name, here) = (user.username.as_str(), users::address(user));
    let title = format!("Grants for {name}");
    let form = Card::new(format!("{here}/grants"), "Save", &here).wide();
    let body = html! {
        h1 { (title) }
        (forms::card(visit, typed, &form, &html! {
            fieldset .access {
                legend { "Account-wide permissions" }
                table .matrix {
                    thead { (head("Permission")) }
                    tbody { (row(typed, "global.account_access", html! {
                        "Account and support " p .hint { "Account settings, OAuth clients and all tickets. Users can always access their own tickets." }
                    })) }
                }
                @for (global, label, hint) in GLOBALS {
                    @let field = format!("global.{}", global.word());
                    (forms::switch(typed, Field { name: &field, label, hint, ..Field::default() }))
                }
            }
            (matrix(typed, "VPCs", "vpc", &grants.vpcs, "This account has no VPCs yet."))
            (matrix(typed, "Instances", "linode", &grants.linodes, "This account has no instances yet."))
        }))
    };
    visit.form_page(typed, &title, &[ACCOUNT, LIST, (name, &here)], &body)
}

fn matrix(typed: &Typed, title: &str, list: &str, grantings: &[Granting], none: &str) -> Markup {
    html! {
        fieldset .access {
            legend { (title) }
            @if grantings.is_empty() { p .quiet { (none) } } @else {
                table .matrix {
                    thead { (head("Label")) }
                    tbody {
                        @for (at, granting) in grantings.iter().enumerate() {
                            @let field = format!("{list}[{at}].permissions");
                            (row(typed, &field, html! {
                                (granting.label) " " span .id { (granting.id) }
                                input type="hidden" name=(format!("{list}[{at}].id")) value=(granting.id);
                            }))
                        }
                    }
                }
            }
        }
    }
}

fn head(what: &str) -> Markup {
    html! { tr {
        th scope="col" { (what) }
        @for permission in LEVELS { th scope="col" { (level(permission)) } }
    } }
}

const LEVELS: [Option<Permission>; 3] = [None, Some(Permission::ReadOnly), Some(Permission::ReadWrite)];

fn row(typed: &Typed, field: &str, what: Markup) -> Markup {
    let wrong = typed.reasons(field);
    html! {
        tr #(forms::id_of(field)) {
            th scope="row" { (what) @if !wrong.is_empty() { p .reason { (wrong.join(". ")) } } }
            @for permission in LEVELS {
                @let word = word(permission);
                td { label { input type="radio" name=(field) value=(word) checked[typed.sent.text(field) == word]; span { (level(permission)) } } }
            }
        }
    }
}
