//! The data folder: private to the server's user, and locked by one server at a time.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use rustix::fs::Mode;

/// The permission bits that let the group or others write.
const OTHERS_WRITE: u32 = 0o022;

/// The lock on a data folder, released when it is dropped or the process ends.
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

/// Makes every file and folder that this process creates private to its user.
pub fn set_umask() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Creates the folder if it is missing, and refuses a folder that other users can write to.
pub fn create(folder: &Path) -> anyhow::Result<()> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    created.with_context(|| format!("cannot create the data folder {}", folder.display()))?;
    let metadata = std::fs::metadata(folder).map_err(|error| access_error(folder, error))?;
    let mode = metadata.permissions().mode() & 0o7777;
    ensure!(
        mode & OTHERS_WRITE == 0,
        "other users can write to the data folder {0} (mode {mode:04o}): run chmod 700 {0}",
        folder.display()
    );
    Ok(())
}

/// Locks the folder for a restore. Refuses a folder of another user, because the server could not read the restored
/// files.
pub fn lock_for_restore(folder: &Path) -> anyhow::Result<FolderLock> {
    let lock = lock(folder)?;
    let owner = std::fs::metadata(folder)
        .map_err(|error| access_error(folder, error))?
        .uid();
    refuse_other_owner(folder, owner, rustix::process::geteuid().as_raw())?;
    Ok(lock)
}

fn refuse_other_owner(folder: &Path, owner: u32, user: u32) -> anyhow::Result<()> {
    ensure!(
        owner == user,
        "the data folder {} belongs to the user {owner}: run this command as that user, for example with runuser -u garth --",
        folder.display()
    );
    Ok(())
}

/// What a data folder can contain before a restore: the files of an unfinished restore, and the folder that some file
/// systems create.
const KNOWN_FILES: [&str; 10] = [
    "archive",
    "attachments",
    "garth.db",
    "garth.db-shm",
    "garth.db-wal",
    "lost+found",
    "restoring",
    "serve.lock",
    "serve.url",
    "spool",
];

/// Refuses a folder with files that no restore has written.
pub fn refuse_other_files(folder: &Path) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(folder).map_err(|error| access_error(folder, error))?;
    for entry in entries {
        let name = entry?.file_name();
        ensure!(
            KNOWN_FILES.iter().any(|known| name == *known),
            "the data folder {} is not empty: it has {}. Choose a new folder",
            folder.display(),
            name.to_string_lossy()
        );
    }
    Ok(())
}

/// Creates the folder if it is missing, and locks it against other servers.
pub fn lock(folder: &Path) -> anyhow::Result<FolderLock> {
    create(folder)?;
    // The folder itself is locked as well, because the lock file can be removed and replaced.
    let opened = File::open(folder).map_err(|error| access_error(folder, error))?;
    let is_folder_locked = match opened.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => {
            let owner = std::fs::read_to_string(lock_file(folder)).unwrap_or_default();
            bail!("{}", in_use(folder, owner.trim()));
        }
        // Some network file systems can lock only files.
        Err(TryLockError::Error(cause)) => {
            tracing::warn!(error = %cause, "folder locks not supported, using only the lock file");
            false
        }
    };
    let path = lock_file(folder);
    let mut file = open_lock_file(&path, is_folder_locked)?;
    if file.try_lock().is_err() || !is_file_at(&path, &file) {
        bail!("{}", in_use(folder, &read_owner(&mut file)));
    }
    file.set_len(0)?;
    writeln!(file, "{}", std::process::id())?;
    Ok(FolderLock {
        path,
        _folder: opened,
        _file: file,
    })
}

/// Opens the lock file. A killed server leaves its lock file behind. If that server ran as another user, this
/// process may be unable to open the file, and then replaces it. It does so only if it holds the lock on the
/// folder, because then no other server is running.
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
    opened.with_context(|| format!("cannot open {}", path.display()))
}

/// Whether the path still refers to this open file. A server that stops removes its lock file, and another
/// server may then create a new one.
fn is_file_at(path: &Path, file: &File) -> bool {
    match (std::fs::metadata(path), file.metadata()) {
        (Ok(at_path), Ok(open)) => (at_path.dev(), at_path.ino()) == (open.dev(), open.ino()),
        _ => false,
    }
}

fn read_owner(file: &mut File) -> String {
    let mut owner = String::new();
    let _ = file.read_to_string(&mut owner);
    owner.trim().to_owned()
}

/// The error for a folder that cannot be accessed. If permission is denied, the message names the folder's owner.
pub fn access_error(folder: &Path, error: std::io::Error) -> anyhow::Error {
    let message = format!("cannot access the data folder {}", folder.display());
    match std::fs::metadata(folder) {
        Ok(metadata) if error.kind() == ErrorKind::PermissionDenied => {
            let owner = metadata.uid();
            anyhow!(
                "{message}: {error}: run the command as the folder's owner, for example with sudo -u '#{owner}'"
            )
        }
        _ => anyhow::Error::new(error).context(message),
    }
}

fn in_use(folder: &Path, owner: &str) -> String {
    let owner = match owner {
        "" => String::new(),
        owner => format!(" (process {owner})"),
    };
    format!(
        "the data folder {} is in use by another garth process{owner}: stop it, or choose another folder",
        folder.display()
    )
}

/// The server that has locked the folder, by its process ID. A killed server leaves its ID behind.
pub fn locking_process(folder: &Path) -> Option<u32> {
    std::fs::read_to_string(lock_file(folder))
        .ok()?
        .trim()
        .parse()
        .ok()
}

/// The file whose lock shows that a server is running on this folder.
fn lock_file(folder: &Path) -> PathBuf {
    folder.join("serve.lock")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_folder_of_the_own_user_is_restored() {
        let folder = Path::new("data");
        assert!(refuse_other_owner(folder, 7, 7).is_ok());
        let refused = refuse_other_owner(folder, 7, 8)
            .expect_err("another user")
            .to_string();
        assert!(refused.contains("belongs to the user 7"), "{refused}");
    }
}
