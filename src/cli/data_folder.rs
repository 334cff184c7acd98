//! The data folder: private to the user that runs the server, and used by one server at a time.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use rustix::fs::Mode;

use super::place::lock_file;

/// The permission bits with which a group or others can write.
const OTHERS_WRITE: u32 = 0o022;

/// Keeps a data folder for this process; ends with it.
#[derive(Debug)]
pub struct FolderLock {
    path: PathBuf,
    _folder: File,
    _file: File,
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // Both locks are still held, so no other server has a lock on this file.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Makes every file and folder of this process private to its user.
pub fn set_umask() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Makes the folder if it is missing, and refuses one that others can write.
pub fn make(folder: &Path) -> anyhow::Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("making the data folder {}", folder.display()))?;
    let about = std::fs::metadata(folder)
        .with_context(|| format!("reading the mode of the data folder {}", folder.display()))?;
    let mode = about.permissions().mode() & 0o7777;
    ensure!(
        mode & OTHERS_WRITE == 0,
        "other users can write to the data folder {0} (mode {mode:04o}): run chmod 700 {0}",
        folder.display()
    );
    Ok(())
}

/// Makes sure that no other server runs on this folder; the lock ends with the process.
pub fn lock(folder: &Path) -> anyhow::Result<FolderLock> {
    make(folder)?;
    // The folder itself is locked too: the lock file can be removed, and another one locked in its place.
    let opened = File::open(folder).with_context(|| format!("opening {}", folder.display()))?;
    let is_locked = match opened.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => {
            let owner = std::fs::read_to_string(lock_file(folder)).unwrap_or_default();
            bail!("{}", in_use(folder, owner.trim()));
        }
        // Some network file systems lock files only.
        Err(TryLockError::Error(cause)) => {
            tracing::warn!(%cause, "data folder cannot be locked");
            false
        }
    };
    let path = lock_file(folder);
    let mut file = open_lock_file(&path, is_locked)?;
    if file.try_lock().is_err() || !is_file_at(&path, &file) {
        bail!("{}", in_use(folder, &owner_in(&mut file)));
    }
    file.set_len(0)?;
    writeln!(file, "{}", std::process::id())?;
    Ok(FolderLock {
        path,
        _folder: opened,
        _file: file,
    })
}

/// Opens the lock file. One that cannot be opened was left behind by a server of another user that was killed; it is
/// replaced if the lock on the folder shows that no server runs.
fn open_lock_file(path: &Path, is_folder_locked: bool) -> anyhow::Result<File> {
    let open = || {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
    };
    let opened = match open() {
        Err(_) if is_folder_locked && std::fs::remove_file(path).is_ok() => open(),
        opened => opened,
    };
    opened.with_context(|| format!("opening {}", path.display()))
}

/// Whether an open file is still the one at its path: a server that stops removes its lock file.
fn is_file_at(path: &Path, file: &File) -> bool {
    match (std::fs::metadata(path), file.metadata()) {
        (Ok(there), Ok(here)) => (there.dev(), there.ino()) == (here.dev(), here.ino()),
        _ => false,
    }
}

fn owner_in(file: &mut File) -> String {
    let mut owner = String::new();
    let _ = file.read_to_string(&mut owner);
    owner.trim().to_owned()
}

fn in_use(folder: &Path, owner: &str) -> String {
    let owner = match owner {
        "" => String::new(),
        owner => format!(" (process {owner})"),
    };
    format!(
        "another garth serve{owner} is already running on {}: stop it, or choose another folder with --data",
        folder.display()
    )
}
