//! The filter of the activity page: kind of object, action, user, days, and one object.

use maud::{Markup, html};

use crate::console::query::{MAX_SEARCH_CHARS, Query, list_page};
use crate::model::event::{Action, Event};
use crate::model::time::Time;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;

pub const EVENTS_URL: &str = "/events";
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// The kinds of objects: key, label, and the part of the action before the verb.
const KINDS: [(&str, &str, &[&str]); 11] = [
    ("vpc", "VPCs", &["vpc"]),
    ("subnet", "Subnets", &["subnet"]),
    ("instance", "Instances", &["linode", "ipaddress", "password"]),
    ("config", "Configs", &["linode_config"]),
    ("disk", "Disks", &["disk"]),
    ("tag", "Tags", &["tag"]),
    ("ticket", "Tickets", &["ticket", "ticket_attachment"]),
    ("user", "Users", &["user", "user_ssh_key"]),
    ("token", "Tokens", &["token"]),
    (
        "client",
        "OAuth clients",
        &["oauth_client", "oauth_client_secret"],
    ),
    (
        "account",
        "Account and profiles",
        &["account", "account_settings", "profile"],
    ),
];

/// The verbs of actions, with their labels.
const VERBS: [(&str, &str); 13] = [
    ("create", "Created"),
    ("update", "Updated"),
    ("delete", "Deleted"),
    ("boot", "Booted"),
    ("reboot", "Rebooted"),
    ("shutdown", "Shut down"),
    ("add", "SSH key added"),
    ("addip", "Address added"),
    ("deleteip", "Address released"),
    ("resize", "Resized"),
    ("duplicate", "Duplicated"),
    ("reset", "Reset"),
    ("upload", "File attached"),
];

/// The fields with the offsets of the days.
const OFFSETS: [&str; 2] = ["from_offset", "to_offset"];
/// No time zone is further from UTC.
const MAX_OFFSET_MINUTES: i64 = 14 * 60;

fn offset_field(day: &str) -> String {
    format!("{day}_offset")
}

/// The kinds of objects whose pages link to their activity, with their names.
const OBJECTS: [(&str, &str); 5] = [
    ("vpc", "VPC"),
    ("subnet", "subnet"),
    ("linode", "instance"),
    ("ticket", "ticket"),
    ("user", "user"),
];

/// The URL of the activity of one object. The activity of a VPC includes its subnets.
pub fn url_of_object(kind: &str, id: i64) -> String {
    format!("{EVENTS_URL}?object={kind}-{id}")
}

/// The filter, as the fields of its form.
pub struct EventFilter {
    /// The kind and the ID of one object: `vpc-1`.
    object: String,
    kind: String,
    action: String,
    user: String,
    from: Day,
    to: Day,
    page: String,
    /// The URL of the list without a filter.
    list_url: String,
}

/// A day in the time zone of the browser. Without the console's script, it is a day in UTC.
struct Day {
    text: String,
    /// The offset of the time zone from UTC in minutes, at the start of the first or at the end of the last day.
    offset: String,
    start: Option<Time>,
}

impl Day {
    fn read(text: &str, offset: &str) -> Self {
        let short = |text: &str| -> String { text.trim().chars().take(MAX_SEARCH_CHARS).collect() };
        let (text, offset) = (short(text), short(offset));
        let minutes: i64 = offset.parse().unwrap_or(0);
        let start = Time::parse(&format!("{text}T00:00:00")).filter(|start| start.date() == text);
        let start = start
            .map(|start| start.plus_seconds(-60 * minutes.clamp(-MAX_OFFSET_MINUTES, MAX_OFFSET_MINUTES)));
        Self { text, offset, start }
    }

    fn is_invalid(&self) -> bool {
        !self.text.is_empty() && self.start.is_none()
    }
}

impl EventFilter {
    pub fn read(query: &Query) -> Self {
        Self::at(EVENTS_URL, query)
    }

