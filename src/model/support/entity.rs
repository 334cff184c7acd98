//! The directory of objects that other services hold, as far as tickets can be about them.

use crate::model::id::AccountId;
use crate::model::subject::SubjectKind;

/// An object of an account in another service.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    pub account: AccountId,
    pub kind: SubjectKind,
    pub id: i64,
    pub label: String,
}
