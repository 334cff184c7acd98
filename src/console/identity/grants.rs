//! The grants page of a restricted user: account-wide permissions, and the access to VPCs and instances.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::grant_words::{ACCOUNT_ACCESS, GLOBALS, LEVELS, level, url_word, word};
use super::object_grants::{self, GRANTS_FORM, GrantFilter, radios, submitted, submitted_ids};
use super::shown_values;
use crate::console::account::ACCOUNT;
use crate::console::error_page::{ErrorPage, PageResult};
use crate::console::forms::{self, Field, FormData, FormState};
use crate::console::layout::{number, redirect_with_notice};
use crate::console::query::Query;
use crate::console::users::{self, LIST};
use crate::console::visit::Visit;
use crate::model::entity_tag::EntityTag;
use crate::model::grant::{Global, GrantKind, ObjectGrant, Permission};
use crate::model::input::Input;
use crate::model::page::Paged;
use crate::model::user::User;
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::rules::object_grants::KindSummary;
use crate::rules::request::Request;
use crate::web::App;
use crate::web::extract::At;

/// The hidden field with the version of the account-wide permissions when the form was rendered.
const GLOBAL_VERSION: &str = "global_version";
/// The hidden field with the account-wide permissions that the page showed.
const GLOBAL_SHOWN: &str = "global_shown";
/// The number of objects of each kind that the page of a user lists.
pub const MAX_LISTED_OBJECTS: i64 = 25;

/// The grants on the page of a user.
pub fn summary(user: &User, [vpcs, linodes]: &[KindSummary; 2], user_url: &str) -> Markup {
    let globals = GLOBALS
        .iter()
        .filter(|(global, _, _)| user.globals.contains(global));
    let globals: Vec<_> = globals.map(|(_, name, _)| *name).collect();
    let has_none = user.account_access.is_none()
        && user.globals.is_empty()
        && vpcs.granted() == 0
        && linodes.granted() == 0;
    let grants_url = format!("{user_url}/grants");
    html! {
        @if has_none {
            p .quiet { "No grants yet. " a href=(grants_url) { "Add grants" } }
        } @else {
            dl .facts {
                div { dt { (ACCOUNT_ACCESS) } dd { (level(user.account_access)) } }
                div { dt { "Account-wide permissions" } dd { @if globals.is_empty() { "–" } @else { (globals.join(", ")) } } }
            }
            div .two-columns {
                (granted_list("VPCs", GrantKind::Vpc, vpcs, &grants_url))
                (granted_list("Instances", GrantKind::Linode, linodes, &grants_url))
            }
        }
    }
}

