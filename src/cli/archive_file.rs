//! The file or the pipe that an archive is written to or read from.

use std::fs::{File, OpenOptions};
use std::io::{IsTerminal, Seek, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Args;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::backup::create::Destination;
use crate::backup::temporary;
use crate::model::token::hex;
use crate::store::context::RandomSource;

/// The name of standard input and standard output.
pub const PIPE: &str = "-";

/// The archive of a backup or a restore.
#[derive(Args)]
pub struct ArchiveArgs {
    /// Archive, or - for a pipe: standard output of a backup, standard input of a restore. A restore also accepts the
    /// folder or s3:// URL of a continuous archive
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Earlier archive with attachments that an incremental archive only names
    #[arg(long, value_name = "FILE")]
    pub base: Option<PathBuf>,
}

/// The destination of a backup.
pub enum ArchiveOutput {
    File(NewFile),
    /// Standard output. A slow reader must not delay the snapshot, so the tables are written to a temporary file first.
    Pipe {
        out: File,
        held: Option<File>,
    },
}

/// A file with a temporary name. It is deleted on drop, unless it was given its final name.
pub struct NewFile {
    file: File,
    temporary: PathBuf,
    target: PathBuf,
    overwrite: bool,
}

/// Deletes the temporary file of a backup that does not end.
pub struct Discard(Option<PathBuf>);

impl Discard {
    pub fn run(&self) {
        if let Some(temporary) = &self.0 {
            let _ = std::fs::remove_file(temporary);
        }
    }
}

impl ArchiveOutput {
    pub fn open(target: &Path, overwrite: bool) -> anyhow::Result<Self> {
        if target.as_os_str() != PIPE {
            return NewFile::create(target, overwrite).map(ArchiveOutput::File);
        }
        let out = std::io::stdout();
        ensure!(
            !out.is_terminal(),
            "an archive cannot be written to a terminal: specify a file, or redirect the output"
        );
        Ok(ArchiveOutput::Pipe {
            out: File::from(out.as_fd().try_clone_to_owned()?),
            held: Some(temporary::file()?),
        })
    }

    /// What to delete if the process must end before the archive is complete.
    pub fn discard(&self) -> Discard {
        Discard(match self {
            ArchiveOutput::File(new) => Some(new.temporary.clone()),
            ArchiveOutput::Pipe { .. } => None,
        })
    }

    pub fn is_pipe(&self) -> bool {
        matches!(self, ArchiveOutput::Pipe { .. })
    }

    /// Makes the archive durable, and gives a file its name.
    pub fn commit(self) -> anyhow::Result<()> {
        match self {
            ArchiveOutput::File(file) => file.commit(),
            ArchiveOutput::Pipe { .. } => Ok(()),
        }
    }
}

impl Write for ArchiveOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            ArchiveOutput::File(new) => new.file.write(bytes),
            ArchiveOutput::Pipe { held: Some(held), .. } => held.write(bytes),
            ArchiveOutput::Pipe { out, held: None } => out.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Destination for ArchiveOutput {
    fn end_snapshot(&mut self) -> std::io::Result<()> {
        if let ArchiveOutput::Pipe { out, held } = self
            && let Some(mut held) = held.take()
        {
            held.rewind()?;
            std::io::copy(&mut held, out)?;
        }
        Ok(())
    }
}

impl NewFile {
    fn create(target: &Path, overwrite: bool) -> anyhow::Result<Self> {
        let name = target
            .file_name()
            .with_context(|| format!("{} is not a file", target.display()))?;
        ensure!(
            !target.is_dir(),
            "{} is a folder: specify a file",
            target.display()
        );
        if let Ok(existing) = target.symlink_metadata() {
            ensure!(
                existing.is_file(),
                "{} is not a regular file: choose another name",
                target.display()
            );
            ensure!(overwrite, already_exists(target));
        }
        let prefix = format!(".{}.partial-", name.to_string_lossy());
        let folder = match target.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        delete_abandoned(folder, &prefix);
        let random = hex(&RandomSource::System.bytes()[..8]);
        let temporary = folder.join(format!("{prefix}{random}"));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let file = options
            .open(&temporary)
            .with_context(|| format!("cannot create a file in {}", folder.display()))?;
        // The lock shows other backups that the file is in use. Without locks, abandoned files remain.
        let _ = file.try_lock();
        Ok(Self {
            file,
            temporary,
            target: target.to_owned(),
            overwrite,
        })
    }

    fn commit(self) -> anyhow::Result<()> {
        self.file.sync_all().context("cannot write the archive")?;
        self.rename()
            .with_context(|| format!("cannot create {}", self.target.display()))?;
        let folder = self.target.parent().filter(|parent| *parent != Path::new(""));
        let folder = File::open(folder.unwrap_or(Path::new(".")))?;
        folder.sync_all().context("cannot write the archive")
    }

    fn rename(&self) -> anyhow::Result<()> {
        if !self.overwrite {
            match renameat_with(CWD, &self.temporary, CWD, &self.target, RenameFlags::NOREPLACE) {
                Ok(()) => return Ok(()),
                Err(Errno::EXIST) => bail!(already_exists(&self.target)),
                // The file system does not support the flag.
                Err(Errno::INVAL | Errno::NOSYS) if !self.target.exists() => {}
                Err(cause) => return Err(cause.into()),
            }
        }
        Ok(std::fs::rename(&self.temporary, &self.target)?)
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.temporary);
    }
}

fn already_exists(target: &Path) -> String {
    format!(
        "{} already exists: choose another name, or overwrite it with --force",
        target.display()
    )
}

/// Refuses to write the archive over its base, or into the folder of the store.
pub fn refuse_own_files(target: &Path, base: Option<&Path>, folder: Option<&Path>) -> anyhow::Result<()> {
    let identity = |path: &Path| path.metadata().map(|file| (file.dev(), file.ino())).ok();
    if let (Some(base), Some(existing)) = (base, identity(target)) {
        ensure!(
            identity(base) != Some(existing),
            "{} is the base of the archive: choose another name",
            target.display()
        );
    }
    let parent = target.parent().filter(|parent| *parent != Path::new(""));
    let parent = parent.unwrap_or(Path::new(".")).canonicalize();
    if let (Ok(parent), Some(Ok(folder))) = (parent, folder.map(Path::canonicalize)) {
        ensure!(
            !parent.starts_with(&folder),
            "{} is in the data folder: choose a file elsewhere",
            target.display()
        );
    }
    Ok(())
}

/// Deletes the files of backups that were killed: those of this user with the prefix that no process has locked.
fn delete_abandoned(folder: &Path, prefix: &str) {
    let own = rustix::process::geteuid().as_raw();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_own = entry
            .metadata()
            .is_ok_and(|file| file.is_file() && file.uid() == own);
        if !is_own || !entry.file_name().to_string_lossy().starts_with(prefix) {
            continue;
        }
        let is_abandoned = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if is_abandoned {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Opens an archive. Standard input is copied to a temporary file, because an archive is read twice.
pub fn open_input(source: &Path) -> anyhow::Result<File> {
    if source.as_os_str() != PIPE {
        return File::open(source).with_context(|| format!("cannot open {}", source.display()));
    }
    let mut input = std::io::stdin();
    ensure!(
        !input.is_terminal(),
        "an archive cannot be read from a terminal: specify a file, or redirect the input"
    );
    let mut copy = temporary::file()?;
    std::io::copy(&mut input, &mut copy).context("cannot copy standard input to a temporary file")?;
    Ok(copy)
}
