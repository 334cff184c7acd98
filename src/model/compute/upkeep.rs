//! The settings of an instance for alerts, backups and maintenance.
//!
//! There is no real machine, so Garth only stores and returns these settings. It sends no alerts, makes no backups and
//! performs no maintenance.

use crate::model::reason::{Code, Reason, Reasons};

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Upkeep {
    pub alerts: Alerts,
    pub schedule: BackupSchedule,
    pub maintenance: MaintenancePolicy,
}

/// Thresholds of alerts, in the order of `ALERTS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alerts(pub [i64; ALERTS.len()]);

/// The names of the thresholds, each with its maximum.
pub const ALERTS: [(&str, i64); 5] = [
    ("cpu", 4800),
    ("network_in", 1_000_000),
    ("network_out", 1_000_000),
    ("transfer_quota", 1_000_000),
    ("io", 1_000_000),
];

impl Default for Alerts {
    fn default() -> Self {
        Self([90, 10, 10, 80, 10_000])
    }
}

/// The preferred time of backups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BackupSchedule {
    pub day: Option<&'static str>,
    pub window: Option<&'static str>,
}

impl BackupSchedule {
    pub const DAYS: [&str; 7] = [
        "Sunday",
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
    ];
    pub const WINDOWS: [&str; 12] = [
        "W0", "W2", "W4", "W6", "W8", "W10", "W12", "W14", "W16", "W18", "W20", "W22",
    ];
}

/// How an instance would be handled when its host needs maintenance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MaintenancePolicy {
    #[default]
    Migrate,
    PowerOffOn,
}

impl MaintenancePolicy {
    pub const ALL: [MaintenancePolicy; 2] = [MaintenancePolicy::Migrate, MaintenancePolicy::PowerOffOn];

    pub const fn word(self) -> &'static str {
        match self {
            MaintenancePolicy::Migrate => "linode/migrate",
            MaintenancePolicy::PowerOffOn => "linode/power_off_on",
        }
    }

    pub fn with_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.word() == word)
    }

    /// Parses a policy. An empty text means no policy: linodego sends an empty text for an unset field.
    pub fn parse(raw: &str) -> Result<Option<Self>, Reasons> {
        let found = Self::with_word(raw);
        if found.is_some() || raw.is_empty() {
            return Ok(found);
        }
        let text =
            "Unsupported maintenance policy slug format. Must be linode/migrate or linode/power_off_on";
        Err(vec![Reason::new(Code::ChoiceInvalid, text)])
    }
}

/// Whether the owner of an instance has chosen to encrypt its disks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DiskEncryption {
    Enabled,
    #[default]
    Disabled,
}

impl DiskEncryption {
    pub const ALL: [DiskEncryption; 2] = [DiskEncryption::Enabled, DiskEncryption::Disabled];

    pub const fn word(self) -> &'static str {
        match self {
            DiskEncryption::Enabled => "enabled",
            DiskEncryption::Disabled => "disabled",
        }
    }

    pub fn with_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.word() == word)
    }

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        Self::with_word(raw).ok_or_else(|| {
            let words = Self::ALL.map(Self::word);
            vec![Reason::not_one_of(Code::ChoiceInvalid, &words)]
        })
    }
}