/// The number of objects of each level, and the first objects with access.
fn granted_list(title: &str, kind: GrantKind, access: &KindSummary, grants_url: &str) -> Markup {
    let granted = access.granted();
    html! {
        div {
            h3 { (title) }
            @if granted == 0 { p .quiet { "None." } } @else {
                p .count {
                    @for (at, (permission, count)) in access.counts.iter().filter(|(_, count)| *count > 0).enumerate() {
                        @if at > 0 { " · " }
                        a href=(format!("{grants_url}?kind={}&level={}", kind.word(), url_word(*permission))) {
                            (level(*permission)) ": " (number(count.unsigned_abs()))
                        }
                    }
                }
                table .list {
                    thead { tr { th scope="col" { "Label" } th scope="col" { "Access" } } }
                    tbody { @for entity_grant in &access.first { tr {
                        th scope="row" { (entity_grant.label) " " span .id { (entity_grant.id) } }
                        td data-label="Access" { (level(entity_grant.permission)) }
                    } } }
                }
                @if granted > MAX_LISTED_OBJECTS {
                    p { a href=(format!("{grants_url}?kind={}", kind.word())) { "Show all " (number(granted.unsigned_abs())) } }
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
    Ok(render(&visit, &page, &filter, FormState::default()))
}

/// Changes the account-wide permissions, and the grants on the objects of one page. Other grants do not change.
pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
    data: FormData,
) -> PageResult {
    let filter = GrantFilter::read(&data);
    let kinds = [GrantKind::Vpc, GrantKind::Linode];
    let mut object = kinds
        .map(|kind| (kind.word().to_owned(), entries_input(&data, kind)))
        .to_vec();
    if data.has(GLOBAL_VERSION) {
        object.push(("global".to_owned(), globals_input(&data)));
    }
    let change = app.prepare(Request::with_fields(object));
    // One version is that of the rows on the page, the other that of the account-wide permissions.
    let (rows, rows_version) = (
        ListRequest::default().only(submitted(&data)),
        data.request(Vec::new()),
    );
    let global_version = data.request_with_version(GLOBAL_VERSION, Vec::new());
    let name = username.clone();
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            let user = rules::users::view(tx, caller, &name)?;
            global_version.check_if_match(&global_part(&user))?;
            rules::object_grants::check_unchanged(tx, caller, &name, &rows, &rows_version)?;
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
    Ok(render(&visit, &page, &filter, form_state))
}

fn globals_input(data: &FormData) -> Input {
    let mut globals = vec![permission_input(data, "global.account_access", "account_access")];
    for (global, _, _) in GLOBALS {
        let (_, held) = data.checkbox(&format!("global.{}", global.word()));
        globals.push((global.word().to_owned(), held));
    }
    Input::Object(globals)
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

/// The account-wide permissions of a user.
fn global_part(user: &User) -> (Option<Permission>, &[Global]) {
    (user.account_access, &user.globals)
}

fn global_values(user: &User) -> impl Iterator<Item = (String, &'static str)> {
    let access = ("global.account_access".to_owned(), word(user.account_access));
    let held = |global| {
        if user.globals.contains(&global) {
            "true"
        } else {
            ""
        }
    };
    let globals = GLOBALS.map(|(global, _, _)| (format!("global.{}", global.word()), held(global)));
    std::iter::once(access).chain(globals)
}

/// Sets the fields of the account-wide permissions to the current values, except those that the user has edited.
fn fill_globals(mut form_state: FormState, user: &User) -> FormState {
    let submitted = form_state.data.has(GLOBAL_VERSION);
    let unedited = shown_values::unedited(&form_state.data, GLOBAL_SHOWN);
    for (name, current) in global_values(user) {
        if !submitted || unedited.contains(&name) {
            form_state.data.set(&name, current);
        }
    }
    let version = EntityTag::of(&global_part(user)).to_string();
    form_state.data.set(GLOBAL_VERSION, version);
    form_state
}

/// The page: one form for the account-wide permissions and the rows.
fn render(visit: &Visit, page: &GrantsPage, filter: &GrantFilter, form_state: FormState) -> Response {
    let (name, user_url) = (page.user.username.as_str(), users::url(&page.user));
    let title = format!("Grants for {name}");
    let grants_url = format!("{user_url}/grants");
    let mut form_state = fill_globals(form_state, &page.user).with_version_of(&page.objects.items);
    object_grants::discard_unedited(&mut form_state.data);
    let body = html! {
        h1 { (title) }
        (form_state.alert())
        form #(GRANTS_FORM) .card.wide method="post" novalidate action=(grants_url) data-unsaved="Discard the changes that you have not saved?" {
            (visit.form_token())
            input type="hidden" name=(GLOBAL_VERSION) value=(form_state.data.text(GLOBAL_VERSION));
            (shown_values::hidden_field(GRANTS_FORM, GLOBAL_SHOWN, global_values(&page.user)))
            (global_fields(&form_state))
        }
        (object_grants::section(&page.objects, filter, &form_state, &grants_url))
        div .actions.after-list {
            button .main type="submit" form=(GRANTS_FORM) { "Save" }
            a .button href=(user_url) { "Cancel" }
            @if !page.objects.items.is_empty() {
                span .hint { "Saves the account-wide permissions and the objects on this page." }
            }
        }
    };
    visit.form_page(&form_state, &title, &[ACCOUNT, LIST, (name, &user_url)], &body)
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
                        (ACCOUNT_ACCESS) " "
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
