//! The search over all kinds of objects: for tenants, over the objects that they can see; for staff, over the desk.

use crate::model::account::DeskAccount;
use crate::model::cidr::{Cidr, Cidr6};
use crate::model::family::{Family, V4, V6};
use crate::model::id::{InstanceId, InterfaceId};
use crate::model::instance::Instance;
use crate::model::subnet_name::{SubnetName, VpcName};
use crate::model::ticket::{DeskTicket, Ticket};
use crate::model::user::User;
use crate::rules::account_networks::{self, FoundNetworks};
use crate::rules::address_map::{VisibleInstances, visible};
use crate::rules::caller::Caller;
use crate::rules::conditions::Condition;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::rules::{accounts, desk, instances, subnet_names, tickets, users};
use crate::store::{self, ReadTx};

/// The maximum number of results of each kind.
pub const MAX_RESULTS_PER_KIND: usize = 8;
/// The holders of a larger range are not listed.
const MAX_LISTED_ADDRESSES: u32 = 256;

/// The results for a tenant.
#[derive(Default)]
pub struct Results {
    pub addresses: Vec<FoundAddress>,
    pub vpcs: Vec<VpcName>,
    pub subnets: Vec<SubnetName>,
    pub instances: Vec<Instance>,
    pub tickets: Vec<Ticket>,
    pub users: Vec<User>,
}

/// A subnet with addresses of the range that was searched for, and the use of one of them.
pub struct FoundAddress {
    pub subnet: SubnetName,
    pub range: FoundRange,
    pub usage: AddressUse,
}

/// The part of the subnet: an address, the range that was searched for, or a network.
#[derive(Clone, Copy)]
pub enum FoundRange {
    Ipv4(Cidr),
    Ipv6(Cidr6),
}

pub enum AddressUse {
    Held(FoundHolder),
    Free,
    Reserved,
    /// A part of the subnet with several addresses, without their holders.
    Range,
}

pub struct FoundHolder {
    pub instance: InstanceId,
    /// `None` if the caller cannot see the instance.
    pub instance_label: Option<String>,
    pub interface: InterfaceId,
}

impl Results {
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
            && self.vpcs.is_empty()
            && self.subnets.is_empty()
            && self.instances.is_empty()
            && self.tickets.is_empty()
            && self.users.is_empty()
    }
}

/// Searches the objects of the caller's account. An empty text finds nothing.
pub fn search(tx: &mut ReadTx, caller: &Caller, text: &str) -> Result<Results> {
    if text.is_empty() {
        return Ok(Results::default());
    }
    let mut results = Results {
        instances: find_instances(tx, caller, text)?,
        tickets: tickets::search(tx, caller, &first_results(), text)?.items,
        users: find_users(tx, caller, text)?,
        ..Results::default()
    };
    if let Some(range) = Cidr::parse_search(text) {
        results.addresses = find_ipv4(tx, caller, range)?;
    } else if let Some(range) = Cidr6::parse_search(text) {
        results.addresses = find_ipv6(tx, caller, range)?;
    } else {
        results.vpcs = subnet_names::vpcs_containing(tx, caller, text, MAX_RESULTS_PER_KIND)?;
        results.subnets = subnet_names::containing(tx, caller, text, MAX_RESULTS_PER_KIND)?;
    }
    Ok(results)
}

fn first_results() -> ListRequest {
    ListRequest::first(MAX_RESULTS_PER_KIND as i64)
}

/// The instances with this label, ID, tag or public address.
fn find_instances(tx: &mut ReadTx, caller: &Caller, text: &str) -> Result<Vec<Instance>> {
    let condition = match Cidr::parse_search(text).filter(|range| range.prefix() == V4::BITS) {
        Some(_) => Condition::equal("ipv4", text),
        None => Condition::contained_in(["label", "id", "tags"], text),
    };
    let list = first_results().only(condition).sorted("label", false);
    Ok(instances::list(tx, caller, &list)?.items)
}

/// The users with this name or e-mail address. Restricted users see no other users.
fn find_users(tx: &mut ReadTx, caller: &Caller, text: &str) -> Result<Vec<User>> {
    let condition = Condition::contained_in(["username", "email"], text);
    match users::page(tx, caller, &first_results().only(condition)) {
        Ok(found) => Ok(found.items),
        Err(Error::Forbidden) => Ok(Vec::new()),
        Err(other) => Err(other),
    }
}

