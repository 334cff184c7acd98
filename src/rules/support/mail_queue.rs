//! Adds mails to the queue, each with the job that sends it.

use crate::model::id::{OutgoingMailId, TicketId};
use crate::model::job::JobKind;
use crate::model::outgoing_mail::MailKind;
use crate::model::time::Time;
use crate::model::user::User;
use crate::rules::error::Result;
use crate::store::outgoing_mails::NewMail;
use crate::store::{self, WriteTx};

/// Queues a mail, due at `due`. `None` if Garth sends no mail.
pub(super) fn add(
    tx: &mut WriteTx,
    kind: MailKind,
    ticket: Option<TicketId>,
    user: &User,
    due: Time,
) -> Result<Option<OutgoingMailId>> {
    let Some(policy) = tx.policy().outgoing_mail.as_ref() else {
        return Ok(None);
    };
    let message_id = policy.message_id(&tx.random());
    let new = NewMail {
        kind,
        ticket,
        recipient: user.id,
        account: user.account.filter(|_| kind == MailKind::Invitation),
        address: &user.email,
        message_id: &message_id,
    };
    let id = store::outgoing_mails::insert(tx, &new)?;
    store::jobs::schedule(tx, JobKind::MailSend, &id.to_string(), "", due)?;
    Ok(Some(id))
}
