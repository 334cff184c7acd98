//! The keys of the S3 bucket for attachments, read from files.

use super::secret_file;
use super::settings::AttachmentSettings;
use crate::files::BucketKeys;

/// Reads the bucket's keys, if the settings name their files.
pub fn read(settings: &AttachmentSettings) -> anyhow::Result<Option<BucketKeys>> {
    match (&settings.access_key_file, &settings.secret_key_file) {
        (None, None) => Ok(None),
        (Some(access), Some(secret)) => Ok(Some(BucketKeys {
            access: secret_file::read("attachments.access_key_file", access)?,
            secret: secret_file::read("attachments.secret_key_file", secret)?,
        })),
        (Some(_), None) => {
            anyhow::bail!("attachments.secret_key_file: required with attachments.access_key_file")
        }
        (None, Some(_)) => {
            anyhow::bail!("attachments.access_key_file: required with attachments.secret_key_file")
        }
    }
}
