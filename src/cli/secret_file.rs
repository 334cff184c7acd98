//! Secrets that settings name by a file, which only its owner can read.

use std::path::Path;

use anyhow::Context;

use super::settings::AttachmentSettings;
use crate::files::BucketKeys;
use crate::model::token::Secret;

/// Reads a secret; the end of its line is not part of it. `setting` names what is wrong.
pub fn read(setting: &str, path: &Path) -> anyhow::Result<Secret> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("{setting}: reading {}", path.display()))?;
    Ok(Secret::new(text.trim_end_matches(['\r', '\n']).to_owned()))
}

/// The keys of the bucket for attachments, if they are in files.
pub fn bucket_keys(settings: &AttachmentSettings) -> anyhow::Result<Option<BucketKeys>> {
    match (&settings.access_key_file, &settings.secret_key_file) {
        (None, None) => Ok(None),
        (Some(access), Some(secret)) => Ok(Some(BucketKeys {
            access: read("attachments.access_key_file", access)?,
            secret: read("attachments.secret_key_file", secret)?,
        })),
        (Some(_), None) => anyhow::bail!("attachments.secret_key_file: is needed beside access_key_file"),
        (None, Some(_)) => anyhow::bail!("attachments.access_key_file: is needed beside secret_key_file"),
    }
}
