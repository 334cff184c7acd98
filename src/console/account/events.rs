//! The activity page: the events of the account.

use axum::extract::State;
use maud::{Markup, html};

use crate::console::error_page::PageResult;
use crate::console::forms::FormData;
use crate::console::layout::{empty_state, pagination, redirect_with_notice, time};
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

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    let list_request = query.list_request(50);
    let events = app
        .read(caller, move |tx, caller| {
            rules::events::list(tx, caller, &list_request)
        })
        .await?;
    let newest = events
        .items
        .first()
        .filter(|event| !event.seen && events.page.number == 1);
    let body = html! {
        div .title {
            h1 { "Activity" }
            @if let Some(newest) = newest {
                form method="post" novalidate action="/events" {
                    (visit.form_token())
                    input type="hidden" name="id" value=(newest.id);
                    button type="submit" { "Mark all as seen" }
                }
            }
        }
        (event_list(&events))
    };
    Ok(visit.page("Activity", &[], &body))
}

pub async fn mark_seen(State(app): State<App>, caller: Caller, data: FormData) -> PageResult {
    let id = EventId(data.text("id").parse().unwrap_or(0));
    let request = data.request(Vec::new());
    app.write(caller, move |tx, caller| {
        rules::events::mark_seen(tx, caller, id, &request)
    })
    .await?;
    Ok(redirect_with_notice("/events", "events-seen"))
}

fn event_list(events: &Paged<Event>) -> Markup {
    html! {
        div #list hx-get=(format!("/events?page={}", events.page.number)) hx-trigger="garth:event from:body" hx-select="#list"
            hx-swap="outerHTML" {
            @if events.items.is_empty() && events.results > 0 {
                (empty_state("This page is empty", "The list no longer has this many pages.", Some(("Go to the first page", "/events"))))
            } @else if events.items.is_empty() {
                (empty_state("No activity yet", "Changes by the users of your account and replies from your provider appear here.", None))
            } @else {
                ol .events {
                    @for event in &events.items {
                        li .unread[!event.seen] {
                            span { (sentence(event)) @if !event.seen { " " span .tag.on { "new" } } }
                            (time(event.created))
                        }
                    }
                }
                (pagination(events, "/events"))
            }
        }
    }
}

/// An event as a sentence.
fn sentence(event: &Event) -> Markup {
    let actor = event.username.as_deref().unwrap_or("Someone");
    let is_deleted = event.action.ends_with("_delete");
    html! {
        strong { (actor) } " " (action_text(&event.action, event.entity.is_some()))
        @if let Some(entity) = &event.entity {
            " "
            @match entity_url(entity).filter(|_| !is_deleted) {
                Some(url) => a href=(url) { (entity.label) },
                None => em { (entity.label) },
            }
        }
        @if event.status == "failed" { " (failed)" }
    }
}

/// The verb and the object of an action. `label_follows` is true if the label of the entity follows this
/// text.
fn action_text(action: &str, label_follows: bool) -> String {
    let (kind, verb) = action.rsplit_once('_').unwrap_or((action, ""));
    let object = match kind {
        "vpc" => "the VPC",
        "subnet" => "the subnet",
        "linode" => "the instance",
        "ipaddress" => "an address of the instance",
        "linode_config" => "a config of the instance",
        "tag" => "the tag",
        "ticket" => "the ticket",
        "ticket_attachment" => "a file to the ticket",
        "account" => "the account",
        "account_settings" => "the settings of the account",
        "profile" if label_follows => "the profile of",
        "profile" => "a profile",
        "token" => "the token",
        "user" => "the user",
        "user_ssh_key" => "the SSH key",
        "oauth_client" if label_follows => "the OAuth client",
        "oauth_client" => "an OAuth client",
        "oauth_client_secret" if label_follows => "the secret of the OAuth client",
        "oauth_client_secret" => "the secret of an OAuth client",
        other => other,
    };
    let verb = match (kind, verb) {
        ("ticket", "create") => "opened",
        ("ticket_attachment", _) => "attached",
        (_, "create") => "created",
        (_, "add") => "added",
        (_, "update") => "updated",
        (_, "delete") => "deleted",
        (_, "boot") => "booted",
        (_, "reboot") => "rebooted",
        (_, "shutdown") => "shut down",
        (_, "reset") => "reset",
        (_, "addip") => "added an address to",
        (_, "deleteip") => "released an address of",
        (_, other) => other,
    };
    format!("{verb} {object}")
}

/// The URL of the page of an event's entity.
fn entity_url(entity: &Entity) -> Option<String> {
    match entity.kind {
        EntityKind::Subject(SubjectKind::Vpc) => Some(format!("/vpcs/{}", entity.id)),
        EntityKind::Subnet(vpc) => Some(format!("/vpcs/{vpc}")),
        EntityKind::Ticket => Some(format!("/tickets/{}", entity.id)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::action_text;

    #[test]
    fn actions_have_readable_texts() {
        for (action, words) in [
            ("vpc_create", "created the VPC"),
            ("ticket_create", "opened the ticket"),
            ("ticket_attachment_upload", "attached a file to the ticket"),
            ("linode_config_delete", "deleted a config of the instance"),
            ("linode_shutdown", "shut down the instance"),
            ("linode_addip", "added an address to the instance"),
            ("ipaddress_update", "updated an address of the instance"),
            (
                "oauth_client_secret_reset",
                "reset the secret of the OAuth client",
            ),
        ] {
            assert_eq!(action_text(action, true), words);
        }
        assert_eq!(action_text("profile_update", false), "updated a profile");
        assert_eq!(
            action_text("oauth_client_create", false),
            "created an OAuth client"
        );
    }
}
