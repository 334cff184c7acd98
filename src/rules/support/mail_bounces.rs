//! Reports on mails that could not be delivered (RFC 3464). They arrive at the signed address of the mail.
//!
//! The report is not trusted beyond its signature: it names the mail, and only the address of that mail is suppressed,
//! not an address in the report.

use super::outgoing_mails;
use super::received_mails::{Receipt, key};
use crate::model::bounce_address;
use crate::model::received_mail::{Automatic, ReceivedMail};
use crate::model::reply_address::MailAddress;
use crate::rules::error::Result;
use crate::store::WriteTx;

/// Records a report. `None` if the recipient is not an address for reports.
pub(super) fn receive(tx: &mut WriteTx, mail: &ReceivedMail, recipient: &str) -> Result<Option<Receipt>> {
    let Some(policy) = tx.policy().mail.clone() else {
        return Ok(None);
    };
    if !is_for_reports(&policy.reply_address, recipient) {
        return Ok(None);
    }
    let Some(id) = bounce_address::verify(&key(tx)?, &policy.reply_address, recipient) else {
        return Ok(Some(Receipt::Dropped("bounce_forged")));
    };
    if mail.automatic != Some(Automatic::Bounce) {
        let reason = mail.automatic.map_or("bounce_other", Automatic::word);
        return Ok(Some(Receipt::Dropped(reason)));
    }
    let Some(bounce) = &mail.bounce else {
        // For example, a report that the delivery is delayed.
        return Ok(Some(Receipt::Dropped("bounce_not_final")));
    };
    let is_known = outgoing_mails::record_bounce(tx, id, &bounce.status, bounce.is_permanent)?;
    Ok(Some(match is_known {
        true => Receipt::Recorded("bounce"),
        false => Receipt::Dropped("bounce_unknown"),
    }))
}

/// Whether an address has the form of an address for reports, with any signature.
fn is_for_reports(address: &MailAddress, recipient: &str) -> bool {
    let extension = address.extension_of(recipient);
    extension.is_some_and(|extension| extension.starts_with("b-") || extension.starts_with("B-"))
}
