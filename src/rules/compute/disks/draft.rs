//! Parses new and changed disks.

use crate::model::disk::{Disk, DiskLabel, Filesystem, NewDisk};
use crate::model::image::Image;
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason};
use crate::model::upkeep::DiskEncryption;
use crate::rules::deployment::{image_named, read_credentials, refuse_scripts, too_small_for};
use crate::rules::form::Form;
use crate::rules::not_offered::refuse_field;
use crate::rules::request::FromForm;
use crate::rules::ssh_keys::AuthorizedUsers;

/// The valid fields of a new disk.
#[derive(Debug)]
pub struct Draft {
    label: Option<DiskLabel>,
    pub size: Option<i64>,
    filesystem: Option<Filesystem>,
    image: Option<String>,
    pub authorized_users: AuthorizedUsers,
    pub encryption: Option<DiskEncryption>,
}

impl FromForm for Draft {
    fn read(form: &mut Form, policy: &Policy) -> Self {
        let label = form.required("label", DiskLabel::parse);
        let size = read_size(form);
        let image = form.optional("image", |raw| image_named(policy, raw));
        let filesystem = form.optional("filesystem", Filesystem::parse);
        if let Some(image) = &image {
            refuse_mismatch(form, image, size, filesystem);
        }
        let authorized_users = read_credentials(form);
        refuse_scripts(form);
        refuse_field(
            form,
            "read_only",
            "Garth has no read-only disks: leave this field out",
        );
        Self {
            label,
            size,
            filesystem,
            image: image.map(|image| image.id),
            authorized_users,
            encryption: form.optional("disk_encryption", DiskEncryption::parse),
        }
    }
}

impl Draft {
    pub fn finish(&self) -> Option<NewDisk> {
        Some(NewDisk {
            label: self.label.clone()?,
            filesystem: self.filesystem.unwrap_or(Filesystem::Ext4),
            size: self.size?,
            image: self.image.clone(),
        })
    }
}

/// Refuses a disk that cannot hold its image.
fn refuse_mismatch(form: &mut Form, image: &Image, size: Option<i64>, filesystem: Option<Filesystem>) {
    refuse_smaller(form, image, size);
    if filesystem.is_some_and(|filesystem| !filesystem.can_hold_image()) {
        form.refuse("filesystem", Reason::new(Code::ChoiceInvalid, IMAGE_FILESYSTEMS));
    }
}

const IMAGE_FILESYSTEMS: &str = "A disk with an image must be one of ext3, ext4, raw";

/// Refuses a change of the file system that does not match the content of the disk.
pub fn refuse_other_content(form: &mut Form, disk: &Disk, filesystem: Option<Filesystem>) {
    let Some(filesystem) = filesystem.filter(|new| *new != disk.filesystem) else {
        return;
    };
    let text = if disk.image.is_some() && !filesystem.can_hold_image() {
        IMAGE_FILESYSTEMS
    } else if disk.filesystem == Filesystem::Swap {
        "A swap disk must be swap; delete it and create another disk instead"
    } else {
        return;
    };
    form.refuse("filesystem", Reason::new(Code::DiskContent, text));
}

/// Refuses a size that is smaller than the image of the disk.
pub fn refuse_smaller(form: &mut Form, image: &Image, size: Option<i64>) {
    if size.is_some_and(|size| size < image.size) {
        form.refuse("size", too_small_for(image));
    }
}

/// A change of a disk.
#[derive(Clone, Debug)]
pub struct Change {
    pub label: Option<DiskLabel>,
    pub filesystem: Option<Filesystem>,
}

impl FromForm for Change {
    fn read(form: &mut Form, _: &Policy) -> Self {
        Self {
            label: form.optional("label", DiskLabel::parse),
            filesystem: form.optional("filesystem", Filesystem::parse),
        }
    }
}

/// The size of a disk in megabytes; `None` after an error.
pub fn read_size(form: &mut Form) -> Option<i64> {
    let size = form.required_integer("size")?;
    if size < 1 {
        form.refuse("size", Reason::new(Code::OutOfRange, "Must be at least 1 MB"));
        return None;
    }
    Some(size)
}

/// Reads a password of the root user. Checks only that it is not empty, and does not store it, because there
/// is no real machine.
pub fn read_password(form: &mut Form, name: &'static str) -> Option<()> {
    form.required(name, |raw| match raw {
        "" => Err(vec![Reason::new(Code::TooShort, "Must not be empty")]),
        _ => Ok(()),
    })
}
