//! The steps of a plan.

use super::document::{Grants, Instance, Interface, Subnet, User, Vpc};

/// A change, and the path of the object in the document. The path of a deletion is the list that does not have the
/// object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub path: String,
    pub change: Change,
}

/// A change of one object. Objects are named by their current labels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// With its subnets.
    CreateVpc(Vpc),
    UpdateVpc {
        label: String,
        to: VpcUpdate,
    },
    /// With its subnets.
    DeleteVpc {
        label: String,
        subnets: Vec<String>,
    },
    CreateSubnet {
        vpc: String,
        subnet: Subnet,
    },
    RenameSubnet {
        vpc: String,
        label: String,
        to: String,
    },
    DeleteSubnet {
        vpc: String,
        label: String,
    },
    /// With its interfaces.
    CreateInstance(Instance),
    UpdateInstance {
        label: String,
        to: InstanceUpdate,
    },
    SetInterfaces {
        instance: String,
        interfaces: Vec<Interface>,
    },
    DeleteInstance {
        label: String,
    },
    /// Without grants.
    CreateUser(User),
    UpdateUser {
        username: String,
        to: UserUpdate,
    },
    SetGrants {
        username: String,
        grants: Grants,
    },
    DeleteUser {
        username: String,
    },
}

/// `None` leaves a field unchanged, like in the other updates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VpcUpdate {
    pub label: Option<String>,
    pub description: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstanceUpdate {
    pub label: Option<String>,
    pub tags: Option<Vec<String>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserUpdate {
    pub username: Option<String>,
    pub email: Option<String>,
    pub restricted: Option<bool>,
}
