//! The fields that an update changed, below the sentence of its event.

use maud::{Markup, html};

use crate::console::identity::grant_words::{ACCOUNT_ACCESS, GLOBALS, level, level_with_word};
use crate::console::layout::pluralize;
use crate::model::event_change::{Changes, FieldChange, REPLY};
use crate::model::grant::Global;

/// The field with the number of objects that got one level of access.
const GRANTS: &str = "grants";

pub fn list(changes: &Changes) -> Markup {
    // The sentence of the event names a reply.
    let shown: Vec<_> = changes
        .fields
        .iter()
        .filter(|change| change.field != REPLY)
        .collect();
    html! {
        @if !shown.is_empty() {
            ul .changes {
                @for change in shown { li { (change_of(change)) } }
                @if changes.omitted > 0 { li .quiet { "and " (changes.omitted) " more" } }
            }
        }
    }
}

fn change_of(change: &FieldChange) -> Markup {
    let words = |value: &str| grant_value(&change.field, value).unwrap_or_else(|| value.to_owned());
    let (before, after) = (words(&change.before), words(&change.after));
    html! {
        (name(&change.field)) ": "
        // The objects had different levels before.
        @if change.field != GRANTS {
            @if before.is_empty() { span .quiet { "empty" } } @else { del { (before) } }
            " → "
        }
        @if after.is_empty() { span .quiet { "empty" } } @else { ins { (after) } }
    }
}

/// The name of a field in words. A name with spaces contains the label of an object.
fn name(field: &str) -> String {
    let global = GLOBALS.iter().find(|(global, _, _)| global.word() == field);
    match (field, global) {
        (_, Some((_, label, _))) => return (*label).to_owned(),
        ("account_access", _) => return ACCOUNT_ACCESS.to_owned(),
        ("attachment_bytes", _) => return "Ticket attachments".to_owned(),
        ("vpcs_per_region", _) => return "VPCs per region".to_owned(),
        ("subnets_per_vpc", _) => return "Subnets per VPC".to_owned(),
        _ => {}
    }
    // The label of the VPC or the instance follows.
    if let Some(rest) = field.strip_prefix("vpc ") {
        return format!("VPC {rest}");
    }
    if let Some(rest) = field.strip_prefix("linode ") {
        return format!("Instance {rest}");
    }
    let words = match field.contains(' ') {
        true => field.to_owned(),
        false => field.replace('_', " "),
    };
    let mut chars = words.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

/// The value of a grant, in the words of the grants page. `None` for other fields.
fn grant_value(field: &str, value: &str) -> Option<String> {
    if field == GRANTS {
        let (word, objects) = value.split_once(" on ")?;
        let count = objects.split(' ').next()?.parse().ok()?;
        let objects = pluralize(count, "object", "objects");
        return Some(format!("{} on {objects}", level(level_with_word(word)?)));
    }
    if Global::ALL.iter().any(|global| global.word() == field) {
        return match value {
            "true" => Some("Yes".to_owned()),
            "false" => Some("No".to_owned()),
            _ => None,
        };
    }
    let is_access = field == "account_access" || field.starts_with("vpc ") || field.starts_with("linode ");
    let found = level_with_word(value).filter(|_| is_access);
    found.map(|found| level(found).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_have_the_words_of_the_grants_page() {
        for (field, value, expected) in [
            ("account_access", "none", Some("No access")),
            ("vpc none (1)", "read_only", Some("Read-only")),
            ("linode web (2)", "read_write", Some("Read/write")),
            ("add_vpcs", "true", Some("Yes")),
            ("cancel_account", "false", Some("No")),
            ("grants", "read_only on 1 objects", Some("Read-only on 1 object")),
            (
                "grants",
                "none on 1200 objects",
                Some("No access on 1,200 objects"),
            ),
            ("grants", "unknown on 3 objects", None),
            ("label", "none", None),
            ("disabled", "true", None),
        ] {
            assert_eq!(grant_value(field, value).as_deref(), expected, "{field}: {value}");
        }
    }

    #[test]
    fn fields_have_names() {
        for (field, expected) in [
            ("account_access", "Account and support"),
            ("add_linodes", "Create instances"),
            ("add_domains", "Add domains"),
            ("subnets_per_vpc", "Subnets per VPC"),
            ("vpc core_1 (1)", "VPC core_1 (1)"),
            ("linode web (2)", "Instance web (2)"),
            ("interface 3", "Interface 3"),
            ("network_helper", "Network helper"),
        ] {
            assert_eq!(name(field), expected);
        }
    }
}
