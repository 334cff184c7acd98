//! The grants page of a restricted user: account-wide permissions, and the access to VPCs and instances.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::object_grants::{
    self, GrantFilter, LEVELS, level, radios, submitted, submitted_ids, url_word, word,
};
use crate::console::account::ACCOUNT;
use crate::console::error_page::{ErrorPage, PageResult};
use crate::console::forms::{self, Card, Field, FormData, FormState};
use crate::console::layout::{number, redirect_with_notice};
use crate::console::query::Query;
use crate::console::users::{self, LIST};
use crate::console::visit::Visit;
use crate::model::grant::{EntityGrant, Global, GrantKind, ObjectGrant, Permission};
use crate::model::input::Input;
use crate::model::page::Paged;
use crate::model::user::User;
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::grants::Grants;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
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
/// The number of objects of each kind that the page of a user lists.
const MAX_LISTED_OBJECTS: usize = 25;

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
    let grants_url = format!("{user_url}/grants");
    html! {
        @if has_none {
            p .quiet { "No grants yet. " a href=(grants_url) { "Add grants" } }
        } @else {
            dl .facts {
                div { dt { "Account and support" } dd { (level(grants.account_access)) } }
                div { dt { "Account-wide permissions" } dd { @if globals.is_empty() { "–" } @else { (globals.join(", ")) } } }
            }
            div .two-columns {
                (granted_list("VPCs", GrantKind::Vpc, &grants.vpcs, &grants_url))
                (granted_list("Instances", GrantKind::Linode, &grants.linodes, &grants_url))
            }
        }
    }
}

/// The number of objects of each level, and the first objects with access.
fn granted_list(title: &str, kind: GrantKind, entity_grants: &[EntityGrant], grants_url: &str) -> Markup {
    let with = |permission| {
        entity_grants
            .iter()
            .filter(move |one| one.permission == permission)
            .count()
    };
    let held: Vec<_> = entity_grants
        .iter()
        .filter(|entity_grant| entity_grant.permission.is_some())
        .collect();
    html! {
        div {
            h3 { (title) }
            @if held.is_empty() { p .quiet { "None." } } @else {
                p .count {
                    @for permission in LEVELS.into_iter().filter(|permission| with(*permission) > 0) {
                        a href=(format!("{grants_url}?kind={}&level={}", kind.word(), url_word(permission))) {
                            (level(permission)) ": " (number(with(permission) as u64))
                        }
                        " "
                    }
                }
                table .list {
                    thead { tr { th scope="col" { "Label" } th scope="col" { "Access" } } }
                    tbody { @for entity_grant in held.iter().take(MAX_LISTED_OBJECTS) { tr {
                        th scope="row" { (entity_grant.label) " " span .id { (entity_grant.id) } }
                        td data-label="Access" { (level(entity_grant.permission)) }
                    } } }
                }
                @if held.len() > MAX_LISTED_OBJECTS {
                    p { a href=(format!("{grants_url}?kind={}", kind.word())) { "Show all " (number(held.len() as u64)) } }
                }
            }
        }
    }
}

/// The data of the grants page.
struct GrantsPage {
    user: User,
    objects: Paged<ObjectGrant>,
}

async fn load(
    app: &App,
    caller: Caller,
    username: String,
    filter: &GrantFilter,
) -> Result<GrantsPage, ErrorPage> {
    let list_request = filter.list_request();
    let (user, objects) = app
        .read(caller, move |tx, caller| {
            let user = rules::users::view(tx, caller, &username)?;
            let objects = rules::object_grants::list(tx, caller, &username, &list_request)?;
            Ok((user, objects))
        })
        .await?;
    Ok(GrantsPage { user, objects })
}

pub async fn edit(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
    query: Query,
) -> PageResult {
    let filter = GrantFilter::read(&query.0);
    let page = load(&app, caller, username, &filter).await?;
    Ok(render(&visit, &page, &filter, None, None))
}

/// Changes the account-wide permissions.
pub async fn update_global(
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
    let object = vec![("global".to_owned(), Input::Object(globals))];
    let change = app.prepare(Request {
        expected: None,
        body: Ok(Input::Object(object)),
    });
    let (version, name) = (data.request(Vec::new()), username.clone());
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            let user = rules::users::view(tx, caller, &name)?;
            version.check_if_match(&global_version(&user))?;
            rules::grants::update(tx, caller, &name, &change)
        })
        .await;
    let form_state = match changed {
        Ok(_) => return Ok(redirect_with_notice(&users::url_of(&username), "grants-changed")),
        Err(error) => forms::from_error(data, error)?,
    };
    let filter = GrantFilter::read(&FormData::default());
    let page = load(&app, caller, username, &filter).await?;
    Ok(render(&visit, &page, &filter, Some(form_state), None))
}

