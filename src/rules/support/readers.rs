//! The users of an account who can read a ticket, for staff.

use crate::model::ticket::Ticket;
use crate::rules::error::Result;
use crate::store::{self, ReadTx};

/// The names of these users, in alphabetical order. The caller must have loaded the ticket.
pub fn names(tx: &mut ReadTx, ticket: &Ticket) -> Result<Vec<String>> {
    let users = store::users::all_of_account(tx, ticket.account)?.into_iter();
    let readers = users.filter(|user| ticket.permission_of(user).is_some());
    Ok(readers.map(|user| user.username.as_str().to_owned()).collect())
}
