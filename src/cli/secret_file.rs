//! Secrets in files that settings name.

use std::path::Path;

use anyhow::Context;

use crate::model::token::Secret;

/// Reads a secret without its trailing newline. Error messages begin with the name of the setting.
pub fn read(setting: &str, path: &Path) -> anyhow::Result<Secret> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{setting}: cannot read {}", path.display()))?;
    Ok(Secret::new(text.trim_end_matches(['\r', '\n']).to_owned()))
}
