//! Secrets that settings name by a file, which only its owner can read.

use std::path::Path;

use anyhow::Context;

use crate::model::token::Secret;

/// Reads a secret; the end of its line is not part of it. `setting` names what is wrong.
pub fn read(setting: &str, path: &Path) -> anyhow::Result<Secret> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("{setting}: reading {}", path.display()))?;
    Ok(Secret::new(text.trim_end_matches(['\r', '\n']).to_owned()))
}
