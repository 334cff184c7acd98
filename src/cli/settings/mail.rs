//! Settings of the desk's mail.

use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MailSettings {
    /// E-mail address of the desk, such as support@example.com. Users reply to signed addresses below it, such as
    /// support+12-7-0a1b@example.com [default: none; the desk receives no mail]
    #[arg(
        long = "mail-reply-address",
        env = "GARTH_MAIL_REPLY_ADDRESS",
        value_name = "EMAIL"
    )]
    pub reply_address: Option<String>,

    /// Name of the mail server in its Authentication-Results header. Only its verdict on a sender counts
    /// [default: none]
    #[arg(
        long = "mail-authserv-id",
        env = "GARTH_MAIL_AUTHSERV_ID",
        value_name = "NAME"
    )]
    pub authserv_id: Option<String>,

    /// Address for LMTP, such as 127.0.0.1:2424 or unix:/run/garth/lmtp. The mail server delivers messages for the desk
    /// to it. LMTP has no authentication [default: none]
    #[arg(
        long = "mail-lmtp-listen",
        env = "GARTH_MAIL_LMTP_LISTEN",
        value_name = "ADDRESS"
    )]
    pub lmtp_listen: Option<String>,

    /// Whether mail.lmtp_listen can be an address that other machines reach. Each of them can then send messages with
    /// any sender [default: false]
    #[arg(
        long = "mail-lmtp-allow-network",
        env = "GARTH_MAIL_LMTP_ALLOW_NETWORK",
        value_name = "BOOL"
    )]
    pub lmtp_allow_network: Option<bool>,

    /// Mail server that sends mails, such as smtp://user@mx.example.com:587 (with STARTTLS) or
    /// smtps://user@mx.example.com. Needs mail.from and public_url [default: none; no mail is sent]
    #[arg(long = "mail-smtp-url", env = "GARTH_MAIL_SMTP_URL", value_name = "URL")]
    pub smtp_url: Option<String>,

    /// File with the password of the user in mail.smtp_url
    #[arg(
        long = "mail-password-file",
        env = "GARTH_MAIL_PASSWORD_FILE",
        value_name = "FILE"
    )]
    pub password_file: Option<PathBuf>,

    /// Sender address of mails, such as support@example.com [default: none]
    #[arg(long = "mail-from", env = "GARTH_MAIL_FROM", value_name = "EMAIL")]
    pub from: Option<String>,

    /// Word before the number of the ticket in subjects, such as Garth [default: the name of the brand]
    #[arg(
        long = "mail-subject-prefix",
        env = "GARTH_MAIL_SUBJECT_PREFIX",
        value_name = "TEXT"
    )]
    pub subject_prefix: Option<String>,
}

impl MailSettings {
    pub fn or(self, other: Self) -> Self {
        Self {
            reply_address: self.reply_address.or(other.reply_address),
            authserv_id: self.authserv_id.or(other.authserv_id),
            lmtp_listen: self.lmtp_listen.or(other.lmtp_listen),
            lmtp_allow_network: self.lmtp_allow_network.or(other.lmtp_allow_network),
            smtp_url: self.smtp_url.or(other.smtp_url),
            password_file: self.password_file.or(other.password_file),
            from: self.from.or(other.from),
            subject_prefix: self.subject_prefix.or(other.subject_prefix),
        }
    }
}
