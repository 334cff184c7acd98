//! Actions on several objects of a list: the selection, the confirmation page with the effect on each object, and the
//! results (decision 0036). Each object is changed in its own transaction, so that one refusal does not affect the
//! others.

mod actions;
pub mod selection;

use axum::extract::State;
use axum::response::Response;
use maud::html;

use super::error_page::{ErrorPage, PageResult, REQUEST_FAILED};
use super::forms::{self, Card, Field, FormData, FormState};
use super::layout::redirect_with_notice;
use super::page::{Page, get, post};
use super::query::Query;
use super::visit::Visit;
use crate::model::id::VpcId;
use crate::model::reason::{Code, Reason};
use crate::model::ticket_tag::TicketTag;
use crate::rules::agent::Staff;
use crate::rules::caller::Caller;
use crate::rules::error::FieldError;
use crate::rules::request::{Expected, Request};
use crate::rules::{self, Error};
use crate::web::App;
use crate::web::extract::At;
use actions::{Actor, Item};
use selection::{Action, ID_PREFIX, Target, url};

/// The maximum number of objects of one action.
const MAX_SELECTED: usize = 100;

pub fn pages() -> Vec<Page> {
    vec![
        get("pageVpcsBulk", "/vpcs/bulk", confirm_vpcs),
        post("sendVpcsBulk", "/vpcs/bulk", run_vpcs),
        get("pageSubnetsBulk", "/vpcs/{vpcId}/subnets/bulk", confirm_subnets),
        post("sendSubnetsBulk", "/vpcs/{vpcId}/subnets/bulk", run_subnets),
        get("pageInstancesBulk", "/instances/bulk", confirm_instances),
        post("sendInstancesBulk", "/instances/bulk", run_instances),
        get("pageTicketsBulk", "/tickets/bulk", confirm_tickets),
        post("sendTicketsBulk", "/tickets/bulk", run_tickets),
        get("pageDeskBulk", "/desk/bulk", confirm_desk).staff(),
        post("sendDeskBulk", "/desk/bulk", run_desk).staff(),
    ]
}

async fn confirm_vpcs(app: State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    confirm(&app, &visit, caller, Target::Vpcs, query.0).await
}

async fn run_vpcs(app: State<App>, visit: Visit, caller: Caller, data: FormData) -> PageResult {
    run(&app, &visit, caller, Target::Vpcs, data).await
}

async fn confirm_subnets(
    app: State<App>,
    visit: Visit,
    caller: Caller,
    At(vpc): At<VpcId>,
    query: Query,
) -> PageResult {
    confirm(&app, &visit, caller, Target::Subnets(vpc), query.0).await
}

async fn run_subnets(
    app: State<App>,
    visit: Visit,
    caller: Caller,
    At(vpc): At<VpcId>,
    data: FormData,
) -> PageResult {
    run(&app, &visit, caller, Target::Subnets(vpc), data).await
}

async fn confirm_instances(app: State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    confirm(&app, &visit, caller, Target::Instances, query.0).await
}

async fn run_instances(app: State<App>, visit: Visit, caller: Caller, data: FormData) -> PageResult {
    run(&app, &visit, caller, Target::Instances, data).await
}

async fn confirm_tickets(app: State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    confirm(&app, &visit, caller, Target::Tickets, query.0).await
}

async fn run_tickets(app: State<App>, visit: Visit, caller: Caller, data: FormData) -> PageResult {
    run(&app, &visit, caller, Target::Tickets, data).await
}

async fn confirm_desk(app: State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    confirm(&app, &visit, staff, Target::Desk, query.0).await
}

async fn run_desk(app: State<App>, visit: Visit, staff: Staff, data: FormData) -> PageResult {
    run(&app, &visit, staff, Target::Desk, data).await
}

/// An action on the selected objects of a list.
struct Selection {
    target: Target,
    action: Action,
    ids: Vec<i64>,
    /// The URL of the list with the search and the page of the selection.
    list_url: String,
}

