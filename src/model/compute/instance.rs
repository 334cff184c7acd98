//! A compute instance.
//!
//! There is no real machine. An instance has a state, configs and addresses, because the rules
//! for attaching, detaching and deleting depend on them (decision 0013).

use crate::model::id::{AccountId, ConfigId, InstanceId};
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::time::Time;
use crate::model::upkeep::{DiskEncryption, Upkeep};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instance {
    pub id: InstanceId,
    pub account: AccountId,
    pub label: InstanceLabel,
    pub group: String,
    pub region: String,
    pub plan: String,
    pub image: Option<String>,
    pub status: Status,
    /// The config that a running instance uses.
    pub running: Option<ConfigId>,
    /// The config of the last boot.
    pub last_booted: Option<ConfigId>,
    pub tags: Vec<String>,
    pub watchdog: bool,
    pub upkeep: Upkeep,
    pub disk_encryption: DiskEncryption,
    pub has_user_data: bool,
    pub host: String,
    /// Its public addresses.
    pub ipv4: Vec<u32>,
    /// Its address in the private network.
    pub private_ipv4: Vec<u32>,
    pub created: Time,
    pub updated: Time,
}

impl Instance {
    /// The public addresses, then the private address.
    pub fn addresses(&self) -> impl Iterator<Item = u32> {
        self.ipv4.iter().chain(&self.private_ipv4).copied()
    }

    /// Whether the instance runs with a config, or is about to.
    pub fn uses(&self, config: ConfigId) -> bool {
        let boots = matches!(
            self.status,
            Status::Provisioning | Status::Booting | Status::Rebooting
        );
        self.running == Some(config) || (boots && self.last_booted == Some(config))
    }

    /// Whether a change of the status is in progress, such as a boot.
    pub fn is_busy(&self) -> bool {
        !matches!(self.status, Status::Running | Status::Offline)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    Provisioning,
    Booting,
    Rebooting,
    ShuttingDown,
    Running,
    Offline,
}

impl Status {
    pub const ALL: [Status; 6] = [
        Status::Provisioning,
        Status::Booting,
        Status::Rebooting,
        Status::ShuttingDown,
        Status::Running,
        Status::Offline,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Status::Provisioning => "provisioning",
            Status::Booting => "booting",
            Status::Rebooting => "rebooting",
            Status::ShuttingDown => "shutting_down",
            Status::Running => "running",
            Status::Offline => "offline",
        }
    }
}

/// 3 to 64 ASCII letters, digits, dashes, underscores and periods; no two punctuation marks in a row; a
/// letter or digit at both ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InstanceLabel(String);

impl InstanceLabel {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let is_mark = |c: char| matches!(c, '-' | '_' | '.');
        let mut reasons = Reasons::new();
        if !(3..=64).contains(&raw.chars().count()) {
            let text = "Label must be between 3 and 64 characters";
            reasons.push(Reason::new(Code::LabelLength, text));
        }
        if !raw.chars().all(|c| c.is_ascii_alphanumeric() || is_mark(c))
            || raw.starts_with(is_mark)
            || raw.ends_with(is_mark)
        {
            let text = "Must only use ASCII letters, numbers, underscores, dashes and periods, \
                        and begin and end with a letter or number";
            reasons.push(Reason::new(Code::LabelCharacters, text));
        }
        if ["--", "__", ".."].iter().any(|two| raw.contains(two)) {
            let text = "Label must not contain two dashes, underscores or periods in a row";
            reasons.push(Reason::new(Code::LabelDashes, text));
        }
        if reasons.is_empty() {
            Ok(Self(raw.to_owned()))
        } else {
            Err(reasons)
        }
    }

    /// Default labels for an instance, in order of preference.
    pub fn default_labels(id: InstanceId) -> impl Iterator<Item = Self> {
        let more = (1..).map(move |number: u64| Self(format!("linode{id}-{number}")));
        std::iter::once(Self(format!("linode{id}"))).chain(more)
    }

    /// The label from a database row, if it is valid.
    pub fn checked(raw: String) -> Option<Self> {
        Self::parse(&raw).ok()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[derive(Clone, Debug)]
pub struct NewInstance {
    pub label: Option<InstanceLabel>,
    pub group: String,
    pub region: String,
    pub plan: String,
    pub image: Option<String>,
    pub tags: Vec<String>,
    pub watchdog: bool,
    pub upkeep: Upkeep,
    pub disk_encryption: DiskEncryption,
    pub has_user_data: bool,
}
