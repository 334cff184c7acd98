//! The file of `--certificate`.

use std::path::Path;

use anyhow::Context;

/// The text of a PEM file.
pub fn read(path: Option<&Path>) -> anyhow::Result<Option<String>> {
    let read = |path: &Path| {
        std::fs::read_to_string(path)
            .with_context(|| format!("--certificate: cannot read {}", path.display()))
    };
    path.map(read).transpose()
}