fn find_ipv4(tx: &mut ReadTx, caller: &Caller, range: Cidr) -> Result<Vec<FoundAddress>> {
    let visible = visible(tx, caller)?;
    let mut found = Vec::new();
    for subnet in subnet_names::in_range(tx, caller, range, MAX_RESULTS_PER_KIND)? {
        let (first, last) = (
            range.first().max(subnet.ipv4.first()),
            range.last().min(subnet.ipv4.last()),
        );
        let holders = match last - first < MAX_LISTED_ADDRESSES {
            true => store::interfaces::holders(tx, subnet.id, first, last)?,
            false => Vec::new(),
        };
        let (is_free, is_address) = (holders.is_empty(), first == last);
        if !is_address {
            found.push(FoundAddress {
                range: FoundRange::Ipv4(subnet.ipv4),
                usage: AddressUse::Range,
                subnet: subnet.clone(),
            });
        }
        for holder in holders {
            found.push(FoundAddress {
                subnet: subnet.clone(),
                range: FoundRange::Ipv4(Cidr::around(holder.first.max(first), V4::UNIT_PREFIX)),
                usage: held(&visible, holder.instance, holder.instance_label, holder.interface),
            });
        }
        if is_free && is_address {
            let usage = match subnet.ipv4.assignable().contains(&first) {
                true => AddressUse::Free,
                false => AddressUse::Reserved,
            };
            let range = FoundRange::Ipv4(range);
            found.push(FoundAddress { subnet, range, usage });
        }
    }
    found.truncate(MAX_RESULTS_PER_KIND);
    Ok(found)
}

fn find_ipv6(tx: &mut ReadTx, caller: &Caller, range: Cidr6) -> Result<Vec<FoundAddress>> {
    let visible = visible(tx, caller)?;
    // Networks in use have the prefix length 64.
    let part = Cidr6::around(range.first(), range.prefix().min(V6::UNIT_PREFIX));
    let mut found = Vec::new();
    for subnet in subnet_names::in_range(tx, caller, range, MAX_RESULTS_PER_KIND)? {
        let holders = match part.prefix() == V6::UNIT_PREFIX {
            true => store::interface_ranges::network_holders(tx, subnet.id, part)?,
            false => Vec::new(),
        };
        let is_empty = holders.is_empty();
        for holder in holders {
            found.push(FoundAddress {
                subnet: subnet.clone(),
                range: FoundRange::Ipv6(holder.network),
                usage: held(&visible, holder.instance, holder.instance_label, holder.interface),
            });
        }
        if is_empty {
            found.push(FoundAddress {
                range: FoundRange::Ipv6(subnet.ipv6.unwrap_or(part)),
                usage: AddressUse::Range,
                subnet,
            });
        }
    }
    found.truncate(MAX_RESULTS_PER_KIND);
    Ok(found)
}

fn held(
    visible: &VisibleInstances,
    instance: InstanceId,
    label: Option<String>,
    interface: InterfaceId,
) -> AddressUse {
    AddressUse::Held(FoundHolder {
        instance,
        instance_label: label.filter(|_| visible.has(instance)),
        interface,
    })
}

/// The results for staff.
#[derive(Default)]
pub struct DeskResults {
    pub tickets: Vec<DeskTicket>,
    pub accounts: Vec<DeskAccount>,
    pub users: Vec<User>,
    pub networks: FoundNetworks,
}

impl DeskResults {
    pub fn is_empty(&self) -> bool {
        self.tickets.is_empty()
            && self.accounts.is_empty()
            && self.users.is_empty()
            && self.networks.is_empty()
    }
}

/// Searches tickets with their replies and notes, accounts, and the users, VPCs and instances of all accounts. An empty
/// text finds nothing.
pub fn search_desk(tx: &mut ReadTx, text: &str) -> Result<DeskResults> {
    if text.is_empty() {
        return Ok(DeskResults::default());
    }
    let accounts = Condition::contained_in(["company", "email", "id"], text);
    let accounts = first_results().only(accounts).sorted("company", false);
    Ok(DeskResults {
        tickets: find_desk_tickets(tx, text)?,
        accounts: accounts::desk_list(tx, &accounts)?.items,
        users: store::users::containing(tx, text, MAX_RESULTS_PER_KIND as i64)?,
        networks: account_networks::search(tx, text, MAX_RESULTS_PER_KIND)?,
    })
}

/// The tickets with this ID (`#7`) or these words.
fn find_desk_tickets(tx: &mut ReadTx, text: &str) -> Result<Vec<DeskTicket>> {
    let number = text
        .strip_prefix('#')
        .and_then(|number| number.parse::<i64>().ok());
    let found = match number {
        Some(number) => desk::list(tx, &first_results().only(Condition::equal("id", number)), None),
        None => desk::list(tx, &first_results(), Some(text)),
    };
    match found {
        Ok(found) => Ok(found.items),
        // A text without letters or digits has no words.
        Err(Error::Refused(_)) => Ok(Vec::new()),
        Err(other) => Err(other),
    }
}
