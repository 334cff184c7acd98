//! Grants of restricted users.

use crate::model::reason::{Code, Reason, Reasons};

/// The level of a grant on one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    ReadOnly,
    ReadWrite,
}

impl Permission {
    pub const fn word(self) -> &'static str {
        match self {
            Permission::ReadOnly => "read_only",
            Permission::ReadWrite => "read_write",
        }
    }

    /// The permission of a user on the account itself: its settings, OAuth clients and tickets.
    pub const fn on_account(restricted: bool, granted: Option<Self>) -> Option<Self> {
        match restricted {
            true => granted,
            false => Some(Permission::ReadWrite),
        }
    }

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        match raw {
            "read_only" => Ok(Permission::ReadOnly),
            "read_write" => Ok(Permission::ReadWrite),
            _ => {
                let text = "Must be read_only or read_write";
                Err(vec![Reason::new(Code::GrantInvalid, text)])
            }
        }
    }
}

/// The kinds of objects that grants apply to in Garth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GrantKind {
    Linode,
    Vpc,
}

impl GrantKind {
    pub const fn word(self) -> &'static str {
        match self {
            GrantKind::Linode => "linode",
            GrantKind::Vpc => "vpc",
        }
    }

    pub fn with_word(word: &str) -> Option<Self> {
        [GrantKind::Linode, GrantKind::Vpc]
            .into_iter()
            .find(|kind| kind.word() == word)
    }
}

/// Grants on the account as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Global {
    AddDatabases,
    AddDomains,
    AddFirewalls,
    AddImages,
    AddKubernetes,
    AddLinodes,
    AddLkes,
    AddLongview,
    AddNodebalancers,
    AddStackscripts,
    AddVolumes,
    AddVpcs,
    CancelAccount,
    LongviewSubscription,
}

impl Global {
    pub const ALL: [Global; 14] = [
        Global::AddDatabases,
        Global::AddDomains,
        Global::AddFirewalls,
        Global::AddImages,
        Global::AddKubernetes,
        Global::AddLinodes,
        Global::AddLkes,
        Global::AddLongview,
        Global::AddNodebalancers,
        Global::AddStackscripts,
        Global::AddVolumes,
        Global::AddVpcs,
        Global::CancelAccount,
        Global::LongviewSubscription,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Global::AddDatabases => "add_databases",
            Global::AddDomains => "add_domains",
            Global::AddFirewalls => "add_firewalls",
            Global::AddImages => "add_images",
            Global::AddKubernetes => "add_kubernetes",
            Global::AddLinodes => "add_linodes",
            Global::AddLkes => "add_lkes",
            Global::AddLongview => "add_longview",
            Global::AddNodebalancers => "add_nodebalancers",
            Global::AddStackscripts => "add_stackscripts",
            Global::AddVolumes => "add_volumes",
            Global::AddVpcs => "add_vpcs",
            Global::CancelAccount => "cancel_account",
            Global::LongviewSubscription => "longview_subscription",
        }
    }

    /// Parses a grant. The description of the interface also spells `add_vpcs` as `add_vpc`.
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let raw = if raw == "add_vpc" { "add_vpcs" } else { raw };
        let found = Self::ALL.into_iter().find(|global| global.word() == raw);
        found.ok_or_else(|| {
            let words = Self::ALL.map(Global::word);
            vec![Reason::not_one_of(Code::GrantInvalid, &words)]
        })
    }
}

/// An object of an account, and the permission of a user on this object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntityGrant {
    pub id: i64,
    pub label: String,
    pub permission: Option<Permission>,
}

/// An object of any kind, and the permission of a user on this object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectGrant {
    pub kind: GrantKind,
    pub grant: EntityGrant,
}
