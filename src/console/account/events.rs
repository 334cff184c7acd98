//! What happened in the account: a page of the latest events.

use axum::extract::State;
use maud::{Markup, html};

use crate::console::error_page::Answer;
use crate::console::forms::Sent;
use crate::console::layout::{done, empty, pager, time};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::entity::{Entity, EntityKind};
use crate::model::event::Event;
use crate::model::id::EventId;
use crate::model::page::Paged;
use crate::model::subject::SubjectKind;
use crate::rules;
use crate::rules::caller::Caller;
use crate::web::App;

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> Answer {
    let wanted = query.list(50);
    let events = app
        .read(caller, move |tx, caller| rules::events::list(tx, caller, &wanted))
        .await?;
    let newest = events
        .items
        .first()
        .filter(|event| !event.seen && events.page.number == 1);
    let body = html! {
        div .title {
            h1 { "Activity" }
            @if let Some(newest) = newest {
                form method="post" action="/events" {
                    (visit.form_token())
                    input type="hidden" name="id" value=(newest.id);
                    button type="submit" { "Mark all as seen" }
                }
            }
        }
        (draw(&events))
    };
    Ok(visit.page("Activity", &[], &body))
}

pub async fn seen(State(app): State<App>, caller: Caller, sent: Sent) -> Answer {
    let id = EventId(sent.text("id").parse().unwrap_or(0));
    let request = sent.request(Vec::new());
    app.write(caller, move |tx, caller| {
        rules::events::mark_seen(tx, caller, id, &request)
    })
    .await?;
    Ok(done("/events", "events-seen"))
}

fn draw(events: &Paged<Event>) -> Markup {
    html! {
        div #list hx-get=(format!("/events?page={}", events.page.number)) hx-trigger="garth:event from:body" hx-select="#list"
            hx-swap="outerHTML" {
            @if events.items.is_empty() && events.results > 0 {
                (empty("This page is empty", "The list has fewer pages now.", Some(("Go to the first page", "/events"))))
            } @else if events.items.is_empty() {
                (empty("No activity yet", "Changes by the users of your account and replies from your provider appear here.", None))
            } @else {
                ol .events {
                    @for event in &events.items {
                        li .unread[!event.seen] {
                            span { (told(event)) @if !event.seen { " " span .tag.on { "new" } } }
                            (time(event.created))
                        }
                    }
                }
                (pager(events, "/events"))
            }
        }
    }
}

/// An event as a sentence.
fn told(event: &Event) -> Markup {
    let who = event.username.as_deref().unwrap_or("Someone");
    let gone = event.action.ends_with("_delete");
    html! {
        strong { (who) } " " (did(&event.action, event.entity.is_some()))
        @if let Some(entity) = &event.entity {
            " "
            @match address(entity).filter(|_| !gone) {
                Some(address) => a href=(address) { (entity.label) },
                None => em { (entity.label) },
            }
        }
        @if event.status == "failed" { " (failed)" }
    }
}

/// What was done; `named` if what it was done to is told behind it.
fn did(action: &str, named: bool) -> String {
    let (thing, deed) = action.rsplit_once('_').unwrap_or((action, ""));
    let what = match thing {
        "vpc" => "the VPC",
        "subnet" => "the subnet",
        "linode" => "the instance",
        "linode_config" => "a config of the instance",
        "ticket" => "the ticket",
        "ticket_attachment" => "a file to the ticket",
        "profile" if named => "the profile of",
        "profile" => "a profile",
        "token" => "the token",
        "user" => "the user",
        "oauth_client" if named => "the OAuth client",
        "oauth_client" => "an OAuth client",
        "oauth_client_secret" if named => "the secret of the OAuth client",
        "oauth_client_secret" => "the secret of an OAuth client",
        other => other,
    };
    let deed = match (thing, deed) {
        ("ticket", "create") => "opened",
        ("ticket_attachment", _) => "attached",
        (_, "create") => "created",
        (_, "update") => "updated",
        (_, "delete") => "deleted",
        (_, "boot") => "booted",
        (_, "reboot") => "rebooted",
        (_, "shutdown") => "shut down",
        (_, "reset") => "reset",
        (_, other) => other,
    };
    format!("{deed} {what}")
}

/// The page of what an event is about.
fn address(entity: &Entity) -> Option<String> {
    match entity.kind {
        EntityKind::Subject(SubjectKind::Vpc) => Some(format!("/vpcs/{}", entity.id)),
        EntityKind::Subnet(vpc) => Some(format!("/vpcs/{vpc}")),
        EntityKind::Ticket => Some(format!("/tickets/{}", entity.id)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::did;

    #[test]
    fn events_are_told_in_words() {
        for (action, words) in [
            ("vpc_create", "created the VPC"),
            ("ticket_create", "opened the ticket"),
            ("ticket_attachment_upload", "attached a file to the ticket"),
            ("linode_config_delete", "deleted a config of the instance"),
            ("linode_shutdown", "shut down the instance"),
            (
                "oauth_client_secret_reset",
                "reset the secret of the OAuth client",
            ),
        ] {
            assert_eq!(did(action, true), words);
        }
        assert_eq!(did("profile_update", false), "updated a profile");
        assert_eq!(did("oauth_client_create", false), "created an OAuth client");
    }
}
