//! What happened: a record of every change, for the account it happened to.

use super::id::{EventId, SubnetId, VpcId};
use super::subnet::Subnet;
use super::time::Time;
use super::vpc::Vpc;

#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Event {
    pub id: EventId,
    pub created: Time,
    pub action: String,
    pub username: Option<String>,
    pub entity: Option<Entity>,
    pub secondary: Option<Entity>,
    pub status: String,
    pub seen: bool,
    pub read: bool,
}

/// A thing an event is about, as it was called then.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entity {
    pub kind: String,
    pub id: i64,
    pub label: String,
    pub url: String,
}

impl Entity {
    pub fn vpc(vpc: &Vpc) -> Self {
        Self {
            kind: "vpc".to_owned(),
            id: vpc.id.0,
            label: vpc.label.as_str().to_owned(),
            url: vpc_url(vpc.id),
        }
    }

    pub fn subnet(subnet: &Subnet) -> Self {
        Self {
            kind: "subnet".to_owned(),
            id: subnet.id.0,
            label: subnet.label.as_str().to_owned(),
            url: subnet_url(subnet.vpc, subnet.id),
        }
    }
}

fn vpc_url(vpc: VpcId) -> String {
    format!("/v4/vpcs/{vpc}")
}

fn subnet_url(vpc: VpcId, subnet: SubnetId) -> String {
    format!("/v4/vpcs/{vpc}/subnets/{subnet}")
}

/// What was done (interface §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    VpcCreate,
    VpcUpdate,
    VpcDelete,
    SubnetCreate,
    SubnetUpdate,
    SubnetDelete,
}

impl Action {
    pub const fn word(self) -> &'static str {
        match self {
            Action::VpcCreate => "vpc_create",
            Action::VpcUpdate => "vpc_update",
            Action::VpcDelete => "vpc_delete",
            Action::SubnetCreate => "subnet_create",
            Action::SubnetUpdate => "subnet_update",
            Action::SubnetDelete => "subnet_delete",
        }
    }
}