fn selection(target: Target, data: &FormData) -> Result<Selection, ErrorPage> {
    let (label, list_url) = (target.label(), selection::list_url(target, data));
    let refuse = |text: String| {
        let page = ErrorPage::with_text(&Error::Refused(Vec::new()), REQUEST_FAILED, text);
        page.with_link_to(label, list_url.as_str())
    };
    let mut actions = target.actions().iter();
    let action = actions.find(|action| action.word() == data.text("action"));
    let action = *action.ok_or_else(|| refuse("This action is not available for this list.".to_owned()))?;
    let names = data.names_with_prefix(ID_PREFIX).into_iter();
    let mut ids: Vec<i64> = names
        .filter_map(|name| name[ID_PREFIX.len()..].parse().ok())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    match ids.len() {
        0 => Err(refuse(
            "Nothing is selected. Go back and select objects in the list.".to_owned(),
        )),
        1..=MAX_SELECTED => Ok(Selection {
            target,
            action,
            ids,
            list_url,
        }),
        _ => Err(refuse(format!("Select at most {MAX_SELECTED} objects."))),
    }
}

async fn confirm(app: &App, visit: &Visit, actor: impl Actor, target: Target, data: FormData) -> PageResult {
    let selection = selection(target, &data)?;
    let items = load(app, actor, &selection).await?;
    Ok(render(visit, &selection, &items, &FormState::default()))
}

async fn load(app: &App, actor: impl Actor, selection: &Selection) -> Result<Vec<Item>, ErrorPage> {
    let (target, action, ids) = (selection.target, selection.action, selection.ids.clone());
    let items = app
        .read(actor, move |tx, actor| {
            let mut items = Vec::new();
            for id in &ids {
                match actor.preview(tx, target, action, *id) {
                    Ok(item) => items.push(item),
                    Err(Error::NotFound) => {}
                    Err(other) => return Err(other),
                }
            }
            Ok(items)
        })
        .await?;
    match items.is_empty() {
        true => Err(ErrorPage::not_found()),
        false => Ok(items),
    }
}

const TAG_FIELD: &str = "tag";
const TAG: Field = Field {
    name: TAG_FIELD,
    label: "Tag",
    hint: "Only staff see tags. Other tags of the tickets remain.",
    optional: false,
    autofocus: true,
    code: false,
    max_chars: Some(TicketTag::MAX),
    check_url: None,
};

/// The text that the user types to confirm a deletion.
fn phrase(target: Target, count: usize) -> String {
    format!("delete {}", target.count(count))
}

async fn run(app: &App, visit: &Visit, actor: impl Actor, target: Target, data: FormData) -> PageResult {
    let selection = selection(target, &data)?;
    let action = selection.action;
    let items = load(app, actor.clone(), &selection).await?;
    let checked = match action {
        Action::Delete => forms::check_confirmation(&data, &phrase(target, selection.ids.len())),
        Action::Tag => rules::ticket_tags::check(data.text(TAG_FIELD)),
        _ => Ok(()),
    };
    if let Err(error) = checked {
        let form_state = forms::from_error(data, error)?;
        return Ok(render(visit, &selection, &items, &form_state));
    }
    let (total, mut refused) = (items.len(), Vec::new());
    for item in items {
        let (id, version) = (item.id, data.text(&version_field(item.id)));
        let request = Request {
            expected: (!version.is_empty()).then(|| Expected::Tags(vec![version.to_owned()])),
            ..Request::with_fields(data.non_empty(&[TAG_FIELD]))
        };
        let changed = app
            .write(actor.clone(), move |tx, actor| {
                actor.run(tx, (target, action), id, &request)
            })
            .await;
        if let Err(error) = changed {
            refused.push((item, refusal_text(error)));
        }
    }
    if refused.is_empty() {
        return Ok(redirect_with_notice(&selection.list_url, action.notice()));
    }
    let done = total - refused.len();
    Ok(render_refused(visit, &selection, done, &refused))
}

