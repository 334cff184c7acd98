//! The objects of all accounts that staff find by a label, an ID, an address or a range.

use crate::model::id::{AccountId, InstanceId};
use crate::model::subnet_name::VpcName;

/// An account with its company, or its e-mail address if it has no company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountName {
    pub id: AccountId,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundVpc {
    pub account: AccountName,
    pub vpc: VpcName,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundInstance {
    pub account: AccountName,
    pub id: InstanceId,
    pub label: String,
    /// The address or range by which the instance was found.
    pub address: Option<String>,
}
