//! The keys of the bucket for attachments, from the files that settings name.

use super::secret_file;
use super::settings::AttachmentSettings;
use crate::files::BucketKeys;

/// The keys of the bucket for attachments, if they are in files.
pub fn read(settings: &AttachmentSettings) -> anyhow::Result<Option<BucketKeys>> {
    match (&settings.access_key_file, &settings.secret_key_file) {
        (None, None) => Ok(None),
        (Some(access), Some(secret)) => Ok(Some(BucketKeys {
            access: secret_file::read("attachments.access_key_file", access)?,
            secret: secret_file::read("attachments.secret_key_file", secret)?,
        })),
        (Some(_), None) => anyhow::bail!("attachments.secret_key_file: is needed beside access_key_file"),
        (None, Some(_)) => anyhow::bail!("attachments.access_key_file: is needed beside secret_key_file"),
    }
}
