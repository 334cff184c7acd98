//! Refuses the operations that Garth does not have because an instance is not a real machine.

use crate::model::grant::Permission;
use crate::model::id::InstanceId;
use crate::rules::caller::Caller;
use crate::rules::error::Result;
use crate::rules::loading::instance_for;
use crate::rules::not_offered;
use crate::rules::request::Request;
use crate::store::ReadTx;

/// Refuses an operation on an instance. Callers without write access get the usual access error instead.
pub fn refuse(tx: &mut ReadTx, caller: &Caller, id: InstanceId, request: &Request, text: &str) -> Result<()> {
    let instance = instance_for(tx, caller, id, Permission::ReadWrite)?;
    request.check_if_match(&instance)?;
    request.require_valid_body()?;
    Err(not_offered::refusal(text))
}
