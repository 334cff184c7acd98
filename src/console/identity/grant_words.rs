//! The words for grants, for the grants page and for the activity.

use crate::model::grant::{Global, Permission};

pub const LEVELS: [Option<Permission>; 3] = [None, Some(Permission::ReadOnly), Some(Permission::ReadWrite)];
/// The value of the level without access in URLs, where an empty value means any level, and in stored events.
const NO_ACCESS: &str = "none";

/// The name of the permission on the account itself.
pub const ACCOUNT_ACCESS: &str = "Account and support";
/// The account-wide grants that apply to this service, with label and hint.
pub const GLOBALS: [(Global, &str, &str); 2] = [
    (
        Global::AddVpcs,
        "Create VPCs",
        "The user gets read/write access to each VPC they create.",
    ),
    (
        Global::AddLinodes,
        "Create instances",
        "The user gets read/write access to each instance they create.",
    ),
];

/// The name of a level.
pub fn level(permission: Option<Permission>) -> &'static str {
    match permission {
        None => "No access",
        Some(Permission::ReadOnly) => "Read-only",
        Some(Permission::ReadWrite) => "Read/write",
    }
}

/// The value of a level in a form.
pub fn word(permission: Option<Permission>) -> &'static str {
    permission.map_or("", Permission::word)
}

/// The value of a level in a URL.
pub fn url_word(permission: Option<Permission>) -> &'static str {
    permission.map_or(NO_ACCESS, Permission::word)
}

/// The level with this value in a URL or in a stored event.
pub fn level_with_word(word: &str) -> Option<Option<Permission>> {
    LEVELS.into_iter().find(|level| url_word(*level) == word)
}
