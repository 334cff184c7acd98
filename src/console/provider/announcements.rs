//! Pages for announcements: list, create, edit and delete.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::account_summary::refused;
use super::tabs::{ANNOUNCEMENTS as LIST, tabs};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState};
use crate::console::layout::{empty_state, pagination, redirect_with_notice, time_with_zone};
use crate::console::query::Query;
use crate::console::threads::confirmation;
use crate::console::visit::Visit;
use crate::model::announcement::{Announcement, AnnouncementText, AnnouncementTitle, Severity};
use crate::model::id::AnnouncementId;
use crate::model::input::Input;
use crate::model::reason::Code;
use crate::model::time::Time;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::error::Error;
use crate::rules::request::Request;
use crate::web::App;
use crate::web::extract::At;

const NEW_URL: &str = "/provider/announcements/new";

fn url(id: AnnouncementId) -> String {
    format!("{}/{id}", LIST.1)
}

pub async fn list(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    let list_request = query.list_request().sorted("id", true);
    let announcements = app
        .read(staff, move |tx, _| rules::announcements::list(tx, &list_request))
        .await?;
    let now = app.store().context().clock.now();
    let body = html! {
        (tabs(&visit, LIST.1))
        div .title { h1 { "Announcements" } a .button.main href=(NEW_URL) { "Create announcement" } }
        p .lead { "Customers see an announcement on every page of the console, while it is shown." }
        @if announcements.items.is_empty() {
            (empty_state("No announcements", "Announce maintenance and outages here.", Some(("Create announcement", NEW_URL))))
        } @else {
            table .list {
                thead { tr {
                    th scope="col" { "Title" } th scope="col" { "Severity" } th scope="col" { "Visibility" } th scope="col" { "Shown from" } th scope="col" { "Shown until" }
                } }
                tbody {
                    @for announcement in &announcements.items {
                        tr {
                            th scope="row" { a href=(url(announcement.id)) { (announcement.title.as_str()) } }
                            td data-label="Severity" { (severity_label(announcement.severity)) }
                            td data-label="Visibility" { (visibility(announcement, now)) }
                            td data-label="Shown from" { (time_with_zone(announcement.starts)) }
                            td data-label="Shown until" { @match announcement.ends { Some(ends) => (time_with_zone(ends)), None => span .quiet { "Not set" } } }
                        }
                    }
                }
            }
            (pagination(&announcements, LIST.1))
        }
    };
    Ok(visit.page("Announcements", &[], &body))
}

/// A time in UTC in the format of the form: `2026-01-15 09:00`, with the seconds if there are any.
fn utc(at: Time) -> String {
    let text = at.to_string().replace('T', " ");
    text.strip_suffix(":00").map(str::to_owned).unwrap_or(text)
}

fn severity_label(severity: Severity) -> &'static str {
    match severity {
        Severity::Minor => "Minor",
        Severity::Major => "Major",
        Severity::Critical => "Critical",
    }
}

/// Whether customers see an announcement now.
fn visibility(announcement: &Announcement, now: Time) -> Markup {
    html! {
        @if announcement.starts > now { span .tag.free { "Not shown yet" } }
        @else if announcement.ends.is_some_and(|ends| ends <= now) { span .quiet { "Ended" } }
        @else { span .tag.on { "Shown" } }
    }
}

fn fields(form_state: &FormState) -> Markup {
    let title = Field {
        name: "title",
        label: "Title",
        autofocus: true,
        max_chars: Some(AnnouncementTitle::MAX),
        ..Field::default()
    };
    let text = Field {
        name: "text",
        label: "Text",
        hint: "Markdown, as in tickets. Write the times of a maintenance here.",
        max_chars: Some(AnnouncementText::MAX),
        ..Field::default()
    };
    let severity = Field {
        name: "severity",
        label: "Severity",
        hint: "Sets the color: major is shown as a warning, and critical as an error.",
        ..Field::default()
    };
    let starts = Field {
        name: "starts",
        label: "Shown from",
        hint: "In UTC, such as 2026-01-15 09:00. Customers do not see the announcement before. Empty: from now on.",
        optional: true,
        code: true,
        ..Field::default()
    };
    let ends = Field {
        name: "ends",
        label: "Shown until",
        hint: "In UTC, such as 2026-01-15 17:00. Empty: until you delete the announcement.",
        optional: true,
        code: true,
        ..Field::default()
    };
    let severities =
        Severity::ALL.map(|severity| (severity.word().to_owned(), severity_label(severity).to_owned()));
    html! {
        p .quiet { "All customers see the announcement, on every page of the console." }
        (forms::text_input(form_state, title))
        (forms::textarea(form_state, text, 6))
        (forms::select(form_state, severity, &severities))
        (forms::text_input(form_state, starts))
        (forms::text_input(form_state, ends))
    }
}

/// A time that the user has typed, also as the list shows it.
fn typed_time<'a>(data: &'a FormData, name: &str) -> &'a str {
    let text = data.text(name).trim();
    text.strip_suffix("UTC").map_or(text, str::trim_end)
}

