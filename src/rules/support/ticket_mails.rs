//! Who gets a mail about a change of a ticket (decision 0045).
//!
//! The rule that makes the change calls `notify` in its transaction, so the mail is queued if and only if the change
//! is committed.

use super::outgoing_mails::{self, may_see};
use crate::model::history::HistoryStep;
use crate::model::id::{TicketId, UserId};
use crate::model::outgoing_mail::{MailKind, Notice, NoticeKind, StaffMailChoice};
use crate::rules::error::Result;
use crate::store::history::NewHistory;
use crate::store::{self, WriteTx};

/// The author of a change, who gets no mail about it.
#[derive(Clone, Copy)]
pub struct ChangeAuthor<'a> {
    /// The name that users of the account see.
    pub display_name: &'a str,
    /// The name that staff see.
    pub username: &'a str,
    /// `None` for staff.
    pub user: Option<UserId>,
}

/// Queues the mails about a step of a ticket. Most steps have none.
pub fn notify(
    tx: &mut WriteTx,
    ticket: TicketId,
    author: ChangeAuthor,
    step: HistoryStep,
    details: &NewHistory,
) -> Result<()> {
    if tx.policy().outgoing_mail.is_none() {
        return Ok(());
    }
    let kind = match step {
        HistoryStep::Opened => NoticeKind::Opened,
        HistoryStep::Reply => NoticeKind::Reply,
        HistoryStep::Close => NoticeKind::Closed,
        HistoryStep::Reopen => NoticeKind::Reopened,
        HistoryStep::Claim => NoticeKind::Assigned,
        _ => return Ok(()),
    };
    let notice = |name: &str| Notice {
        kind,
        reply: details.reply,
        author: name.to_owned(),
    };
    if kind != NoticeKind::Assigned {
        let for_account = notice(author.display_name);
        for user in store::outgoing_mails::participants(tx, ticket)? {
            if Some(user) != author.user {
                queue(tx, MailKind::Ticket, ticket, user, &for_account)?;
            }
        }
    }
    let for_staff = notice(author.username);
    for user in staff(tx, ticket, author, kind, details)? {
        queue(tx, MailKind::Desk, ticket, user, &for_staff)?;
    }
    Ok(())
}

fn queue(tx: &mut WriteTx, kind: MailKind, ticket: TicketId, user: UserId, notice: &Notice) -> Result<()> {
    match store::users::find_by_id(tx, user)? {
        Some(user) if may_see(tx, &user, ticket)? => outgoing_mails::queue(tx, kind, ticket, &user, notice),
        _ => Ok(()),
    }
}

/// The members of staff who have chosen to get a mail about such a change.
fn staff(
    tx: &mut WriteTx,
    ticket: TicketId,
    author: ChangeAuthor,
    kind: NoticeKind,
    details: &NewHistory,
) -> Result<Vec<UserId>> {
    let by_staff = author.user.is_none();
    let recipients = match kind {
        NoticeKind::Opened if by_staff => Vec::new(),
        NoticeKind::Opened => store::staff_mail_choices::with_new_tickets(tx)?,
        NoticeKind::Assigned => {
            let name = details.after.as_deref().unwrap_or_default();
            let assignee = store::users::find(tx, name)?.map(|user| user.id);
            chosen(tx, assignee, |choice| choice.assigned)?
        }
        NoticeKind::Reply | NoticeKind::Closed | NoticeKind::Reopened => {
            let assignee = store::outgoing_mails::assignee(tx, ticket)?;
            chosen(tx, assignee, |choice| choice.replies)?
        }
    };
    let author = match by_staff {
        true => store::users::find(tx, author.username)?.map(|user| user.id),
        false => None,
    };
    Ok(recipients
        .into_iter()
        .filter(|user| Some(*user) != author)
        .collect())
}

/// The member of staff, if this is the choice.
fn chosen(
    tx: &mut WriteTx,
    user: Option<UserId>,
    choice: fn(&StaffMailChoice) -> bool,
) -> Result<Vec<UserId>> {
    match user {
        Some(user) if choice(&store::staff_mail_choices::find(tx, user)?) => Ok(vec![user]),
        _ => Ok(Vec::new()),
    }
}
