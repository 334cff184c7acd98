//! JSON views of announcements.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::announcement::Announcement;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::web::answer;

#[derive(Serialize)]
struct AnnouncementView<'a> {
    id: i64,
    title: &'a str,
    text: &'a str,
    severity: &'static str,
    #[serde(serialize_with = "answer::time")]
    starts: Time,
    #[serde(serialize_with = "answer::optional_time")]
    ends: Option<Time>,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::time")]
    updated: Time,
}

impl<'a> AnnouncementView<'a> {
    fn new(announcement: &'a Announcement) -> Self {
        Self {
            id: announcement.id.0,
            title: announcement.title.as_str(),
            text: announcement.text.as_str(),
            severity: announcement.severity.word(),
            starts: announcement.starts,
            ends: announcement.ends,
            created: announcement.created,
            updated: announcement.updated,
        }
    }
}

pub fn one(announcement: &Announcement, _: &ViewContext) -> Response {
    answer::one(announcement, &AnnouncementView::new(announcement))
}

pub fn page(announcements: &Paged<Announcement>, _: &ViewContext) -> Response {
    answer::page(announcements, AnnouncementView::new)
}

/// A notification, in the format of the public service.
#[derive(Serialize)]
struct NotificationView<'a> {
    label: &'a str,
    body: &'a str,
    message: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    severity: &'static str,
    entity: Option<()>,
    #[serde(serialize_with = "answer::optional_time")]
    until: Option<Time>,
    #[serde(serialize_with = "answer::time")]
    when: Time,
}

pub fn notifications(announcements: &Paged<Announcement>, _: &ViewContext) -> Response {
    answer::page(announcements, |announcement| NotificationView {
        label: announcement.title.as_str(),
        body: announcement.text.as_str(),
        message: announcement.title.as_str(),
        kind: "notice",
        severity: announcement.severity.word(),
        entity: None,
        until: announcement.ends,
        when: announcement.starts,
    })
}
