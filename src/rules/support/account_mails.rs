//! Mails about users: invitations, links for a new password, and security notices (decision 0047).
//!
//! A link is created when its mail is sent, so that the queue has no secret, and each attempt has a new link.

use super::mail_queue;
use crate::model::account::status::AccountStatus;
use crate::model::id::UserId;
use crate::model::outgoing_mail::{MailKind, MailState, Notice, NoticeKind, OutgoingMail};
use crate::model::reason::{Code, Reason};
use crate::model::time::Time;
use crate::model::token::TokenText;
use crate::model::user::{Email, User};
use crate::rules::error::{Error, Result};
use crate::rules::password_links::{self, INVITATION_TTL_SECONDS, RESET_TTL_SECONDS};
use crate::store::{self, ReadTx, WriteTx};

/// The time between two mails with a link to the same user.
const LINK_INTERVAL_SECONDS: i64 = 5 * 60;
/// The number of users who get a link if a visitor enters their common address.
const MAX_USERS_PER_ADDRESS: i64 = 5;

/// The number of invitations to users of an account within `LIMIT_PERIOD_SECONDS`.
const MAX_INVITATIONS: i64 = 50;
const LIMIT_PERIOD_SECONDS: i64 = 24 * 3600;

/// The content of a mail about a user.
#[derive(Clone, Debug)]
pub enum AccountContent {
    Invitation {
        link: TokenText,
    },
    Reset {
        link: TokenText,
    },
    Security {
        kind: NoticeKind,
        /// The label of a token, or the address and the browser of a client; possibly empty.
        detail: String,
        at: Time,
    },
}

/// Queues an invitation to a new user, if Garth sends mail and the account has not reached its limit.
pub fn invite(tx: &mut WriteTx, user: &User) -> Result<()> {
    match has_reached_limit(tx, user)? {
        true => Ok(()),
        false => queue(tx, MailKind::Invitation, user, None),
    }
}

/// Whether an invitation to a user was queued.
pub fn is_invited(tx: &mut ReadTx, user: UserId) -> Result<bool> {
    let newest = store::outgoing_mails::newest_of_kind(tx, MailKind::Invitation, user)?;
    Ok(newest.is_some())
}

/// Whether the account of a user gets no more invitations now, so that customers cannot use Garth to send mail to
/// strangers. Staff have no limit.
fn has_reached_limit(tx: &mut ReadTx, user: &User) -> Result<bool> {
    let Some(account) = user.account else {
        return Ok(false);
    };
    let since = tx.now().plus_seconds(-LIMIT_PERIOD_SECONDS);
    let count = store::outgoing_mails::count_invitations(tx, account, since)?;
    Ok(count >= MAX_INVITATIONS)
}

/// Queues another invitation to a user without a password.
pub fn invite_again(tx: &mut WriteTx, user: &User) -> Result<()> {
    let refused = |text: &str| Err(Error::whole(Reason::new(Code::ChoiceInvalid, text)));
    if tx.policy().outgoing_mail.is_none() {
        return refused("This server sends no mail; create a link");
    }
    if user.password_created.is_some() {
        return refused("This user already has a password");
    }
    if has_recent(tx, MailKind::Invitation, user.id)? {
        return refused(
            "An invitation was sent less than 5 minutes ago, or is still queued; try again later",
        );
    }
    if has_reached_limit(tx, user)? {
        let text = format!(
            "The users of this account have got {MAX_INVITATIONS} invitations within 24 hours; create a link"
        );
        return refused(&text);
    }
    invite(tx, user)
}

/// Queues a mail with a link for a new password, to the user with this name or to the users with this address. Does
/// nothing for other texts, and for users who have got a link in the last minutes.
pub fn request_reset(tx: &mut WriteTx, name_or_address: &str) -> Result<()> {
    for user in named(tx, name_or_address.trim())? {
        if reason_not_to_send(tx, &user)?.is_none() && !has_recent(tx, MailKind::Reset, user.id)? {
            queue(tx, MailKind::Reset, &user, None)?;
        }
    }
    Ok(())
}

