//! Events as sentences.

use maud::{Markup, html};

use crate::model::entity::{Entity, EntityKind};
use crate::model::event::{Action, Event};
use crate::model::event_change::{REPLY, STATUS};
use crate::model::subject::SubjectKind;
use crate::model::ticket;
use crate::rules::events::Existing;

/// An event as a sentence for tenants. Only objects that exist have a link.
pub fn sentence(event: &Event, existing: &Existing) -> Markup {
    sentence_with(
        event,
        |entity| entity_url(entity).filter(|_| existing.has(entity)),
        false,
    )
}

/// An event as a sentence: the user, the action, the object, and the object that contains it or is part of it. `url`
/// returns the URL of the page of an object. An event of staff is marked.
pub fn sentence_with(event: &Event, url: impl Fn(&Entity) -> Option<String>, by_staff: bool) -> Markup {
    let actor = event.username.as_deref().unwrap_or("Someone");
    html! {
        strong { (actor) } " " @if by_staff { span .tag { "Staff" } " " }
        (ticket_text(event).map_or_else(|| action_text(&event.action, event.entity.is_some()), str::to_owned))
        @if let Some(entity) = &event.entity {
            " "
            @match url(entity) {
                Some(url) => a href=(url) { (entity.label) },
                None => em { (entity.label) },
            }
        }
        @if let Some(secondary) = &event.secondary { " " span .quiet { "(" (kind_name(secondary.kind)) " " (secondary.label) ")" } }
        @match event.status.as_str() {
            "failed" => { " " span .tag.bad { "failed" } " " (event.message()) }
            "scheduled" | "started" => { " " span .tag { "in progress" } }
            _ => {}
        }
    }
}

/// The kind of a secondary object.
fn kind_name(kind: EntityKind) -> String {
    match kind {
        EntityKind::Subject(SubjectKind::Vpc) => "VPC".to_owned(),
        EntityKind::Subject(SubjectKind::Linode) => "instance".to_owned(),
        EntityKind::Config(_) => "config".to_owned(),
        other => other.word().replace('_', " "),
    }
}

/// The text of an update of a ticket, if it was a reply or changed whether the ticket is closed.
fn ticket_text(event: &Event) -> Option<&'static str> {
    if event.action != Action::TicketUpdate.word() {
        return None;
    }
    if event.changes.of(REPLY).is_some() {
        return Some("replied to the ticket");
    }
    let status = event.changes.of(STATUS)?;
    let closed = ticket::Status::Closed.word();
    if status.after == closed {
        return Some("closed the ticket");
    }
    (status.before == closed).then_some("reopened the ticket")
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
        "disk" => "a disk of the instance",
        "password" => "the root password of the instance",
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
        (_, "resize") => "resized",
        (_, "duplicate") => "duplicated",
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
        EntityKind::Subject(SubjectKind::Linode) => Some(format!("/instances/{}", entity.id)),
        EntityKind::Subnet(vpc) => Some(format!("/vpcs/{vpc}/subnets/{}", entity.id)),
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
