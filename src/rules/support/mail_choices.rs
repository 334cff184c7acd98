//! Which mails users get: their choices, and the links in mails with which they stop them.

use super::mail_key;
use crate::model::id::UserId;
use crate::model::outgoing_mail::StaffMailChoice;
use crate::model::policy::OutgoingMailPolicy;
use crate::model::reply_address::ReplyKey;
use crate::model::user::User;
use crate::rules::agent::Agent;
use crate::rules::error::{Error, Result};
use crate::store::{self, ReadTx, WriteTx};

const PURPOSE: &str = "unsubscribe";
const PATH: &str = "/unsubscribe";

/// Whether a user gets any mails about tickets.
pub(super) fn wants_mail(tx: &mut ReadTx, user: &User) -> Result<bool> {
    match user.is_staff() {
        true => Ok(store::staff_mail_choices::find(tx, user.id)? != StaffMailChoice::NONE),
        false => Ok(user.email_notifications),
    }
}

/// The choice of a member of staff.
pub fn view(tx: &mut ReadTx, agent: &Agent) -> Result<StaffMailChoice> {
    Ok(store::staff_mail_choices::find(tx, agent.user)?)
}

pub fn update(tx: &mut WriteTx, agent: &Agent, choice: StaffMailChoice) -> Result<()> {
    Ok(store::staff_mail_choices::save(tx, agent.user, choice)?)
}

/// The signed link in mails to a user.
pub(super) fn link(key: &ReplyKey, policy: &OutgoingMailPolicy, user: UserId) -> String {
    let signature = key.signature(PURPOSE, &user.to_string());
    format!("{}{PATH}?user={user}&signature={signature}", policy.public_url)
}

/// Stops all mails about tickets to the user of a signed link, or starts them again. The link needs no log-in, and the
/// response does not depend on the user.
pub fn set_by_link(tx: &mut WriteTx, user: &str, signature: &str, wants_mail: bool) -> Result<()> {
    let key = mail_key::load(tx)?;
    let id = match user.parse() {
        Ok(id) if key.is_signature(PURPOSE, user, signature) => UserId(id),
        _ => return Err(Error::NotFound),
    };
    let Some(mut user) = store::users::find_by_id(tx, id)? else {
        return Ok(());
    };
    if user.is_staff() {
        let choice = match wants_mail {
            true => StaffMailChoice::ALL,
            false => StaffMailChoice::NONE,
        };
        return Ok(store::staff_mail_choices::save(tx, id, choice)?);
    }
    user.email_notifications = wants_mail;
    Ok(store::users::update(tx, &user)?)
}
