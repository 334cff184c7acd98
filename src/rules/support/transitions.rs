//! The state machine of tickets. `docs/tickets.md` has the diagram (interface §3, decision 0014).

use crate::model::policy::Support;
use crate::model::reason::{Code, Reason};
use crate::model::ticket::{Status, Ticket};
use crate::model::time::Time;

/// An act on a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    CustomerReply,
    CustomerAttach,
    CustomerClose,
    Claim,
    Release,
    SetClosable,
    StaffReply,
    StaffClose,
    Reopen,
}

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// The status after an act; `None` if nothing changes, and a reason if the act is not allowed.
pub fn after(ticket: &Ticket, act: Act, now: Time, support: &Support) -> Result<Option<Status>, Reason> {
    use Status::{Closed, New, Open};
    match (ticket.status, act) {
        (New | Open, Act::CustomerReply | Act::CustomerAttach) => Ok(Some(ticket.status)),
        (New | Open, Act::SetClosable | Act::Release) => Ok(Some(ticket.status)),
        (New | Open, Act::Claim | Act::StaffReply) => Ok(Some(Open)),
        (New | Open, Act::StaffClose) => Ok(Some(Closed)),
        (New | Open, Act::Reopen) => Ok(None),
        (New | Open, Act::CustomerClose) if ticket.may_close => Ok(Some(Closed)),
        (New | Open, Act::CustomerClose) => {
            let text = "This ticket can only be closed by your provider";
            Err(Reason::new(Code::TicketNotClosable, text))
        }

        (Closed, Act::CustomerClose | Act::StaffClose) => Ok(None),
        (Closed, Act::Reopen) => Ok(Some(Open)),
        (Closed, Act::Release) => Ok(Some(Closed)),
        (Closed, Act::CustomerReply) if can_be_reopened(ticket, now, support) => Ok(Some(Open)),
        (Closed, Act::CustomerReply) => Err(closed("open a new one")),
        (Closed, Act::CustomerAttach) => Err(closed("nothing can be attached to it")),
        (Closed, Act::Claim | Act::SetClosable | Act::StaffReply) => Err(closed("reopen it first")),
    }
}

/// Whether a closed ticket can still be reopened by a reply of its customer.
fn can_be_reopened(ticket: &Ticket, now: Time, support: &Support) -> bool {
    match (ticket.closed, support.reopen_days) {
        (Some(closed), Some(days)) => now <= closed.plus_seconds(days * DAY_SECONDS),
        _ => false,
    }
}

fn closed(advice: &str) -> Reason {
    Reason::new(Code::TicketClosed, format!("This ticket is closed; {advice}"))
}