/// Why an object was not changed. A failure of the store is logged, because the page does not show its cause.
fn refusal_text(error: Error) -> String {
    let page = ErrorPage::from(error);
    if let Some(cause) = page.cause {
        tracing::error!(error = cause, "bulk action failed");
    }
    match page.text.is_empty() {
        true => page.title.to_owned(),
        false => page.text,
    }
}

fn version_field(id: i64) -> String {
    format!("version.{id}")
}

fn render(visit: &Visit, selection: &Selection, items: &[Item], form_state: &FormState) -> Response {
    let Selection {
        target,
        action,
        ref list_url,
        ..
    } = *selection;
    let possible: Vec<_> = items.iter().filter(|item| item.blocked.is_none()).collect();
    let blocked: Vec<_> = items.iter().filter(|item| item.blocked.is_some()).collect();
    let count = target.count(possible.len());
    let all = target.count(items.len());
    let title = match possible.len() {
        some if some > 0 && some < items.len() => format!("{} {some} of {all}?", action.label()),
        _ => format!("{} {all}?", action.label()),
    };
    let button = format!("{} {count}", action.label());
    let card = Card::new(url(target), &button, list_url).wide();
    let card = if action == Action::Delete {
        card.danger()
    } else {
        card
    };
    let body = html! {
        h1 { (title) }
        @if !blocked.is_empty() {
            div .warning {
                p { strong { (target.count(blocked.len())) } " cannot be changed, and " @if blocked.len() == 1 { "stays as it is:" } @else { "stay as they are:" } }
                ul { @for item in &blocked { li { a href=(item.url) { (item.label) } ": " (item.blocked.as_deref().unwrap_or_default()) } } }
            }
        }
        @if possible.is_empty() {
            p { a .button href=(list_url) { "Back to the list" } }
        } @else {
            (forms::card(visit, form_state, &card, &html! {
                input type="hidden" name="action" value=(action.word());
                (selection::list_field(list_url))
                p { @if action == Action::Delete { "This permanently deletes " } @else { (action.label()) ": " } strong { (count) } }
                @if action == Action::Shutdown { p { "The instances are not reachable until you boot them again." } }
                @if (target, action) == (Target::Desk, Action::Close) { p { "Customers see that their tickets are closed." } }
                ul {
                    @for item in &possible {
                        li {
                            a href=(item.url) { (item.label) } @if !item.effect.is_empty() { " " span .quiet { (item.effect) } }
                            input type="hidden" name={ (ID_PREFIX) (item.id) } value="on";
                            @if let Some(version) = item.version { input type="hidden" name=(version_field(item.id)) value=(version); }
                        }
                    }
                }
                @if action == Action::Delete { (forms::confirmation_input(form_state, &phrase(target, possible.len()))) }
                @if action == Action::Tag { (forms::text_input(form_state, TAG)) }
            }))
        }
    };
    visit.form_page(form_state, &title, &[(target.label(), list_url)], &body)
}

/// The page after some objects were not changed.
fn render_refused(visit: &Visit, selection: &Selection, done: usize, refused: &[(Item, String)]) -> Response {
    let (target, list_url) = (selection.target, &selection.list_url);
    let total = target.count(done + refused.len());
    let title = format!("{}: {done} of {total}", selection.action.label());
    let errors = refused.iter().map(|(item, text)| {
        let text = format!("{}: {text}", item.label);
        FieldError::whole(Reason::new(Code::PreconditionFailed, text))
    });
    let form_state = FormState::with_errors(FormData::default(), errors.collect());
    let body = html! {
        h1 { (title) }
        p { "Done for " (done) " of " (total) ". The others are unchanged:" }
        (form_state.alert())
        p { a .button href=(list_url) { "Back to the list" } }
    };
    visit.form_page(&form_state, &title, &[(target.label(), list_url)], &body)
}
