//! A disk of an instance.
//!
//! There is no real machine, so a disk has no content. It has a size, which must fit the plan of the instance, and
//! configs refer to it (decision 0013).

use crate::model::id::{DiskId, InstanceId};
use crate::model::label;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::time::Time;
use crate::model::upkeep::DiskEncryption;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Disk {
    pub id: DiskId,
    pub instance: InstanceId,
    pub label: DiskLabel,
    pub status: DiskStatus,
    pub filesystem: Filesystem,
    /// In megabytes.
    pub size: i64,
    /// The ID of the image that was deployed to the disk, or to the disk that was cloned. Builds before
    /// migration 17 did not store it.
    pub image: Option<String>,
    /// Always equal to the disk encryption of the instance.
    pub encryption: DiskEncryption,
    pub created: Time,
    pub updated: Time,
}

#[derive(Clone, Debug)]
pub struct NewDisk {
    pub label: DiskLabel,
    pub filesystem: Filesystem,
    /// In megabytes.
    pub size: i64,
    /// The ID of the image to deploy.
    pub image: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiskStatus {
    Ready,
    /// Work on the disk, or the creation of its instance, is in progress.
    NotReady,
}

impl DiskStatus {
    pub const ALL: [DiskStatus; 2] = [DiskStatus::Ready, DiskStatus::NotReady];

    pub const fn word(self) -> &'static str {
        match self {
            DiskStatus::Ready => "ready",
            DiskStatus::NotReady => "not ready",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filesystem {
    Raw,
    Swap,
    Ext3,
    Ext4,
    Initrd,
}

impl Filesystem {
    pub const ALL: [Filesystem; 5] = [
        Filesystem::Raw,
        Filesystem::Swap,
        Filesystem::Ext3,
        Filesystem::Ext4,
        Filesystem::Initrd,
    ];

    pub const fn can_hold_image(self) -> bool {
        !matches!(self, Filesystem::Swap | Filesystem::Initrd)
    }

    pub const fn word(self) -> &'static str {
        match self {
            Filesystem::Raw => "raw",
            Filesystem::Swap => "swap",
            Filesystem::Ext3 => "ext3",
            Filesystem::Ext4 => "ext4",
            Filesystem::Initrd => "initrd",
        }
    }

    pub fn with_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|filesystem| filesystem.word() == word)
    }

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        Self::with_word(raw).ok_or_else(|| {
            let words = Self::ALL.map(Self::word);
            vec![Reason::not_one_of(Code::ChoiceInvalid, &words)]
        })
    }
}

/// 1 to 48 characters without control characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DiskLabel(String);

impl DiskLabel {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        label::parse_short(raw).map(Self)
    }

    /// The label of a disk with a deployed image, with as much of the image's name as fits.
    pub fn of_image(image: &str) -> Self {
        Self(label::fit_short("", image, " Disk"))
    }

    /// The label of a swap disk that is created with an instance.
    pub fn of_swap(megabytes: i64) -> Self {
        Self(format!("{megabytes} MB Swap Image"))
    }

    pub fn of_copy(label: &DiskLabel) -> Self {
        Self(label::fit_short("Copy of ", &label.0, ""))
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
        assert_eq!(DiskLabel::of_image("Debian 12").as_str(), "Debian 12 Disk");
        assert_eq!(DiskLabel::of_swap(512).as_str(), "512 MB Swap Image");
        let long = DiskLabel::of_image(&"ü".repeat(100));
        assert_eq!(DiskLabel::parse(long.as_str()), Ok(long.clone()));
        let copy = DiskLabel::of_copy(&long);
        assert_eq!(copy.as_str(), format!("Copy of {}", "ü".repeat(40)));
    }

    #[test]
    fn a_long_label_of_an_earlier_build_is_truncated() {
        let of_row = |text: &str| DiskLabel::checked(text.to_owned());
        assert_eq!(of_row(&"ü".repeat(60)), DiskLabel::parse(&"ü".repeat(48)).ok());
        assert_eq!(of_row(""), None);
    }
}
