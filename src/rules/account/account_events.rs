//! The events of an account as staff see them (decision 0034).

use std::collections::HashSet;

use crate::model::event::Event;
use crate::model::id::{AccountId, EventId, UserId};
use crate::model::page::Paged;
use crate::rules::error::Result;
use crate::rules::lists::ListRequest;
use crate::rules::{accounts, events};
use crate::store::events::Reader;
use crate::store::list::Visibility;
use crate::store::{self, ReadTx};

/// A page of the events of an account.
pub struct AccountEvents {
    /// The username of an event of staff is the username of its author, which tenants do not see.
    pub events: Paged<Event>,
    /// The events that staff caused.
    pub by_staff: HashSet<EventId>,
}

pub fn list(tx: &mut ReadTx, account: AccountId, list: &ListRequest) -> Result<AccountEvents> {
    accounts::load(tx, account)?;
    let (query, after) = list.read_after(tx.policy(), &store::events::PROVIDER_FIELDS)?;
    let reader = Reader {
        account,
        // The columns `seen` and `read` are about the users of the account. For staff, they are always false.
        user: UserId(0),
        visibility: Visibility::All,
        since: events::retained_since(tx),
    };
    let mut events = store::events::list(tx, reader, after, &query)?;
    let mut authors = store::events::staff_authors(tx, &events.items)?;
    let by_staff = authors.keys().copied().collect();
    for event in &mut events.items {
        if let Some(username) = authors.remove(&event.id) {
            event.username = Some(username);
        }
    }
    Ok(AccountEvents { events, by_staff })
}