/// Changes the grants on the objects of one page. Other grants do not change.
pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
    data: FormData,
) -> PageResult {
    let filter = GrantFilter::read(&data);
    let kinds = [GrantKind::Vpc, GrantKind::Linode];
    let object = kinds.map(|kind| (kind.word().to_owned(), entries_input(&data, kind)));
    let change = app.prepare(Request {
        expected: None,
        body: Ok(Input::Object(object.to_vec())),
    });
    // The version is that of the rows on the page.
    let (shown, version) = (
        ListRequest::default().only(submitted(&data)),
        data.request(Vec::new()),
    );
    let name = username.clone();
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::object_grants::check_unchanged(tx, caller, &name, &shown, &version)?;
            rules::grants::update(tx, caller, &name, &change)
        })
        .await;
    let grants_url = format!("{}/grants", users::url_of(&username));
    let form_state = match changed {
        Ok(_) => {
            return Ok(redirect_with_notice(
                &filter.url_of_page(&grants_url),
                "grants-changed",
            ));
        }
        Err(error) => forms::from_error(data, error)?,
    };
    let page = load(&app, caller, username, &filter).await?;
    Ok(render(&visit, &page, &filter, None, Some(form_state)))
}

/// The permission in a form field, as the field `name` of a rule. An empty value becomes null.
fn permission_input(data: &FormData, field: &str, name: &str) -> (String, Input) {
    let value = match data.text(field) {
        "" => Input::Null,
        word => Input::Text(word.to_owned()),
    };
    (name.to_owned(), value)
}

fn entries_input(data: &FormData, kind: GrantKind) -> Input {
    let entry = |id: i64| {
        let field = format!("{}.{id}", kind.word());
        let permissions = permission_input(data, &field, "permissions");
        Input::Object(vec![("id".to_owned(), Input::Integer(id)), permissions])
    };
    Input::List(submitted_ids(data, kind).into_iter().map(entry).collect())
}

/// The part of a user that the form of account-wide permissions changes.
fn global_version(user: &User) -> (Option<Permission>, &[Global]) {
    (user.account_access, &user.globals)
}

/// The form with the current account-wide permissions.
fn global_state(user: &User) -> FormState {
    let mut data = FormData::default();
    data.set("global.account_access", word(user.account_access));
    for global in &user.globals {
        data.set(&format!("global.{}", global.word()), "true");
    }
    FormState::with_errors(data, Vec::new())
}

/// The page. A form state is `None` if the form was not submitted.
fn render(
    visit: &Visit,
    page: &GrantsPage,
    filter: &GrantFilter,
    globals: Option<FormState>,
    rows: Option<FormState>,
) -> Response {
    let (name, user_url) = (page.user.username.as_str(), users::url(&page.user));
    let title = format!("Grants for {name}");
    let grants_url = format!("{user_url}/grants");
    let status = globals.clone().or_else(|| rows.clone()).unwrap_or_default();
    let globals = globals
        .unwrap_or_else(|| global_state(&page.user))
        .with_version_of(&global_version(&page.user));
    let rows = object_grants::fill(rows.unwrap_or_default(), &page.objects.items);
    let rows = rows.with_version_of(&page.objects.items);
    let form = Card::new(format!("{grants_url}/global"), "Save permissions", &user_url).wide();
    let body = html! {
        h1 { (title) }
        (forms::card(visit, &globals, &form, &global_fields(&globals)))
        (rows.alert())
        (object_grants::section(visit, &page.objects, filter, &rows, &grants_url))
    };
    visit.form_page(&status, &title, &[ACCOUNT, LIST, (name, &user_url)], &body)
}

fn global_fields(form_state: &FormState) -> Markup {
    const ACCESS: &str = "global.account_access";
    let errors = form_state.errors_on(ACCESS);
    html! {
        fieldset .access {
            legend { "Account-wide permissions" }
            table .matrix {
                thead { tr {
                    th scope="col" { "Permission" }
                    @for permission in LEVELS { th scope="col" { (level(permission)) } }
                } }
                tbody { tr #(forms::element_id(ACCESS)) {
                    th scope="row" {
                        "Account and support "
                        p .hint { "Account settings, OAuth clients and all tickets. Users can always access their own tickets." }
                        @if !errors.is_empty() { p .reason { (errors.join(". ")) } }
                    }
                    (radios(ACCESS, form_state.data.text(ACCESS)))
                } }
            }
            @for (global, label, hint) in GLOBALS {
                @let field = format!("global.{}", global.word());
                (forms::checkbox(form_state, Field { name: &field, label, hint, ..Field::default() }))
            }
        }
    }
}
