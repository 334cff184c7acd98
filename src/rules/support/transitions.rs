//! The state machine of tickets. `docs/tickets.md` has the diagram (interface §3, decision 0014).

use crate::model::id::TicketId;
use crate::model::policy::Support;
use crate::model::reason::{Code, Reason};
use crate::model::ticket::{Status, Ticket};
use crate::model::time::Time;

/// An action on a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TicketAction {
    CustomerReply,
    CustomerAttach,
    CustomerClose,
    Claim,
    Release,
    SetClosable,
    StaffReply,
    StaffAttach,
    StaffClose,
    Reopen,
}

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// The status after an action, which can be the same as before. `None` if the action has no effect, such as
/// closing a closed ticket. Fails if the action is not allowed.
pub fn after(
    ticket: &Ticket,
    action: TicketAction,
    now: Time,
    support: &Support,
) -> Result<Option<Status>, Reason> {
    use Status::{Closed, New, Open};
    if let Some(target) = ticket.merged_into {
        return after_merge(target, action);
    }
    match (ticket.status, action) {
        (New | Open, TicketAction::CustomerReply | TicketAction::CustomerAttach) => Ok(Some(ticket.status)),
        (New | Open, TicketAction::SetClosable | TicketAction::Release) => Ok(Some(ticket.status)),
        (New | Open, TicketAction::Claim | TicketAction::StaffReply | TicketAction::StaffAttach) => {
            Ok(Some(Open))
        }
        (New | Open, TicketAction::StaffClose) => Ok(Some(Closed)),
        (New | Open, TicketAction::Reopen) => Ok(None),
        (New | Open, TicketAction::CustomerClose) if ticket.may_close => Ok(Some(Closed)),
        (New | Open, TicketAction::CustomerClose) => {
            let text = "This ticket can only be closed by your provider";
            Err(Reason::new(Code::TicketNotClosable, text))
        }

        (Closed, TicketAction::CustomerClose | TicketAction::StaffClose) => Ok(None),
        (Closed, TicketAction::Reopen) => Ok(Some(Open)),
        (Closed, TicketAction::Release) => Ok(Some(Closed)),
        (Closed, TicketAction::CustomerReply) if can_be_reopened(ticket, now, support) => Ok(Some(Open)),
        (Closed, TicketAction::CustomerReply) => Err(closed_reason("open a new one")),
        (Closed, TicketAction::CustomerAttach) => Err(closed_reason("nothing can be attached to it")),
        (Closed, TicketAction::Claim | TicketAction::SetClosable) => Err(closed_reason("reopen it first")),
        (Closed, TicketAction::StaffReply | TicketAction::StaffAttach) => {
            Err(closed_reason("reopen it first"))
        }
    }
}

/// The status of a merged ticket, which remains closed.
fn after_merge(target: TicketId, action: TicketAction) -> Result<Option<Status>, Reason> {
    let text = format!("This ticket was merged into ticket {target}; continue there");
    match action {
        TicketAction::CustomerClose | TicketAction::StaffClose => Ok(None),
        TicketAction::Release => Ok(Some(Status::Closed)),
        TicketAction::Reopen => Err(Reason::new(Code::TicketMerged, text)),
        TicketAction::CustomerReply
        | TicketAction::CustomerAttach
        | TicketAction::Claim
        | TicketAction::SetClosable
        | TicketAction::StaffReply
        | TicketAction::StaffAttach => Err(Reason::new(Code::TicketClosed, text)),
    }
}

/// Whether a reply of the customer can still reopen a closed ticket.
fn can_be_reopened(ticket: &Ticket, now: Time, support: &Support) -> bool {
    match (ticket.closed, support.reopen_days) {
        (Some(closed), Some(days)) => now <= closed.plus_seconds(days * DAY_SECONDS),
        _ => false,
    }
}

fn closed_reason(advice: &str) -> Reason {
    Reason::new(Code::TicketClosed, format!("This ticket is closed; {advice}"))
}
