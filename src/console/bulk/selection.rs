//! The selection in a list: a checkbox in each row, and a button for each action.

use maud::{Markup, html};

use crate::console::forms::FormData;
use crate::console::layout::pluralize;
use crate::model::id::VpcId;

/// The form to which the checkboxes of a list belong.
const FORM: &str = "bulk";
/// The name of a checkbox is this prefix with the ID of the object.
pub const ID_PREFIX: &str = "id.";
/// The field with the query of the list.
const LIST_FIELD: &str = "list";

/// The list whose objects are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Vpcs,
    Subnets(VpcId),
    Instances,
    Tickets,
    /// The tickets of all accounts, for staff.
    Desk,
}

/// What the user may do with the objects of a list.
#[derive(Clone, Copy, Debug)]
pub struct Allowed {
    pub add: bool,
    /// Whether the user can change at least one object. Without this, the list has no selection.
    pub change: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Boot,
    Reboot,
    Shutdown,
    Close,
    /// Add a tag.
    Tag,
    Delete,
}

impl Target {
    pub fn actions(self) -> &'static [Action] {
        match self {
            Target::Vpcs | Target::Subnets(_) => &[Action::Delete],
            Target::Instances => &[Action::Boot, Action::Reboot, Action::Shutdown, Action::Delete],
            Target::Tickets => &[Action::Close],
            Target::Desk => &[Action::Close, Action::Tag],
        }
    }

    /// The label of the list.
    pub const fn label(self) -> &'static str {
        match self {
            Target::Vpcs => "VPCs",
            Target::Subnets(_) => "Subnets",
            Target::Instances => "Instances",
            Target::Tickets => "Tickets",
            Target::Desk => "Desk",
        }
    }

    /// The URL of the list.
    pub fn url(self) -> String {
        match self {
            Target::Vpcs => "/vpcs".to_owned(),
            Target::Subnets(vpc) => format!("/vpcs/{vpc}/subnets"),
            Target::Instances => "/instances".to_owned(),
            Target::Tickets => "/tickets".to_owned(),
            Target::Desk => "/desk".to_owned(),
        }
    }

    /// `1 VPC`, `2 VPCs`.
    pub fn count(self, count: usize) -> String {
        let (one, many) = match self {
            Target::Vpcs => ("VPC", "VPCs"),
            Target::Subnets(_) => ("subnet", "subnets"),
            Target::Instances => ("instance", "instances"),
            Target::Tickets | Target::Desk => ("ticket", "tickets"),
        };
        pluralize(count, one, many)
    }
}

impl Action {
    pub const fn word(self) -> &'static str {
        match self {
            Action::Boot => "boot",
            Action::Reboot => "reboot",
            Action::Shutdown => "shutdown",
            Action::Close => "close",
            Action::Tag => "tag",
            Action::Delete => "delete",
        }
    }

    pub const fn label(self) -> &'static str {
        match self {
            Action::Boot => "Boot",
            Action::Reboot => "Reboot",
            Action::Shutdown => "Shut down",
            Action::Close => "Close",
            Action::Tag => "Tag",
            Action::Delete => "Delete",
        }
    }

    /// The key of the notice after success.
    pub const fn notice(self) -> &'static str {
        match self {
            Action::Boot => "bulk-boot",
            Action::Reboot => "bulk-reboot",
            Action::Shutdown => "bulk-shutdown",
            Action::Close => "bulk-close",
            Action::Tag => "bulk-tag",
            Action::Delete => "bulk-delete",
        }
    }
}

/// The buttons for the selected objects of a list. `list_url` is the URL of the list with its search and page.
pub fn buttons(target: Target, list_url: &str) -> Markup {
    buttons_except(target, list_url, None)
}

/// Like `buttons`, without an action that none of the objects in the list permits.
pub fn buttons_except(target: Target, list_url: &str, except: Option<Action>) -> Markup {
    let actions = target.actions().iter().filter(|action| Some(**action) != except);
    html! {
        form #(FORM) .inline.bulk method="get" action=(url(target)) {
            (list_field(list_url))
            span .quiet { "Selected:" }
            @for action in actions {
                button .danger[*action == Action::Delete] type="submit" name="action" value=(action.word()) { (action.label()) }
            }
        }
    }
}

/// A hidden field with the search and the page of a list.
pub fn list_field(list_url: &str) -> Markup {
    html! {
        @if let Some((_, query)) = list_url.split_once('?') { input type="hidden" name=(LIST_FIELD) value=(query); }
    }
}

/// The URL of the list with the search and the page of the hidden field.
pub fn list_url(target: Target, data: &FormData) -> String {
    // Encoded again, because the field can have any characters.
    let query = form_urlencoded::parse(data.text(LIST_FIELD).as_bytes());
    let query = form_urlencoded::Serializer::new(String::new())
        .extend_pairs(query)
        .finish();
    match query.is_empty() {
        true => target.url(),
        false => format!("{}?{query}", target.url()),
    }
}

/// The header of the column of checkboxes.
pub fn header() -> Markup {
    // The console's script shows the checkbox.
    html! { th scope="col" .pick { span .hidden { "Selected" } input type="checkbox" data-select-all hidden aria-label="Select all" autocomplete="off"; } }
}

/// The checkbox of a row.
pub fn checkbox(id: i64, label: &str) -> Markup {
    html! { td .pick { input type="checkbox" form=(FORM) name={ (ID_PREFIX) (id) } aria-label={ "Select " (label) }; } }
}

/// The URL of the confirmation page.
pub fn url(target: Target) -> String {
    format!("{}/bulk", target.url())
}
