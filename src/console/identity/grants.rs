//! Pages for the grants of a restricted user.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::account::ACCOUNT;
use crate::console::error_page::{ErrorPage, PageResult};
use crate::console::forms::{self, Card, Field, FormData, FormState};
use crate::console::layout::redirect_with_notice;
use crate::console::users::{self, LIST};
use crate::console::visit::Visit;
use crate::model::grant::EntityGrant;
use crate::model::grant::{Global, Permission};
use crate::model::input::Input;
use crate::model::user::User;
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::grants::Grants;
use crate::web::App;
use crate::web::extract::At;

/// The account-wide grants that apply to this service, with label and hint.
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

/// The grants on the page of a user.
pub fn summary(grants: &Grants, user_url: &str) -> Markup {
    let globals = GLOBALS
        .iter()
        .filter(|(global, _, _)| grants.globals.contains(global));
    let globals: Vec<_> = globals.map(|(_, name, _)| *name).collect();
    let has_none = grants.account_access.is_none()
        && grants.globals.is_empty()
        && grants
            .vpcs
            .iter()
            .chain(&grants.linodes)
            .all(|entity_grant| entity_grant.permission.is_none());
    html! {
        @if has_none {
            p .quiet { "No grants yet. " a href=(format!("{user_url}/grants")) { "Add grants" } }
        } @else {
            dl .facts {
                div { dt { "Account and support" } dd { (level(grants.account_access)) } }
                div { dt { "Account-wide permissions" } dd { @if globals.is_empty() { "–" } @else { (globals.join(", ")) } } }
            }
            div .two-columns {
                (granted_list("VPCs", &grants.vpcs))
                (granted_list("Instances", &grants.linodes))
            }
        }
    }
}

