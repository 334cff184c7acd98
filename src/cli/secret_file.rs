//! Secrets in files that settings name.

use std::path::Path;

use anyhow::Context;

use crate::model::token::Secret;

/// Reads a secret without its trailing newline. Error messages begin with the name of the setting.
pub fn read(setting: &str, path: &Path) -> anyhow::Result<Secret> {
    let text = std::fs::read_to_string(path).with_context(|| {
        let path = path.display();
        format!("{setting}: cannot read {path}, which must be readable for the user that runs garth")
    })?;
    Ok(Secret::new(text.trim_end_matches(['\r', '\n']).to_owned()))
}
