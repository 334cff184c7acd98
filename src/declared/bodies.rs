//! The request bodies of the rules, built from the objects of a document.

use std::collections::HashSet;

use super::current::{Ids, key};
use super::document::{Grants, Instance, Interface, ObjectGrant, Range, Subnet, Vpc};
use crate::model::grant::Global;
use crate::model::input::Input;

/// An object with the fields that are present.
pub fn object<const N: usize>(fields: [(&str, Option<Input>); N]) -> Input {
    let present = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Input::Object(present.collect())
}

pub fn text(text: &str) -> Option<Input> {
    Some(Input::Text(text.to_owned()))
}

pub fn optional(value: Option<&String>) -> Option<Input> {
    value.and_then(|value| text(value))
}

pub fn texts(values: &[String]) -> Input {
    Input::List(values.iter().cloned().map(Input::Text).collect())
}

pub fn vpc(vpc: &Vpc) -> Input {
    let subnets = vpc.subnets.iter().flatten().map(subnet).collect();
    object([
        ("label", text(&vpc.label)),
        ("region", text(&vpc.region)),
        ("description", optional(vpc.description.as_ref())),
        ("ipv6", ranges(vpc.ipv6.as_deref())),
        ("subnets", Some(Input::List(subnets))),
    ])
}

pub fn subnet(subnet: &Subnet) -> Input {
    object([
        ("label", text(&subnet.label)),
        ("ipv4", text(&subnet.ipv4)),
        ("ipv6", ranges(subnet.ipv6.as_deref())),
    ])
}

fn ranges(ranges: Option<&[Range]>) -> Option<Input> {
    let range = |range: &Range| object([("range", text(&range.range))]);
    ranges.map(|ranges| Input::List(ranges.iter().map(range).collect()))
}

/// A new instance. The root password of an image must not be empty; Garth does not store it.
pub fn instance(instance: &Instance, ids: &Ids, root_password: &str) -> Input {
    object([
        ("label", text(&instance.label)),
        ("region", text(&instance.region)),
        ("type", text(&instance.plan)),
        ("image", optional(instance.image.as_ref())),
        (
            "root_pass",
            instance.image.as_ref().and_then(|_| text(root_password)),
        ),
        ("tags", instance.tags.as_deref().map(texts)),
        (
            "interfaces",
            instance.interfaces.as_deref().map(|all| interfaces(all, ids)),
        ),
    ])
}

pub fn interfaces(interfaces: &[Interface], ids: &Ids) -> Input {
    Input::List(interfaces.iter().map(|one| interface(one, ids)).collect())
}

fn interface(interface: &Interface, ids: &Ids) -> Input {
    let subnet = interface.vpc.as_ref().zip(interface.subnet.as_ref());
    let subnet = subnet.and_then(|(vpc, subnet)| ids.subnets.get(&(key(vpc), key(subnet))));
    let ipv4 = interface.ipv4.as_ref().map(|ipv4| {
        object([
            ("vpc", optional(ipv4.vpc.as_ref())),
            ("nat_1_1", optional(ipv4.nat_1_1.as_ref())),
        ])
    });
    let ipv6 = interface.ipv6.as_ref().map(|ipv6| {
        object([
            ("slaac", ranges(ipv6.slaac.as_deref())),
            ("ranges", ranges(ipv6.ranges.as_deref())),
            ("is_public", ipv6.is_public.map(Input::Bool)),
        ])
    });
    object([
        ("purpose", text(&interface.purpose)),
        ("primary", Some(Input::Bool(interface.primary))),
        ("label", optional(interface.label.as_ref())),
        ("ipam_address", optional(interface.ipam_address.as_ref())),
        ("subnet_id", subnet.map(|subnet| Input::Integer(subnet.0))),
        ("ipv4", ipv4),
        ("ip_ranges", Some(texts(&interface.ip_ranges))),
        ("ipv6", ipv6),
    ])
}

/// All grants of a user. `held` are the IDs of the VPCs and instances on which the user has a grant now. They come after
/// those of the document, so that an error about an entry has its position in the document.
pub fn grants(grants: &Grants, ids: &Ids, held: (&[i64], &[i64])) -> Input {
    let is_held = |global: Global| {
        let words = grants.global.iter();
        words
            .filter_map(|word| Global::parse(word).ok())
            .any(|word| word == global)
    };
    let mut global: Vec<_> = Global::ALL
        .into_iter()
        .map(|global| (global.word().to_owned(), Input::Bool(is_held(global))))
        .collect();
    let access = grants.account_access.clone();
    global.push((
        "account_access".to_owned(),
        access.map_or(Input::Null, Input::Text),
    ));
    let vpc = |grant: &ObjectGrant| ids.vpcs.get(&key(&grant.label)).map(|id| id.0);
    let instance = |grant: &ObjectGrant| ids.instances.get(&key(&grant.label)).map(|(id, _)| id.0);
    object([
        ("global", Some(Input::Object(global))),
        ("vpc", Some(entries(&grants.vpcs, vpc, held.0))),
        ("linode", Some(entries(&grants.instances, instance, held.1))),
    ])
}

fn entries(grants: &[ObjectGrant], id_of: impl Fn(&ObjectGrant) -> Option<i64>, held: &[i64]) -> Input {
    let id = |id: i64| ("id".to_owned(), Input::Integer(id));
    let granted: HashSet<_> = grants.iter().filter_map(&id_of).collect();
    let wanted = grants.iter().map(|grant| {
        let permissions = Input::Text(grant.permissions.clone());
        let fields = vec![
            id(id_of(grant).unwrap_or_default()),
            ("permissions".to_owned(), permissions),
        ];
        Input::Object(fields)
    });
    let removed = held.iter().filter(|held| !granted.contains(held)).map(|held| {
        let fields = vec![id(*held), ("permissions".to_owned(), Input::Null)];
        Input::Object(fields)
    });
    Input::List(wanted.chain(removed).collect())
}
