//! The content of a document. The fields have the names and shapes of the API, with labels in place of IDs.
//!
//! A field that is `None` is missing: `garth apply` leaves it as it is.

use serde::Serialize;

/// The version of the format.
pub const VERSION: i64 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Document {
    pub version: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpcs: Option<Vec<Vpc>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<Vec<Instance>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<Vec<User>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Vpc {
    pub label: String,
    pub region: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<Vec<Range>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subnets: Option<Vec<Subnet>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Subnet {
    pub label: String,
    pub ipv4: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<Vec<Range>>,
}

/// An IPv6 range: a network, a prefix length such as `/52`, or `auto`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Range {
    pub range: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Instance {
    pub label: String,
    pub region: String,
    #[serde(rename = "type")]
    pub plan: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interfaces: Option<Vec<Interface>>,
}

/// An interface. The list of an instance is compared as a whole, so a missing field has its default, except for the
/// addresses: a missing address is chosen by Garth.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Interface {
    pub purpose: String,
    #[serde(skip_serializing_if = "is_false")]
    pub primary: bool,
    /// The label of a VLAN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipam_address: Option<String>,
    /// The label of the VPC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpc: Option<String>,
    /// The label of the subnet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subnet: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv4: Option<InterfaceIpv4>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ip_ranges: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ipv6: Option<InterfaceIpv6>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InterfaceIpv4 {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vpc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nat_1_1: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InterfaceIpv6 {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slaac: Option<Vec<Range>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranges: Option<Vec<Range>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_public: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct User {
    pub username: String,
    pub email: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restricted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grants: Option<Grants>,
}

/// All grants of a restricted user. They are compared as a whole, so a missing grant is not held.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Grants {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account_access: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub global: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub vpcs: Vec<ObjectGrant>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instances: Vec<ObjectGrant>,
}

/// A grant on the VPC or instance with this label.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ObjectGrant {
    pub label: String,
    pub permissions: String,
}

impl Document {
    /// The document without addresses that another store would not have: `any` stands for a public address.
    pub fn portable(mut self) -> Self {
        let interfaces = self.instances.iter_mut().flatten();
        for interface in interfaces.flat_map(|instance| instance.interfaces.iter_mut().flatten()) {
            if let Some(nat) = interface.ipv4.as_mut().and_then(|ipv4| ipv4.nat_1_1.as_mut()) {
                *nat = "any".to_owned();
            }
        }
        self
    }
}

/// Whether two labels or usernames are the same: the letter case does not matter.
pub fn is_same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}
