//! Devices on which users have logged in before.

use crate::model::device::DeviceKey;
use crate::model::token::TokenText;
use crate::rules::error::Result;
use crate::store::{self, StoreError, WriteTx};

/// The key that signs device cookies, created on first use and shared by all nodes.
pub fn key(tx: &mut WriteTx) -> Result<DeviceKey> {
    let secret = store::server_secrets::find_or_insert(tx, "device")?;
    let damaged = || StoreError::Unexpected("the stored device key is invalid".to_owned());
    let key = TokenText::parse(secret.reveal()).ok_or_else(damaged)?;
    Ok(DeviceKey::new(key))
}
