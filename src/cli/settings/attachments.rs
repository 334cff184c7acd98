//! Settings of attached files: where they are stored, how large they can be, and how they are checked.

use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;

use crate::cli::arguments::integer;

/// Upper bound of `attachments.max_bytes`: 1 GiB.
pub const MAX_ATTACHMENT_BYTES: i64 = 1 << 30;

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AttachmentSettings {
    /// Storage for attachments: a folder, or s3://bucket/prefix [default: DATA/attachments]
    #[arg(long = "attachments", env = "GARTH_ATTACHMENTS_URL", value_name = "URL")]
    pub url: Option<String>,

    /// File with the access key of the S3 bucket [default: the key in AWS_ACCESS_KEY_ID]
    #[arg(
        long = "attachments-access-key-file",
        env = "GARTH_ATTACHMENTS_ACCESS_KEY_FILE",
        value_name = "FILE"
    )]
    pub access_key_file: Option<PathBuf>,

    /// File with the secret key of the S3 bucket [default: the key in AWS_SECRET_ACCESS_KEY]
    #[arg(
        long = "attachments-secret-key-file",
        env = "GARTH_ATTACHMENTS_SECRET_KEY_FILE",
        value_name = "FILE"
    )]
    pub secret_key_file: Option<PathBuf>,

    /// Maximum size of an attachment in bytes, up to 1073741824 (1 GiB) [default: 5242880, 5 MiB]
    #[arg(
        long = "attachments-max-bytes",
        env = "GARTH_ATTACHMENTS_MAX_BYTES",
        value_name = "BYTES",
        allow_negative_numbers = true,
        value_parser = integer(1..=MAX_ATTACHMENT_BYTES)
    )]
    pub max_bytes: Option<i64>,

    /// Maximum number of attachments per ticket, up to 10000 [default: 20]
    #[arg(
        long = "attachments-max-per-ticket",
        env = "GARTH_ATTACHMENTS_MAX_PER_TICKET",
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = integer(0..=10_000_i64)
    )]
    pub max_per_ticket: Option<i64>,

    /// Command that scans each upload. {} stands for the file's path. Exit code 0 accepts the file, 1 rejects
    /// it [default: none]
    #[arg(
        long = "attachments-scan-command",
        env = "GARTH_ATTACHMENTS_SCAN_COMMAND",
        value_name = "COMMAND"
    )]
    pub scan_command: Option<String>,

    /// Number of days in which every attachment is compared with its hash once; 0 disables this [default: 30]
    #[arg(
        long = "attachments-scrub-days",
        env = "GARTH_ATTACHMENTS_SCRUB_DAYS",
        value_name = "DAYS",
        allow_negative_numbers = true,
        value_parser = integer(0..=3650_i64)
    )]
    pub scrub_days: Option<i64>,
}

impl AttachmentSettings {
    pub fn or(self, other: Self) -> Self {
        Self {
            url: self.url.or(other.url),
            access_key_file: self.access_key_file.or(other.access_key_file),
            secret_key_file: self.secret_key_file.or(other.secret_key_file),
            max_bytes: self.max_bytes.or(other.max_bytes),
            max_per_ticket: self.max_per_ticket.or(other.max_per_ticket),
            scan_command: self.scan_command.or(other.scan_command),
            scrub_days: self.scrub_days.or(other.scrub_days),
        }
    }
}
