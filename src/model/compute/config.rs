//! A configuration profile: the boot settings and interfaces of an instance.

use crate::model::id::{ConfigId, DiskId, InstanceId};
use crate::model::instance::InstanceLabel;
use crate::model::interface::Interface;
use crate::model::label;
use crate::model::reason::Reasons;
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

/// Settings that only a real machine would use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    pub comments: String,
    pub kernel: String,
    pub memory_limit: i64,
    pub root_device: String,
    pub run_level: String,
    pub virt_mode: String,
    /// Whether each helper is enabled, in the order of `HELPERS`.
    pub helpers: [bool; 5],
    /// The disks on `sda` to `sdh`.
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

/// The root devices that a config can have: a device, or the device that the kernel mounts as its root.
pub const ROOT_DEVICES: [&str; 9] = [
    "/dev/sda",
    "/dev/sdb",
    "/dev/sdc",
    "/dev/sdd",
    "/dev/sde",
    "/dev/sdf",
    "/dev/sdg",
    "/dev/sdh",
    "/dev/root",
];

impl Settings {
    /// The settings of a new config. `network_helper` is a setting of the account.
    pub fn new(network_helper: bool) -> Self {
        let mut settings = Self::default();
        settings.set_network_helper(network_helper);
        settings
    }

    pub fn set_network_helper(&mut self, enabled: bool) {
        for (helper, name) in self.helpers.iter_mut().zip(HELPERS) {
            if name == "network" {
                *helper = enabled;
            }
        }
    }
}

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
        label::parse_short(raw).map(Self)
    }

    /// The label of a config for an image, with as much of the image's name as fits.
    pub fn of_image(image: &str) -> Self {
        Self(label::fit_short("My ", image, " Disk Profile"))
    }

    /// The label of a config for an instance without an image.
    pub fn of_instance(label: &InstanceLabel) -> Self {
        Self(label::fit_short("My ", label.as_str(), " Profile"))
    }

    /// The label from a database row, if it is valid.
    pub fn checked(raw: String) -> Option<Self> {
        label::checked_short(raw).map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_derived_label_fits() {
        assert_eq!(
            ConfigLabel::of_image("Debian 12").as_str(),
            "My Debian 12 Disk Profile"
        );
        let long = "ü".repeat(100);
        for label in [ConfigLabel::of_image(&long), ConfigLabel::of_image("a\u{7}b")] {
            assert_eq!(ConfigLabel::parse(label.as_str()), Ok(label));
        }
        let instance = InstanceLabel::parse(&"a".repeat(64)).unwrap();
        let label = ConfigLabel::of_instance(&instance);
        assert_eq!(label.as_str(), format!("My {} Profile", "a".repeat(37)));
    }

    #[test]
    fn a_long_label_of_an_earlier_build_is_truncated() {
        let of_row = |text: &str| ConfigLabel::checked(text.to_owned());
        assert_eq!(of_row("boot"), ConfigLabel::parse("boot").ok());
        assert_eq!(of_row(&"ü".repeat(60)), ConfigLabel::parse(&"ü".repeat(48)).ok());
        assert_eq!(of_row(""), None);
        assert_eq!(of_row("a\nb"), None);
    }
}
