//! Addresses to which no mail is sent, because a mail server has refused them permanently.

use crate::model::outgoing_mail::SuppressedAddress;
use crate::model::page::Paged;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::store::{self, ReadTx, WriteTx};

pub fn list(tx: &mut ReadTx, list: &ListRequest) -> Result<Paged<SuppressedAddress>> {
    let query = list.read(tx.policy(), &store::suppressed_addresses::FIELDS)?;
    Ok(store::suppressed_addresses::list(tx, &query)?)
}

/// Lets an address get mails again.
pub fn allow(tx: &mut WriteTx, address: &str) -> Result<()> {
    match store::suppressed_addresses::delete(tx, address)? {
        true => Ok(()),
        false => Err(Error::NotFound),
    }
}
