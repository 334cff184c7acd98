//! A configuration profile: how an instance is booted, and with which interfaces.

use crate::model::id::{ConfigId, DiskId, InstanceId};
use crate::model::interface::Interface;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    pub id: ConfigId,
    pub instance: InstanceId,
    pub label: ConfigLabel,
    pub settings: Settings,
    pub interfaces: Vec<Interface>,
    pub created: Time,
    pub updated: Time,
}

/// What of a config means something only to the machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    pub comments: String,
    pub kernel: String,
    pub memory_limit: i64,
    pub root_device: String,
    pub run_level: String,
    pub virt_mode: String,
    /// In the order of `HELPERS`.
    pub helpers: [bool; 5],
    /// `sda` to `sdh`.
    pub devices: [Option<DiskId>; 8],
}

pub const HELPERS: [&str; 5] = [
    "updatedb_disabled",
    "distro",
    "modules_dep",
    "network",
    "devtmpfs_automount",
];
pub const DEVICES: [&str; 8] = ["sda", "sdb", "sdc", "sdd", "sde", "sdf", "sdg", "sdh"];

impl Default for Settings {
    fn default() -> Self {
        Self {
            comments: String::new(),
            kernel: "linode/latest-64bit".to_owned(),
            memory_limit: 0,
            root_device: "/dev/sda".to_owned(),
            run_level: "default".to_owned(),
            virt_mode: "paravirt".to_owned(),
            helpers: [true; 5],
            devices: [None; 8],
        }
    }
}

/// 1 to 48 characters without control characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConfigLabel(String);

impl ConfigLabel {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let good = (1..=48).contains(&raw.chars().count()) && !raw.chars().any(char::is_control);
        if good {
            return Ok(Self(raw.to_owned()));
        }
        let text = "Label must be between 1 and 48 characters, without control characters";
        Err(vec![Reason::new(Code::LabelLength, text)])
    }

    /// For a label that was parsed before it was stored.
    pub fn stored(raw: String) -> Self {
        Self(raw)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
