//! Reads the JSON bodies of test control.

use axum::body::Bytes;
use serde::de::DeserializeOwned;

use crate::model::reason::{Code, Reason};
use crate::rules::error::FieldError;
use crate::rules::{Error, Result};

/// Reads a body. The error describes the accepted fields.
pub fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T> {
    serde_json::from_slice(body).map_err(|cause| {
        let code = match cause.is_data() {
            true => Code::WrongType,
            false => Code::JsonInvalid,
        };
        let reason = Reason::new(code, format!("The body is not valid: {cause}"));
        Error::Refused(vec![FieldError::whole(reason)])
    })
}

/// The refusal of a field.
pub fn refuse(field: impl Into<String>, code: Code, reason: impl Into<String>) -> Error {
    Error::Refused(vec![FieldError::on(field, Reason::new(code, reason))])
}
