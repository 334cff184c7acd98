//! Temporary files without a name, which the system deletes when they are closed, even after a crash.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

use anyhow::Context;

use crate::model::token::hex;
use crate::store::context::RandomSource;

/// Creates an empty file in the system's folder for temporary files (`TMPDIR`).
pub fn file() -> anyhow::Result<File> {
    let name = hex(&RandomSource::System.bytes()[..8]);
    let path = std::env::temp_dir().join(format!("garth-{name}"));
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    let created = options.open(&path).and_then(|file| {
        std::fs::remove_file(&path)?;
        Ok(file)
    });
    created.with_context(|| format!("cannot create the temporary file {}", path.display()))
}
