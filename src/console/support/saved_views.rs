//! Saved views of the queue: the list above the queue, the form to save one, and the page that lists them.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::desk::{DEFAULT_STATUS, QUEUE, filter_label};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState};
use crate::console::layout::{empty_state, redirect_with_notice};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::id::SavedViewId;
use crate::model::input::Input;
use crate::model::saved_view::{QueueFilters, SavedView, ViewLabel};
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::lists::ListRequest;
use crate::web::App;
use crate::web::extract::At;

/// The label and the URL of the list of saved views.
const LIST: (&str, &str) = ("Saved views", "/desk/views");
const NEW_URL: &str = "/desk/views/new";

/// The URL of the queue with the filters of a view.
fn queue_url(filters: &QueueFilters) -> String {
    url_with_filters(QUEUE.1, filters.iter())
}

pub fn url_with_filters<'n, 'v>(path: &str, filters: impl Iterator<Item = (&'n str, &'v str)>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in filters {
        query.append_pair(name, value);
    }
    match query.finish() {
        query if query.is_empty() => path.to_owned(),
        query => format!("{path}?{query}"),
    }
}

/// The filters of a form that have a value.
pub fn filters_in(data: &FormData) -> impl Iterator<Item = (&'static str, &str)> {
    let filters = QueueFilters::NAMES
        .into_iter()
        .map(|name| (name, data.text(name)));
    filters.filter(|(_, value)| !value.is_empty())
}

/// The views as links, and a link that saves the current filters. `list_url` is the URL of the queue with the current
/// filters.
pub fn links(views: &[SavedView], search: &FormData, list_url: &str) -> Markup {
    let is_saved = views.iter().any(|saved| queue_url(&saved.filters) == list_url);
    html! {
        @if !views.is_empty() || list_url != QUEUE.1 {
            nav .views aria-label=(LIST.0) {
                @for saved in views {
                    @let url = queue_url(&saved.filters);
                    a href=(url) aria-current=[(url == list_url).then_some("page")] { (saved.label.as_str()) }
                }
                @if list_url != QUEUE.1 && !is_saved { a .quiet href=(url_with_filters(NEW_URL, filters_in(search))) { "Save this view" } }
                @if !views.is_empty() { a .quiet href=(LIST.1) { "Manage views" } }
            }
        }
    }
}

pub async fn list(State(app): State<App>, visit: Visit, staff: Staff) -> PageResult {
    let views = app
        .read(staff, |tx, staff| {
            rules::saved_views::list(tx, &staff.agent, &ListRequest::full_page())
        })
        .await?;
    let body = html! {
        h1 { (LIST.0) }
        @if views.items.is_empty() {
            (empty_state("No saved views yet", "Set filters in the list of tickets, then choose “Save this view”.", Some(("Go to the desk", QUEUE.1))))
        } @else {
            table .list {
                thead { tr {
                    th scope="col" { "Label" } th scope="col" { "Filters" } th scope="col" { "Visible to" } th scope="col" { "Created by" }
                    th scope="col" { "Actions" }
                } }
                tbody { @for saved in &views.items { (row(&visit, saved)) } }
            }
        }
    };
    Ok(visit.page(LIST.0, &[QUEUE], &body))
}

fn row(visit: &Visit, saved: &SavedView) -> Markup {
    html! {
        tr {
            th scope="row" { a href=(queue_url(&saved.filters)) { (saved.label.as_str()) } }
            td data-label="Filters" { span { (describe(&saved.filters)) } }
            td data-label="Visible to" { @if saved.is_shared { "All staff" } @else { "Me" } }
            td data-label="Created by" { (saved.created_by) }
            td {
                form method="post" novalidate action=(format!("{}/{}/delete", LIST.1, saved.id)) {
                    (visit.form_token())
                    button type="submit" aria-label=(format!("Delete {}", saved.label.as_str())) { "Delete" }
                }
            }
        }
    }
}

/// The filters as a text: `Status: new, Tag: network`.
fn describe(filters: &QueueFilters) -> String {
    let has_status = filters.iter().any(|(name, _)| name == "status");
    let default_status = (!has_status).then(|| format!("Status: {}", DEFAULT_STATUS.to_lowercase()));
    let filters = filters
        .iter()
        .map(|(name, value)| format!("{}: {value}", filter_label(name)));
    let texts: Vec<_> = default_status.into_iter().chain(filters).collect();
    texts.join(", ")
}

pub async fn form(visit: Visit, query: Query) -> PageResult {
    Ok(render(&visit, &FormState::with_errors(query.0, Vec::new())))
}

pub async fn create(State(app): State<App>, visit: Visit, staff: Staff, data: FormData) -> PageResult {
    let filters = filters_in(&data).map(|(name, value)| (name.to_owned(), Input::from(value)));
    let mut object = data.object(&["label"]);
    object.push(("filters".to_owned(), Input::Object(filters.collect())));
    object.push(data.checkbox("shared"));
    let request = data.request(object);
    let created = app
        .write(staff, move |tx, staff| {
            rules::saved_views::create(tx, &staff.agent, &request)
        })
        .await;
    match created {
        Ok(saved) => Ok(redirect_with_notice(&queue_url(&saved.filters), "view-saved")),
        Err(error) => Ok(render(&visit, &forms::from_error(data, error)?)),
    }
}

fn render(visit: &Visit, form_state: &FormState) -> Response {
    let filters = || filters_in(&form_state.data);
    let cancel_url = url_with_filters(QUEUE.1, filters());
    let label = Field {
        name: "label",
        label: "Label",
        autofocus: true,
        max_chars: Some(ViewLabel::MAX),
        ..Field::default()
    };
    let shared = Field {
        name: "shared",
        label: "Share with all staff",
        ..Field::default()
    };
    let body = html! {
        h1 { "Save view" }
        (forms::card(visit, form_state, &Card::new(NEW_URL.to_owned(), "Save", &cancel_url), &html! {
            dl .facts {
                @if form_state.data.text("status").is_empty() { div { dt { "Status" } dd { (DEFAULT_STATUS.to_lowercase()) } } }
                @for (name, value) in filters() { div { dt { (filter_label(name)) } dd { (value) } } }
            }
            @for (name, value) in filters() { input type="hidden" name=(name) value=(value); }
            (forms::text_input(form_state, label))
            (forms::checkbox(form_state, shared))
        }))
    };
    visit.form_page(form_state, "Save view", &[QUEUE, LIST], &body)
}

pub async fn delete(
    State(app): State<App>,
    staff: Staff,
    At(id): At<SavedViewId>,
    data: FormData,
) -> PageResult {
    let request = data.request(Vec::new());
    app.write(staff, move |tx, staff| {
        rules::saved_views::delete(tx, &staff.agent, id, &request)
    })
    .await?;
    Ok(redirect_with_notice(LIST.1, "view-deleted"))
}
