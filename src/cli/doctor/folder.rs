//! Whether the user of the server can use or create a folder.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Access, access};

/// What prevents the use of a folder.
pub enum FolderProblem {
    /// The folder does not exist. The server creates it.
    Missing,
    /// The folder does not exist, and this user cannot create it.
    CannotCreate,
    NotFolder,
    /// This user cannot read and write the folder. If the owner's number is known, it is in the variant.
    Denied {
        owner: Option<u32>,
    },
    Unreadable(std::io::Error),
}

impl FolderProblem {
    pub fn find(folder: &Path) -> Option<Self> {
        let all = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
        match std::fs::metadata(folder) {
            Ok(metadata) if !metadata.is_dir() => Some(Self::NotFolder),
            Ok(metadata) => access(folder, all).is_err().then_some(Self::Denied {
                owner: Some(metadata.uid()),
            }),
            Err(cause) => Some(match cause.kind() {
                ErrorKind::NotFound if can_create(folder) => Self::Missing,
                ErrorKind::NotFound => Self::CannotCreate,
                ErrorKind::NotADirectory => Self::NotFolder,
                ErrorKind::PermissionDenied => Self::Denied { owner: None },
                _ => Self::Unreadable(cause),
            }),
        }
    }

    pub fn describe(&self, folder: &Path) -> String {
        let folder = folder.display();
        match self {
            Self::Missing => format!("{folder} does not exist"),
            Self::CannotCreate => format!("{folder} does not exist, and this user cannot create it"),
            Self::NotFolder => format!("{folder} is not a folder"),
            Self::Denied { .. } => format!("this user cannot read and write {folder}"),
            Self::Unreadable(cause) => format!("cannot access {folder}: {cause}"),
        }
    }

    /// The fix, if this user does not have the permissions that the server needs.
    pub fn permissions_fix(&self, folder: &Path) -> Option<String> {
        let folder = folder.display();
        match self {
            Self::CannotCreate => Some(format!(
                "create the folder for the user of the server: install -d -m 700 -o USER {folder}"
            )),
            Self::Denied { owner: Some(owner) } => Some(format!(
                "run garth as the owner of the folder, for example with sudo -u '#{owner}', or run chown -R USER {folder}"
            )),
            Self::Denied { owner: None } => Some(
                "run garth as the user of the server, or let this user open the parent folders".to_owned(),
            ),
            _ => None,
        }
    }
}

/// Whether this user can create the folder in its nearest parent that exists.
fn can_create(folder: &Path) -> bool {
    let parent = folder.ancestors().skip(1).find(|parent| parent.exists());
    // A relative path has an empty parent, which is the current folder.
    let parent = parent.unwrap_or(Path::new("."));
    parent.is_dir() && access(parent, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}
