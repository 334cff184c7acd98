//! The selection in a list: a checkbox in each row, and a button for each action.

use maud::{Markup, html};

use crate::console::layout::pluralize;
use crate::model::id::VpcId;

/// The form to which the checkboxes of a list belong.
const FORM: &str = "bulk";
/// The name of a checkbox is this prefix with the ID of the object.
pub const ID_PREFIX: &str = "id.";

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

    /// The label and the URL of the list.
    pub fn list(self) -> (&'static str, String) {
        match self {
            Target::Vpcs => ("VPCs", "/vpcs".to_owned()),
            Target::Subnets(vpc) => ("Subnets", format!("/vpcs/{vpc}/subnets")),
            Target::Instances => ("Instances", "/instances".to_owned()),
            Target::Tickets => ("Tickets", "/tickets".to_owned()),
            Target::Desk => ("Desk", "/desk".to_owned()),
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

/// The buttons for the selected objects of a list.
pub fn buttons(target: Target) -> Markup {
    buttons_except(target, None)
}

/// Like `buttons`, without an action that none of the objects in the list permits.
pub fn buttons_except(target: Target, except: Option<Action>) -> Markup {
    let actions = target.actions().iter().filter(|action| Some(**action) != except);
    html! {
        form #(FORM) .inline.bulk method="get" action=(url(target)) {
            span .quiet { "Selected:" }
            @for action in actions {
                button .danger[*action == Action::Delete] type="submit" name="action" value=(action.word()) { (action.label()) }
            }
        }
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
    format!("{}/bulk", target.list().1)
}