fn granted_list(title: &str, entity_grants: &[EntityGrant]) -> Markup {
    let held: Vec<_> = entity_grants
        .iter()
        .filter(|entity_grant| entity_grant.permission.is_some())
        .collect();
    html! {
        div {
            h3 { (title) }
            @if held.is_empty() { p .quiet { "None." } } @else {
                table .list {
                    thead { tr { th scope="col" { "Label" } th scope="col" { "Access" } } }
                    tbody { @for entity_grant in held { tr {
                        th scope="row" { (entity_grant.label) " " span .id { (entity_grant.id) } }
                        td data-label="Access" { (level(entity_grant.permission)) }
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

pub async fn edit(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
) -> PageResult {
    let (user, grants) = load(&app, caller, username).await?;
    let form_state = form_state(&grants).with_version_of(&grants);
    Ok(render(&visit, &user, &grants, &form_state))
}

async fn load(app: &App, caller: Caller, username: String) -> Result<(User, Grants), ErrorPage> {
    let (user, grants) = app
        .read(caller, move |tx, caller| {
            let user = rules::users::view(tx, caller, &username)?;
            Ok((user, rules::grants::view(tx, caller, &username)?))
        })
        .await?;
    Ok((user, grants.ok_or_else(ErrorPage::not_found)?))
}

/// The form with the current grants.
fn form_state(grants: &Grants) -> FormState {
    let mut data = FormData::default();
    data.set("global.account_access", word(grants.account_access));
    for global in &grants.globals {
        data.set(&format!("global.{}", global.word()), "true");
    }
    for (list, entity_grants) in [("vpc", &grants.vpcs), ("linode", &grants.linodes)] {
        for (at, entity_grant) in entity_grants.iter().enumerate() {
            data.set(&format!("{list}[{at}].id"), entity_grant.id.to_string());
            data.set(
                &format!("{list}[{at}].permissions"),
                word(entity_grant.permission),
            );
        }
    }
    FormState::with_errors(data, Vec::new())
}

fn word(permission: Option<Permission>) -> &'static str {
    permission.map_or("", Permission::word)
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
    data: FormData,
) -> PageResult {
    let mut globals = vec![permission_input(&data, "global.account_access", "account_access")];
    for (global, _, _) in GLOBALS {
        let (_, held) = data.checkbox(&format!("global.{}", global.word()));
        globals.push((global.word().to_owned(), held));
    }
    let object = vec![
        ("global".to_owned(), Input::Object(globals)),
        ("vpc".to_owned(), entries_input(&data, "vpc")),
        ("linode".to_owned(), entries_input(&data, "linode")),
    ];
    let (request, name) = (app.prepare(data.request(object)), username.clone());
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::grants::update(tx, caller, &name, &request)
        })
        .await;
    let form_state = match changed {
        Ok(_) => return Ok(redirect_with_notice(&users::url_of(&username), "grants-changed")),
        Err(error) => forms::from_error(data, error)?,
    };
    let (user, grants) = load(&app, caller, username).await?;
    Ok(render(
        &visit,
        &user,
        &grants,
        &form_state.with_version_of(&grants),
    ))
}

/// The permission in a form field, as the field `name` of a rule. An empty value becomes null.
fn permission_input(data: &FormData, field: &str, name: &str) -> (String, Input) {
    let value = match data.text(field) {
        "" => Input::Null,
        word => Input::Text(word.to_owned()),
    };
    (name.to_owned(), value)
}

fn entries_input(data: &FormData, list: &str) -> Input {
    let entry = |at: usize| {
        let id = data.text(&format!("{list}[{at}].id"));
        let id = id.parse().map_or(Input::Text(id.to_owned()), Input::Integer);
        let permissions = permission_input(data, &format!("{list}[{at}].permissions"), "permissions");
        Input::Object(vec![("id".to_owned(), id), permissions])
    };
    Input::List((0..data.row_count(list, &["id"])).map(entry).collect())
}

fn render(visit: &Visit, user: &User, grants: &Grants, form_state: &FormState) -> Response {
    let (name, user_url) = (user.username.as_str(), users::url(user));
    let title = format!("Grants for {name}");
    let form = Card::new(format!("{user_url}/grants"), "Save", &user_url).wide();
    let body = html! {
        h1 { (title) }
        (forms::card(visit, form_state, &form, &html! {
            fieldset .access {
                legend { "Account-wide permissions" }
                table .matrix {
                    thead { (head("Permission")) }
                    tbody { (row(form_state, "global.account_access", html! {
                        "Account and support " p .hint { "Account settings, OAuth clients and all tickets. Users can always access their own tickets." }
                    })) }
                }
                @for (global, label, hint) in GLOBALS {
                    @let field = format!("global.{}", global.word());
                    (forms::checkbox(form_state, Field { name: &field, label, hint, ..Field::default() }))
                }
            }
            (matrix(form_state, "VPCs", "vpc", &grants.vpcs, "This account has no VPCs yet."))
            (matrix(form_state, "Instances", "linode", &grants.linodes, "This account has no instances yet."))
        }))
    };
    visit.form_page(form_state, &title, &[ACCOUNT, LIST, (name, &user_url)], &body)
}

fn matrix(
    form_state: &FormState,
    title: &str,
    list: &str,
    entity_grants: &[EntityGrant],
    empty_text: &str,
) -> Markup {
    html! {
        fieldset .access {
            legend { (title) }
            @if entity_grants.is_empty() { p .quiet { (empty_text) } } @else {
                table .matrix {
                    thead { (head("Label")) }
                    tbody {
                        @for (at, entity_grant) in entity_grants.iter().enumerate() {
                            @let field = format!("{list}[{at}].permissions");
                            (row(form_state, &field, html! {
                                (entity_grant.label) " " span .id { (entity_grant.id) }
                                input type="hidden" name=(format!("{list}[{at}].id")) value=(entity_grant.id);
                            }))
                        }
                    }
                }
            }
        }
    }
}

fn head(first_column: &str) -> Markup {
    html! { tr {
        th scope="col" { (first_column) }
        @for permission in LEVELS { th scope="col" { (level(permission)) } }
    } }
}

const LEVELS: [Option<Permission>; 3] = [None, Some(Permission::ReadOnly), Some(Permission::ReadWrite)];

fn row(form_state: &FormState, field: &str, label: Markup) -> Markup {
    let errors = form_state.errors_on(field);
    html! {
        tr #(forms::element_id(field)) {
            th scope="row" { (label) @if !errors.is_empty() { p .reason { (errors.join(". ")) } } }
            @for permission in LEVELS {
                @let word = word(permission);
                td { label { input type="radio" name=(field) value=(word) checked[form_state.data.text(field) == word]; span { (level(permission)) } } }
            }
        }
    }
}
