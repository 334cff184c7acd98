//! The VPCs and instances of accounts as staff see them: read-only, and found across all accounts (decision 0034).
//!
//! The access check is the permission check of these rules: each operation and each page names its role.

use crate::model::cidr::{Cidr, Cidr6, Network};
use crate::model::family::Family;
use crate::model::found_network::{FoundInstance, FoundVpc};
use crate::model::id::{AccountId, VpcId};
use crate::model::instance::Instance;
use crate::model::interface::write_address;
use crate::model::page::Paged;
use crate::model::vpc::Vpc;
use crate::model::vpc_ip::{VpcIp, VpcIpv6};
use crate::rules::accounts;
use crate::rules::conditions::Condition;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::store::list::Visibility;
use crate::store::vpc_ips::Scope;
use crate::store::{self, ReadTx};

/// The maximum number of addresses in VPCs that a page of instances shows.
const MAX_ADDRESSES_SHOWN: i64 = 500;
/// The instances with addresses of a larger range are not listed: the prefix lengths for IPv4 and IPv6.
const MIN_LISTED_PREFIX: (u8, u8) = (24, 56);

pub fn vpcs(tx: &mut ReadTx, account: AccountId, list: &ListRequest) -> Result<Paged<Vpc>> {
    accounts::load(tx, account)?;
    let query = list.read(tx.policy(), &store::vpcs::FIELDS)?;
    Ok(store::vpcs::list(tx, account, Visibility::All, &query)?)
}

/// A VPC with its subnets.
pub fn vpc(tx: &mut ReadTx, account: AccountId, id: VpcId) -> Result<Vpc> {
    store::vpcs::find(tx, account, id)?.ok_or(Error::NotFound)
}

pub fn instances(tx: &mut ReadTx, account: AccountId, list: &ListRequest) -> Result<Paged<Instance>> {
    accounts::load(tx, account)?;
    let query = list.read(tx.policy(), &store::instances::FIELDS)?;
    Ok(store::instances::list(tx, account, Visibility::All, &query)?)
}

/// The IPv4 addresses and ranges of the account in VPCs.
pub fn ips(tx: &mut ReadTx, account: AccountId, list: &ListRequest) -> Result<Paged<VpcIp>> {
    accounts::load(tx, account)?;
    let query = list.read(tx.policy(), &store::vpc_ips::FIELDS)?;
    let (visibility, scope) = (Visibility::All, Scope::All);
    Ok(store::vpc_ips::list(tx, account, visibility, scope, &query)?)
}

/// The IPv6 networks of the account in VPCs.
pub fn ipv6s(tx: &mut ReadTx, account: AccountId, list: &ListRequest) -> Result<Paged<VpcIpv6>> {
    accounts::load(tx, account)?;
    let query = list.read(tx.policy(), &store::vpc_ips::FIELDS6)?;
    let (visibility, scope) = (Visibility::All, Scope::All);
    Ok(store::vpc_ips::list6(tx, account, visibility, scope, &query)?)
}

/// The first addresses of these instances in VPCs.
pub fn addresses_of(tx: &mut ReadTx, account: AccountId, instances: &[Instance]) -> Result<Vec<VpcIp>> {
    if instances.is_empty() {
        return Ok(Vec::new());
    }
    let of_instance = |instance: &Instance| Condition::equal("linode_id", instance.id.0);
    let any = Condition::Any(instances.iter().map(of_instance).collect());
    Ok(ips(tx, account, &ListRequest::first(MAX_ADDRESSES_SHOWN).only(any))?.items)
}

/// The results of the search of staff.
#[derive(Default)]
pub struct FoundNetworks {
    pub vpcs: Vec<FoundVpc>,
    pub instances: Vec<FoundInstance>,
}

impl FoundNetworks {
    pub fn is_empty(&self) -> bool {
        self.vpcs.is_empty() && self.instances.is_empty()
    }
}

/// Searches the VPCs and instances of all accounts by label, ID, address or range.
pub fn search(tx: &mut ReadTx, text: &str, limit: usize) -> Result<FoundNetworks> {
    let limit = limit as i64;
    if let Some(range) = Cidr::parse_search(text) {
        let holders = match range.prefix() >= MIN_LISTED_PREFIX.0 {
            true => store::account_networks::ipv4_holders(tx, range, limit)?,
            false => Vec::new(),
        };
        return Ok(FoundNetworks {
            vpcs: store::account_networks::vpcs_in_range(tx, range, limit)?,
            instances: with_addresses(holders, written),
        });
    }
    if let Some(range) = Cidr6::parse_search(text) {
        let holders = match range.prefix() >= MIN_LISTED_PREFIX.1 {
            true => store::account_networks::ipv6_holders(tx, range, limit)?,
            false => Vec::new(),
        };
        return Ok(FoundNetworks {
            vpcs: store::account_networks::vpcs_in_range(tx, range, limit)?,
            instances: with_addresses(holders, |network| network.to_string()),
        });
    }
    Ok(FoundNetworks {
        vpcs: store::account_networks::vpcs_containing(tx, text, limit)?,
        instances: store::account_networks::instances_containing(tx, text, limit)?,
    })
}

/// A network, or its address if it has only one.
fn written(network: Cidr) -> String {
    match network.first() == network.last() {
        true => write_address(network.first()),
        false => network.to_string(),
    }
}

/// The instances with the addresses by which they were found.
fn with_addresses<F: Family>(
    holders: Vec<(FoundInstance, Network<F>)>,
    write: impl Fn(Network<F>) -> String,
) -> Vec<FoundInstance> {
    let add = |(instance, network)| FoundInstance {
        address: Some(write(network)),
        ..instance
    };
    holders.into_iter().map(add).collect()
}