    /// The filter of the list with this URL.
    pub fn at(list_url: &str, query: &Query) -> Self {
        let plain = |name: &str| -> String {
            let characters = query.text(name).trim().chars().filter(|c| !c.is_control());
            characters.take(MAX_SEARCH_CHARS).collect()
        };
        Self {
            object: plain("object"),
            kind: plain("kind"),
            action: plain("action"),
            user: plain("user"),
            from: Day::read(query.text("from"), query.text(OFFSETS[0])),
            to: Day::read(query.text("to"), query.text(OFFSETS[1])),
            page: query.text("page").to_owned(),
            list_url: list_url.to_owned(),
        }
    }

    pub fn is_empty(&self) -> bool {
        let mut filters = self
            .fields()
            .into_iter()
            .filter(|(name, _)| !OFFSETS.contains(name));
        filters.all(|(_, value)| value.is_empty())
    }

    fn fields(&self) -> [(&'static str, &str); 8] {
        [
            ("object", &self.object),
            ("kind", &self.kind),
            ("action", &self.action),
            ("user", &self.user),
            ("from", &self.from.text),
            ("to", &self.to.text),
            (OFFSETS[0], &self.from.offset),
            (OFFSETS[1], &self.to.offset),
        ]
    }

    /// The kind of the object, its name and its ID.
    fn object(&self) -> Option<(&'static str, &'static str, i64)> {
        let (word, id) = self.object.rsplit_once('-')?;
        let (kind, name) = OBJECTS.into_iter().find(|(kind, _)| *kind == word)?;
        Some((kind, name, id.parse().ok()?))
    }

    /// The request for the events. An invalid day has no effect; the form shows the error.
    pub fn list_request(&self) -> ListRequest {
        let mut list = list_page(&self.page);
        if !self.kind.is_empty() || !self.action.is_empty() {
            let actions = Action::ALL.into_iter().filter(|action| self.includes(*action));
            let tests = actions.map(|action| Condition::equal("action", action.word()));
            list = list.only(Condition::Any(tests.collect()));
        }
        if let Some((kind, _, id)) = self.object() {
            let is_entity = [
                Condition::equal("entity.type", kind),
                Condition::equal("entity.id", id),
            ];
            // The secondary entity of the event of a subnet is its VPC.
            let is_secondary = [
                Condition::equal("secondary_entity.type", kind),
                Condition::equal("secondary_entity.id", id),
            ];
            let either = [is_entity, is_secondary].map(|tests| Condition::All(tests.to_vec()));
            list = list.only(Condition::Any(either.to_vec()));
        }
        if !self.user.is_empty() {
            list = list.only(Condition::contained_in(["username"], &self.user));
        }
        if let Some(start) = self.from.start {
            list = list.only(Condition::at_least("created", start));
        }
        if let Some(start) = self.to.start {
            list = list.only(Condition::less_than("created", start.plus_seconds(DAY_SECONDS)));
        }
        list
    }

    fn includes(&self, action: Action) -> bool {
        let (object, verb) = split(action);
        let of_kind = KINDS
            .iter()
            .any(|(key, _, objects)| *key == self.kind && objects.contains(&object));
        (self.kind.is_empty() || of_kind) && (self.action.is_empty() || self.action == verb)
    }

    /// The URL of the list with this filter.
    pub fn url(&self) -> String {
        self.url_with(self.fields())
    }

    /// The label of the object, from one of its events.
    fn object_label<'a>(&self, events: &'a [Event]) -> Option<&'a str> {
        let (kind, _, id) = self.object()?;
        let mut entities = events.iter().filter_map(|event| event.entity.as_ref());
        let found = entities.find(|entity| entity.kind.word() == kind && entity.id == id)?;
        Some(found.label.as_str())
    }

    /// The same filter for all objects.
    fn url_of_all(&self) -> String {
        let fields = self.fields();
        self.url_with(fields.into_iter().filter(|(name, _)| *name != "object"))
    }

    /// The URL of the list with these fields, as far as they are not empty.
    fn url_with<'a>(&self, fields: impl IntoIterator<Item = (&'static str, &'a str)>) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(fields.into_iter().filter(|(_, value)| !value.is_empty()));
        match query.finish() {
            query if query.is_empty() => self.list_url.clone(),
            query => format!("{}?{query}", self.list_url),
        }
    }

    /// The form. The events of one object have one kind, except for those of a VPC.
    pub fn form(&self, events: &[Event]) -> Markup {
        let object = self.object();
        let has_kinds = object.is_none_or(|(kind, ..)| kind == "vpc");
        let kind_trigger = if has_kinds { ", change from:#kind" } else { "" };
        html! {
            @if let Some((_, name, id)) = object {
                p {
                    "Only the activity of the " (name) " " @if let Some(label) = self.object_label(events) { strong { (label) } " " } span .id { (id) } ". "
                    a href=(self.url_of_all()) { "Show the activity of all objects" }
                }
            }
            form .search role="search" aria-label="Activity" method="get" action=(self.list_url) hx-get=(self.list_url) hx-target="#list"
                hx-select="#list" hx-swap="outerHTML" hx-replace-url="true" hx-sync="this:replace"
                hx-trigger={ "submit, input changed delay:250ms from:#user, change from:#action, change from:#from, change from:#to" (kind_trigger) } {
                @if object.is_some() { input type="hidden" name="object" value=(self.object); }
                @if has_kinds { (choice("kind", "Object", "All objects", &self.kind, &KINDS.map(|(key, label, _)| (key, label)))) }
                (choice("action", "Action", "All actions", &self.action, &VERBS))
                div .field {
                    label for="user" { "Done by" }
                    input #user type="search" name="user" value=(self.user) autocomplete="off" spellcheck="false" maxlength=(MAX_SEARCH_CHARS);
                }
                (day("from", "From (UTC)", &self.from, 0))
                (day("to", "To (UTC)", &self.to, 1))
                button type="submit" { "Filter" }
            }
        }
    }
}