fn named(tx: &mut ReadTx, name_or_address: &str) -> Result<Vec<User>> {
    let Ok(address) = Email::parse(name_or_address) else {
        return Ok(store::users::find(tx, name_or_address)?.into_iter().collect());
    };
    let address = address.as_str().to_lowercase();
    Ok(store::users::all_with_email(tx, &address, MAX_USERS_PER_ADDRESS)?)
}

/// Whether a user was sent a mail of this kind in the last minutes, or one is still queued.
fn has_recent(tx: &mut ReadTx, kind: MailKind, user: UserId) -> Result<bool> {
    let earliest = tx.now().plus_seconds(-LINK_INTERVAL_SECONDS);
    let newest = store::outgoing_mails::newest_of_kind(tx, kind, user)?;
    Ok(newest.is_some_and(|mail| {
        mail.queued > earliest || matches!(mail.state, MailState::Queued | MailState::Sending)
    }))
}

/// Queues a security notice to a user.
pub fn notify(tx: &mut WriteTx, user: UserId, kind: NoticeKind, detail: &str) -> Result<()> {
    if tx.policy().outgoing_mail.is_none() {
        return Ok(());
    }
    let Some(user) = store::users::find_by_id(tx, user)? else {
        return Ok(());
    };
    let notice = Notice {
        kind,
        reply: None,
        author: detail.to_owned(),
    };
    queue(tx, MailKind::Security, &user, Some(&notice))
}

fn queue(tx: &mut WriteTx, kind: MailKind, user: &User, notice: Option<&Notice>) -> Result<()> {
    let now = tx.instant();
    if let (Some(mail), Some(notice)) = (mail_queue::add(tx, kind, None, user, now)?, notice) {
        store::outgoing_mails::add_notice(tx, mail, notice)?;
    }
    Ok(())
}

/// The recipient of a mail, with the address of the mail, or the reason why the mail is not sent. The user can have
/// changed since the mail was queued.
pub(super) fn recipient(
    tx: &mut ReadTx,
    mail: &OutgoingMail,
) -> Result<std::result::Result<User, &'static str>> {
    let user = match mail.recipient {
        Some(id) => store::users::find_by_id(tx, id)?,
        None => None,
    };
    let Some(mut user) = user else {
        return Ok(Err("no_access"));
    };
    if mail.kind == MailKind::Invitation && user.password_created.is_some() {
        return Ok(Err("has_password"));
    }
    if mail.kind == MailKind::Security {
        // An attacker can change the address after the password. The notice is for the owner of the old address.
        user.email = mail.address.clone();
    }
    Ok(match reason_not_to_send(tx, &user)? {
        Some(reason) => Err(reason),
        None => Ok(user),
    })
}

fn reason_not_to_send(tx: &mut ReadTx, user: &User) -> Result<Option<&'static str>> {
    let is_closed = match user.account {
        Some(account) => {
            let account = store::accounts::find(tx, account)?;
            account.is_none_or(|account| account.status == AccountStatus::Closed)
        }
        None => false,
    };
    if user.disabled || is_closed {
        return Ok(Some("no_access"));
    }
    let is_suppressed = store::suppressed_addresses::is_suppressed(tx, &user.email)?;
    Ok(is_suppressed.then_some("address_suppressed"))
}

/// The content of a mail, with a new link. `None` if the mail is about a ticket, or if its notice is missing.
pub(super) fn content(tx: &mut WriteTx, mail: &OutgoingMail, user: &User) -> Result<Option<AccountContent>> {
    Ok(match mail.kind {
        MailKind::Ticket | MailKind::Desk => None,
        MailKind::Invitation => Some(AccountContent::Invitation {
            link: password_links::create(tx, user.id, INVITATION_TTL_SECONDS)?,
        }),
        MailKind::Reset => Some(AccountContent::Reset {
            link: password_links::create(tx, user.id, RESET_TTL_SECONDS)?,
        }),
        MailKind::Security => {
            let notice = store::outgoing_mails::notices(tx, mail.id)?.into_iter().next();
            notice.map(|notice| AccountContent::Security {
                kind: notice.kind,
                detail: notice.author,
                at: mail.queued,
            })
        }
    })
}
