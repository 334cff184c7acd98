//! The confirmation page for one level of access on many objects: all results of a filter, or the selected ones.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::grant_words::{LEVELS, level, level_with_word, url_word};
use super::object_grants::{GrantFilter, kind_name, submitted};
use crate::console::account::ACCOUNT;
use crate::console::error_page::{ErrorPage, PageResult};
use crate::console::forms::{self, Card, FormData, FormState};
use crate::console::layout::{empty_state, number, pluralize, redirect_with_notice};
use crate::console::query::Query;
use crate::console::users::{self, LIST};
use crate::console::visit::Visit;
use crate::model::grant::{GrantKind, ObjectGrant, Permission};
use crate::model::reason::{Code, Reason};
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::error::Error;
use crate::rules::lists::ListRequest;
use crate::web::App;
use crate::web::extract::At;

/// The number of objects that the page lists.
const MAX_LISTED_OBJECTS: usize = 100;

/// The objects to change, and their new level.
struct Bulk {
    filter: GrantFilter,
    applies_to_all: bool,
    level: Option<Permission>,
    /// The conditions of the objects.
    objects: ListRequest,
}

impl Bulk {
    fn read(data: &FormData) -> Result<Self, Error> {
        let filter = GrantFilter::read(data);
        let applies_to_all = data.text("apply") == "all";
        let level = level_with_word(data.text("to")).ok_or_else(|| {
            let words = LEVELS.map(url_word);
            Error::on("to", Reason::not_one_of(Code::GrantInvalid, &words))
        })?;
        let objects = match applies_to_all {
            true => filter.list_request(),
            false => ListRequest::default().only(submitted(data)),
        };
        Ok(Self {
            filter,
            applies_to_all,
            level,
            objects,
        })
    }
}

pub async fn confirm(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
    query: Query,
) -> PageResult {
    let bulk = Bulk::read(&query.0)?;
    render(
        &app,
        &visit,
        caller,
        &username,
        &bulk,
        FormState::with_errors(query.0, Vec::new()),
    )
    .await
}

pub async fn set(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(username): At<String>,
    data: FormData,
) -> PageResult {
    let bulk = Bulk::read(&data)?;
    let (request, name) = (data.request(Vec::new()), username.clone());
    let (objects, level) = (bulk.objects.clone(), bulk.level);
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::object_grants::set_all(tx, caller, &name, &objects, level, &request)
        })
        .await;
    let form_state = match changed {
        Ok(_) => {
            let list_url = bulk.filter.url(&format!("{}/grants", users::url_of(&username)));
            return Ok(redirect_with_notice(&list_url, "grants-changed"));
        }
        Err(error) => forms::from_error(data, error)?,
    };
    render(&app, &visit, caller, &username, &bulk, form_state).await
}

async fn render(
    app: &App,
    visit: &Visit,
    caller: Caller,
    username: &str,
    bulk: &Bulk,
    form_state: FormState,
) -> Result<Response, ErrorPage> {
    let (name, conditions) = (username.to_owned(), bulk.objects.clone());
    let objects = app
        .read(caller, move |tx, caller| {
            rules::object_grants::matching(tx, caller, &name, &conditions)
        })
        .await?;
    let user_url = users::url_of(username);
    let grants_url = format!("{user_url}/grants");
    let title = format!("Set access to {}", level(bulk.level).to_lowercase());
    let changing: Vec<_> = objects
        .iter()
        .filter(|object| object.grant.permission != bulk.level)
        .collect();
    let back_url = bulk.filter.url_of_page(&grants_url);
    let form_state = form_state.with_version_of(&objects);
    let button = format!("Set {}", pluralize(changing.len(), "grant", "grants"));
    let card = Card::new(format!("{grants_url}/set"), &button, &back_url).wide();
    let body = html! {
        h1 { (title) }
        @if objects.is_empty() {
            (empty_state("Nothing is selected", "Select objects in the list, or set the access for all results.", Some(("Back to the list", &back_url))))
        } @else if changing.is_empty() {
            (empty_state("Nothing to change", "The user has this access on all of these objects.", Some(("Back to the list", &back_url))))
        } @else {
            (forms::card(visit, &form_state, &card, &html! {
                (hidden_fields(bulk, &form_state.data))
                p {
                    strong { (username) } " gets " strong { (level(bulk.level).to_lowercase()) } " on "
                    (pluralize(changing.len(), "object", "objects")) "."
                    @match objects.len() - changing.len() {
                        0 => {},
                        1 => " 1 object has this access already.",
                        count => { " " (count) " objects have this access already." },
                    }
                }
                (changes(&changing, bulk.level))
            }))
        }
    };
    let breadcrumbs = [
        ACCOUNT,
        LIST,
        (username, user_url.as_str()),
        ("Grants", grants_url.as_str()),
    ];
    Ok(visit.form_page(&form_state, &title, &breadcrumbs, &body))
}

/// The fields that select the objects again when the form is sent.
fn hidden_fields(bulk: &Bulk, data: &FormData) -> Markup {
    html! {
        (bulk.filter.hidden_fields())
        input type="hidden" name="to" value=(url_word(bulk.level));
        input type="hidden" name="apply" value=(data.text("apply"));
        @if !bulk.applies_to_all {
            @for kind in [GrantKind::Vpc, GrantKind::Linode] {
                @for name in data.names_with_prefix(&format!("{}.", kind.word())) { input type="hidden" name=(name) value="on"; }
            }
        }
    }
}

/// The first objects, with their current and new level.
fn changes(changing: &[&ObjectGrant], new: Option<Permission>) -> Markup {
    html! {
        table .list {
            thead { tr { th scope="col" { "Object" } th scope="col" { "Now" } th scope="col" { "New" } } }
            tbody { @for object in changing.iter().take(MAX_LISTED_OBJECTS) {
                tr {
                    th scope="row" { (object.grant.label) " " span .quiet.small { (kind_name(object.kind)) } " " span .id { (object.grant.id) } }
                    td data-label="Now" { (level(object.grant.permission)) }
                    td data-label="New" { (level(new)) }
                }
            } }
        }
        @if changing.len() > MAX_LISTED_OBJECTS {
            p .quiet { "and " (number((changing.len() - MAX_LISTED_OBJECTS) as u64)) " more" }
        }
    }
}