/// The object and the verb of an action.
fn split(action: Action) -> (&'static str, &'static str) {
    action.word().rsplit_once('_').unwrap_or((action.word(), ""))
}

fn choice(name: &str, label: &str, all: &str, current: &str, options: &[(&str, &str)]) -> Markup {
    html! {
        div .field {
            label for=(name) { (label) }
            select #(name) name=(name) {
                option value="" { (all) }
                @for (value, label) in options { option value=(value) selected[*value == current] { (label) } }
            }
        }
    }
}

/// The field for a day. The console's script sets the offset, at the start of the day or `days_later`.
fn day(name: &str, label: &str, day: &Day, days_later: u8) -> Markup {
    html! {
        input type="hidden" name=(offset_field(name)) value=(day.offset) data-offset-of=(name) data-days-later=(days_later);
        div .field .wrong[day.is_invalid()] {
            label for=(name) { (label) }
            input #(name) type="date" name=(name) value=(day.text);
            @if day.is_invalid() { p .reason { "Must be a day, such as 2024-05-31" } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_one_kind_and_one_verb() {
        for action in Action::ALL {
            let (object, verb) = split(action);
            let kinds = KINDS.iter().filter(|(_, _, objects)| objects.contains(&object));
            assert_eq!(kinds.count(), 1, "{}", action.word());
            assert_eq!(
                VERBS.iter().filter(|(word, _)| *word == verb).count(),
                1,
                "{}",
                action.word()
            );
        }
        for (verb, _) in VERBS {
            assert!(
                Action::ALL.iter().any(|action| split(*action).1 == verb),
                "{verb}"
            );
        }
    }

    #[test]
    fn a_day_must_exist() {
        for (text, valid) in [
            ("2024-02-29", true),
            ("2023-02-29", false),
            ("2024-2-9", false),
            ("x", false),
        ] {
            assert_eq!(Day::read(text, "").start.is_some(), valid, "{text}");
            assert_eq!(Day::read(text, "").is_invalid(), !valid, "{text}");
        }
        assert!(!Day::read(" ", "").is_invalid());
    }
}
