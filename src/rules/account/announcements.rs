//! Announcements of the provider (decision 0034).

use crate::model::announcement::{
    Announcement, AnnouncementText, AnnouncementTitle, NewAnnouncement, Severity,
};
use crate::model::id::AnnouncementId;
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::time::Time;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::store::{self, ReadTx, WriteTx};

/// The maximum number of announcements on a page of the console.
const MAX_SHOWN: i64 = 5;

pub fn list(tx: &mut ReadTx, list: &ListRequest) -> Result<Paged<Announcement>> {
    let query = list.read(tx.policy(), &store::announcements::FIELDS)?;
    Ok(store::announcements::list(tx, &query)?)
}

/// The announcements that are current, as notifications of an account.
pub fn notifications(tx: &mut ReadTx, _: &Caller, list: &ListRequest) -> Result<Paged<Announcement>> {
    let query = list.read(tx.policy(), &store::announcements::NOTIFICATION_FIELDS)?;
    Ok(store::announcements::list_current(tx, &query)?)
}

/// The announcements that a page of the console shows to tenants, newest first.
pub fn current(tx: &mut ReadTx) -> Result<Vec<Announcement>> {
    Ok(store::announcements::current(tx, MAX_SHOWN)?)
}

pub fn view(tx: &mut ReadTx, id: AnnouncementId) -> Result<Announcement> {
    store::announcements::find(tx, id)?.ok_or(Error::NotFound)
}

/// Creates an announcement. It starts now, unless the request has another time.
pub fn create(tx: &mut WriteTx, request: &Request) -> Result<Announcement> {
    let mut form = request.form()?;
    let title = form.required("title", AnnouncementTitle::parse);
    let text = form.required("text", AnnouncementText::parse);
    let severity = form.optional("severity", Severity::parse);
    let starts = form.optional("starts", parse_time).unwrap_or(tx.now());
    let ends = form.optional("ends", parse_time);
    refuse_wrong_end(&mut form, starts, ends);
    let new = form.finish(|| {
        Some(NewAnnouncement {
            title: title?,
            text: text?,
            severity: severity.unwrap_or_default(),
            starts,
            ends,
        })
    })?;
    Ok(store::announcements::insert(tx, &new)?)
}

/// Changes an announcement. If `ends` is null, the announcement has no end.
pub fn update(tx: &mut WriteTx, id: AnnouncementId, request: &Request) -> Result<Announcement> {
    let mut announcement = view(tx, id)?;
    request.check_if_match(&announcement)?;
    let mut form = request.form()?;
    let title = form.optional("title", AnnouncementTitle::parse);
    let text = form.optional("text", AnnouncementText::parse);
    let severity = form.optional("severity", Severity::parse);
    let starts = form.optional("starts", parse_time).unwrap_or(announcement.starts);
    let ends = match form.is_null("ends") {
        true => None,
        false => form.optional("ends", parse_time).or(announcement.ends),
    };
    refuse_wrong_end(&mut form, starts, ends);
    form.finish(|| Some(()))?;

    announcement.title = title.unwrap_or(announcement.title);
    announcement.text = text.unwrap_or(announcement.text);
    announcement.severity = severity.unwrap_or(announcement.severity);
    announcement.starts = starts;
    announcement.ends = ends;
    announcement.updated = tx.now_after(announcement.updated);
    store::announcements::update(tx, &announcement)?;
    Ok(announcement)
}

pub fn delete(tx: &mut WriteTx, id: AnnouncementId, request: &Request) -> Result<()> {
    request.check_if_match(&view(tx, id)?)?;
    request.require_valid_body()?;
    Ok(store::announcements::delete(tx, id)?)
}

fn refuse_wrong_end(form: &mut Form, starts: Time, ends: Option<Time>) {
    if ends.is_some_and(|ends| ends <= starts) {
        form.refuse("ends", Reason::new(Code::TimeInvalid, "Must be after starts"));
    }
}

fn parse_time(raw: &str) -> Result<Time, Reasons> {
    let time = Time::parse(raw).map(Time::to_second);
    time.ok_or_else(|| {
        let text = "Must be a time in UTC, such as 2026-01-15T09:00:00";
        vec![Reason::new(Code::TimeInvalid, text)]
    })
}
