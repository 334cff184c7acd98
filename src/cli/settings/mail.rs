//! Settings of the desk's mail.

use clap::Args;
use serde::Deserialize;

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MailSettings {
    /// E-mail address of the desk, such as support@example.com. Users reply to signed addresses below it, such as
    /// support+12-7-0a1b@example.com [default: none; garth mail receive is disabled]
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
}

impl MailSettings {
    pub fn or(self, other: Self) -> Self {
        Self {
            reply_address: self.reply_address.or(other.reply_address),
            authserv_id: self.authserv_id.or(other.authserv_id),
        }
    }
}