/// The request of a form. Without `starts`, the announcement is shown from now on, and without `ends`, it has no end.
fn request(data: &FormData, now: Time) -> Request {
    let mut object = data.object(&["title", "text"]);
    object.extend(data.non_empty(&["severity"]));
    let starts = match typed_time(data, "starts") {
        "" => now.to_string(),
        typed => typed.to_owned(),
    };
    object.push(("starts".to_owned(), Input::Text(starts)));
    let ends = match typed_time(data, "ends") {
        "" => Input::Null,
        typed => Input::Text(typed.to_owned()),
    };
    object.push(("ends".to_owned(), ends));
    data.request(object)
}

/// The form after an error. The errors of times have the labels and the format of the form.
fn refused_form(data: FormData, error: Error) -> Result<FormState, Error> {
    let mut form_state = forms::from_error(data, error)?;
    let has_start = !typed_time(&form_state.data, "starts").is_empty();
    for error in &mut form_state.errors {
        let field = error.field.as_deref().unwrap_or_default();
        if error.code != Code::TimeInvalid {
            continue;
        }
        let is_time = Time::parse(typed_time(&form_state.data, field)).is_some();
        let text = match (is_time, has_start) {
            (false, _) => "Must be a time in UTC, such as 2026-01-15 09:00",
            (true, true) => "Must be after “Shown from”",
            (true, false) => "Must be in the future",
        };
        text.clone_into(&mut error.reason);
    }
    Ok(form_state)
}

pub async fn new(visit: Visit) -> PageResult {
    let form_state = FormState::prefilled(&[("severity", Severity::default().word())]);
    Ok(render_new(&visit, &form_state))
}

pub async fn create(State(app): State<App>, visit: Visit, staff: Staff, data: FormData) -> PageResult {
    let request = request(&data, app.store().context().clock.now());
    let created = app
        .write(staff, move |tx, _| rules::announcements::create(tx, &request))
        .await;
    match created {
        Ok(_) => Ok(redirect_with_notice(LIST.1, "announcement-saved")),
        Err(error) => {
            let form_state = refused_form(data, error)?;
            Ok(render_new(&visit, &form_state))
        }
    }
}

fn render_new(visit: &Visit, form_state: &FormState) -> Response {
    let form = Card::new(NEW_URL, "Create announcement", LIST.1).wide();
    let body = html! {
        h1 { "Create announcement" }
        (forms::card(visit, form_state, &form, &fields(form_state)))
    };
    visit.form_page(form_state, "Create announcement", &[LIST], &body)
}

type Path = At<AnnouncementId>;

async fn load(app: &App, staff: Staff, id: AnnouncementId) -> rules::Result<Announcement> {
    app.read(staff, move |tx, _| rules::announcements::view(tx, id))
        .await
}

pub async fn edit(State(app): State<App>, visit: Visit, staff: Staff, At(id): Path) -> PageResult {
    let announcement = load(&app, staff, id).await?;
    let form_state = FormState::prefilled(&[
        ("title", announcement.title.as_str()),
        ("text", announcement.text.as_str()),
        ("severity", announcement.severity.word()),
        ("starts", &utc(announcement.starts)),
        ("ends", &announcement.ends.map(utc).unwrap_or_default()),
    ]);
    Ok(render_edit(
        &visit,
        &announcement,
        &form_state.with_version_of(&announcement),
    ))
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): Path,
    data: FormData,
) -> PageResult {
    let request = request(&data, app.store().context().clock.now());
    let changed = app
        .write(staff.clone(), move |tx, _| {
            rules::announcements::update(tx, id, &request)
        })
        .await;
    let form_state = match changed {
        Ok(_) => return Ok(redirect_with_notice(LIST.1, "announcement-saved")),
        Err(error) => refused_form(data, error)?,
    };
    let announcement = load(&app, staff, id).await?;
    Ok(render_edit(
        &visit,
        &announcement,
        &form_state.with_version_of(&announcement),
    ))
}

fn render_edit(visit: &Visit, announcement: &Announcement, form_state: &FormState) -> Response {
    let (title, edit_url) = (announcement.title.as_str(), url(announcement.id));
    let form = Card::new(edit_url.clone(), "Save", LIST.1).wide();
    let body = html! {
        div .title {
            h1 { "Edit announcement" }
            div .actions {
                (confirmation("Delete", (true, None), &html! {
                    p { "Customers no longer see the announcement." }
                    form method="post" action=(format!("{edit_url}/delete")) {
                        (visit.form_token())
                        button .danger type="submit" { "Delete announcement" }
                    }
                }))
            }
        }
        (forms::card(visit, form_state, &form, &fields(form_state)))
    };
    visit.form_page(form_state, title, &[LIST], &body)
}

pub async fn delete(State(app): State<App>, staff: Staff, At(id): Path, data: FormData) -> PageResult {
    let request = data.request(Vec::new());
    let deleted = app
        .write(staff, move |tx, _| rules::announcements::delete(tx, id, &request))
        .await;
    match deleted {
        Ok(()) => Ok(redirect_with_notice(LIST.1, "announcement-deleted")),
        Err(error) => refused(&url(id), error),
    }
}
