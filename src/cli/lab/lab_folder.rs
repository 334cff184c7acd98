//! The folder of a lab: its store, the folders of its agents, its logs and the ID of its process.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, geteuid};

/// The file with the ID of the process that created the namespaces. It identifies the folder of a lab.
const PROCESS_FILE: &str = "lab.pid";

const LOCK_FILE: &str = "lab.lock";

/// The file of a lab whose command runs.
const STARTED_FILE: &str = "started";

pub struct LabFolder(PathBuf);

impl LabFolder {
    pub fn new(path: Option<PathBuf>) -> anyhow::Result<Self> {
        let default = || std::env::temp_dir().join(format!("garth-lab-{}", geteuid().as_raw()));
        let path = path.unwrap_or_else(default);
        let path = std::path::absolute(&path).with_context(|| format!("folder {}", path.display()))?;
        // The lab has its own /run.
        ensure!(
            !path.starts_with("/run"),
            "the folder of a lab must not be in /run"
        );
        Ok(Self(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Creates the folder for a lab of this process. Removes that of an earlier lab, which has ended.
    pub fn create(&self) -> anyhow::Result<()> {
        let context = || format!("folder {}", self.0.display());
        self.remove()?;
        match DirBuilder::new().mode(0o700).create(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let entries = fs::read_dir(&self.0).with_context(context)?.count();
                let owner = fs::symlink_metadata(&self.0).with_context(context)?.uid();
                ensure!(
                    entries == 0 && owner == geteuid().as_raw(),
                    "{} is not the folder of a lab: name another with --folder",
                    self.0.display()
                );
            }
            created => created.with_context(context)?,
        }
        self.set_process(std::process::id())
    }

    /// Stores the ID of the process that creates the namespaces.
    pub fn set_process(&self, process: u32) -> anyhow::Result<()> {
        let file = self.join(PROCESS_FILE);
        fs::write(&file, process.to_string()).with_context(|| file.display().to_string())
    }

    /// Notes that the command of the user runs.
    pub fn set_started(&self) -> anyhow::Result<()> {
        fs::write(self.join(STARTED_FILE), "").context(STARTED_FILE)
    }

    pub fn has_started(&self) -> bool {
        self.join(STARTED_FILE).exists()
    }

    /// The lock that the process outside of the lab holds while the lab shall run. It ends with the file.
    pub fn lock(&self) -> anyhow::Result<File> {
        let file = self.open_lock()?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).context(LOCK_FILE)?;
        Ok(file)
    }

    pub fn open_lock(&self) -> anyhow::Result<File> {
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false);
        options.open(self.join(LOCK_FILE)).context(LOCK_FILE)
    }

    /// The process that created the namespaces of the lab, if it is running.
    pub fn running(&self) -> Option<Pid> {
        let number = fs::read_to_string(self.join(PROCESS_FILE)).ok()?;
        let number: i32 = number.trim().parse().ok()?;
        let arguments = fs::read(format!("/proc/{number}/cmdline")).ok()?;
        is_lab(&arguments, &self.0)
            .then(|| Pid::from_raw(number))
            .flatten()
    }

    /// Removes the folder, if it is that of a lab.
    pub fn remove(&self) -> anyhow::Result<()> {
        if !self.join(PROCESS_FILE).is_file() {
            return Ok(());
        }
        fs::remove_dir_all(&self.0).with_context(|| format!("folder {}", self.0.display()))
    }
}

/// Whether these are the arguments of a lab in this folder, and not of a later process with the same ID.
fn is_lab(arguments: &[u8], folder: &Path) -> bool {
    let arguments: Vec<_> = arguments.split(|byte| *byte == 0).collect();
    let has = |words: [&[u8]; 4]| arguments.windows(4).any(|window| window == words);
    has([
        b"lab",
        b"inside",
        b"--folder",
        folder.as_os_str().as_encoded_bytes(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_with_the_same_folder_is_the_lab() {
        let arguments = b"unshare\0--net\0garth\0lab\0inside\0--folder\0lab-a\0--hosts\x003\0";
        assert!(is_lab(arguments, Path::new("lab-a")));
        assert!(!is_lab(arguments, Path::new("lab-b")));
        assert!(!is_lab(b"sleep\x001000\0", Path::new("lab-a")));
    }

    #[test]
    fn a_folder_with_other_files_is_not_used_and_not_removed() {
        let path = std::env::temp_dir().join(format!("garth-lab-folder-{}", std::process::id()));
        fs::create_dir_all(path.join("important")).unwrap();
        let folder = LabFolder::new(Some(path.clone())).unwrap();
        assert!(folder.create().is_err());
        folder.remove().unwrap();
        assert!(path.join("important").exists());
        fs::remove_dir_all(path).unwrap();
    }
}
