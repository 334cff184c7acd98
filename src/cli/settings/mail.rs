//! Settings of the desk's mail.

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
}

impl MailSettings {
    pub fn or(self, other: Self) -> Self {
        Self {
            reply_address: self.reply_address.or(other.reply_address),
            authserv_id: self.authserv_id.or(other.authserv_id),
            lmtp_listen: self.lmtp_listen.or(other.lmtp_listen),
            lmtp_allow_network: self.lmtp_allow_network.or(other.lmtp_allow_network),
        }
    }
}
