//! Subnets of a VPC: list, create, view, update, delete (interface §4.2).
//!
//! This module also parses the subnets of a new VPC; `vpcs` creates them with the VPC.

use std::collections::{BTreeMap, HashSet};
use std::ops::RangeInclusive;

use crate::model::cidr::{Cidr, Cidr6, Network};
use crate::model::event::Action;
use crate::model::family::{Family, V4, V6};
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::{SubnetId, VpcId};
use crate::model::label::Label;
use crate::model::page::Paged;
use crate::model::policy::{Policy, Quota};
use crate::model::range_placement::{self, Placement};
use crate::model::range_request::{OF_SUBNETS, RangeRequest};
use crate::model::reason::{Code, Reason};
use crate::model::subnet::{NewSubnet, Subnet, SubnetChange, SubnetUse};
use crate::model::vpc::Vpc;
use crate::rules::caller::Caller;
use crate::rules::error::{Blocker, Error, FieldError, Result};
use crate::rules::field_errors::{MAX_LISTED_ERRORS, refusal};
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::request::{FromForm, Request};
use crate::rules::{accounts, event_changes, events, ipv6_prefixes, not_offered, vpcs};
use crate::store::stored_family::Space;
use crate::store::{self, ReadTx, WriteTx};

pub fn list(tx: &mut ReadTx, caller: &Caller, vpc: VpcId, list: &ListRequest) -> Result<Paged<Subnet>> {
    vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadOnly)?;
    let query = list.read(tx.policy(), &store::subnets::FIELDS)?;
    Ok(store::subnets::list(tx, vpc, &query)?)
}

pub fn create(tx: &mut WriteTx, caller: &Caller, vpc: VpcId, request: &Request) -> Result<Subnet> {
    let vpc = vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadWrite)?;
    let new = read_new(tx, caller, &vpc, request)?;

    let ipv6 = match new.ipv6 {
        Some(RangeRequest::This(range)) => Some(range),
        _ => None,
    };
    let subnet = store::subnets::insert(tx, caller.account, vpc.id, &new, ipv6)?;
    store::host_revisions::vpc_changed(tx, vpc.id)?;
    events::record_subnet(tx, caller, Action::SubnetCreate, &subnet, &vpc)?;
    Ok(subnet)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, at: (VpcId, SubnetId)) -> Result<Subnet> {
    Ok(load_for(tx, caller, at, Permission::ReadOnly)?.0)
}

pub fn update(tx: &mut WriteTx, caller: &Caller, at: (VpcId, SubnetId), request: &Request) -> Result<Subnet> {
    let (mut subnet, vpc) = load_for(tx, caller, at, Permission::ReadWrite)?;
    request.check_if_match(&subnet)?;
    let change = read_change(tx, &subnet, request)?;

    let old_label = subnet.label.clone();
    subnet.label = change.label.unwrap_or(subnet.label);
    subnet.updated = tx.now_after(subnet.updated);
    store::subnets::update(tx, caller.account, &subnet)?;
    let changes = event_changes::of_field("label", old_label.as_str(), subnet.label.as_str());
    events::record_subnet_update(tx, caller, &subnet, &vpc, &changes)?;
    Ok(subnet)
}

pub fn delete(tx: &mut WriteTx, caller: &Caller, at: (VpcId, SubnetId), request: &Request) -> Result<()> {
    let (subnet, vpc) = load_for(tx, caller, at, Permission::ReadWrite)?;
    request.check_if_match(&subnet)?;
    request.require_valid_body()?;
    refuse_if_used(tx, caller, std::slice::from_ref(&subnet))?;

    store::subnets::delete(tx, caller.account, &subnet)?;
    events::record_subnet(tx, caller, Action::SubnetDelete, &subnet, &vpc)
}

/// Validates like `create` without changing anything.
pub fn check(tx: &mut ReadTx, caller: &Caller, vpc: VpcId, request: &Request) -> Result<NewSubnet> {
    let vpc = vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadWrite)?;
    read_new(tx, caller, &vpc, request)
}

/// The prefix lengths that the IPv4 range of a subnet can have.
const PREFIX_LENGTHS: RangeInclusive<u8> = 8..=29;

/// Proposes a range for a new subnet: the next free range with a prefix length. Without a valid prefix length, the next
/// free range that is as large as the last subnet. If there is none, the next free range of the default size.
pub fn propose(policy: &Policy, existing: &[Cidr], prefix: Option<u8>) -> Option<Cidr> {
    let default = Cidr::parse("10.0.0.0/24").ok()?;
    let taken: Vec<Cidr> = existing.iter().chain(&policy.forbidden_ranges).copied().collect();
    if let Some(prefix) = prefix.filter(|prefix| PREFIX_LENGTHS.contains(prefix)) {
        let last = existing.last().unwrap_or(&default);
        return Cidr::around(last.first(), prefix).next_free(&taken);
    }
    let same_size = existing.last().and_then(|last| last.next_free(&taken));
    same_size.or_else(|| default.next_free(&taken))
}

/// Proposes a range in a free block of addresses: as large as the last subnet, or the largest that fits.
pub fn propose_in(existing: &[Cidr], first: u32, last: u32) -> Option<Cidr> {
    let wanted = existing.last().map_or(24, |subnet| subnet.prefix());
    let fits = |prefix: u8| Cidr::at_or_after(first, prefix).filter(|range| range.last() <= last);
    (wanted..=*PREFIX_LENGTHS.end()).find_map(fits)
}

/// Fails if interfaces use these subnets, with one error per interface (interface §3, rules 1 and 2).
pub fn refuse_if_used(tx: &mut ReadTx, caller: &Caller, subnets: &[Subnet]) -> Result<()> {
    let uses = subnets
        .iter()
        .flat_map(|subnet| subnet.uses.iter().map(move |subnet_use| (subnet, subnet_use)));
    let count = uses.clone().count();
    if count == 0 {
        return Ok(());
    }
    let mut blockers = Vec::new();
    for (subnet, subnet_use) in uses.take(MAX_LISTED_ERRORS) {
        let permission =
            caller.require_permission(tx, GrantKind::Linode, subnet_use.instance.0, Permission::ReadOnly);
        blockers.push(blocker_error(subnet, subnet_use, permission.is_ok()));
    }
    let omitted = count - blockers.len();
    Err(refusal(blockers, omitted))
}

fn blocker_error(subnet: &Subnet, subnet_use: &SubnetUse, is_visible: bool) -> FieldError {
    let label = is_visible.then(|| subnet_use.instance_label.clone());
    let instance = match &label {
        Some(label) => format!("{} ({label})", subnet_use.instance),
        None => subnet_use.instance.to_string(),
    };
    let advice = if subnet_use.active {
        "shut the instance down, then delete the interface"
    } else {
        "delete the interface"
    };
    let text = format!(
        "Subnet {} is in use by instance {instance}, config {}, interface {}; {advice}",
        subnet.label.as_str(),
        subnet_use.config,
        subnet_use.interface
    );
    let mut error = FieldError::whole(Reason::new(Code::SubnetInUse, text));
    error.blocker = Some(Blocker {
        subnet: subnet.id,
        instance: subnet_use.instance,
        instance_label: label,
        config: subnet_use.config,
        interface: subnet_use.interface,
        active: subnet_use.active,
    });
    error
}

/// The subnet and its VPC, if the caller has this permission on them.
fn load_for(
    tx: &mut ReadTx,
    caller: &Caller,
    (vpc, id): (VpcId, SubnetId),
    access: Permission,
) -> Result<(Subnet, Vpc)> {
    // Look up the subnet before the write permission is checked: a missing subnet is 404, not 403.
    let vpc = vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadOnly)?;
    let subnet = store::subnets::find(tx, vpc.id, id)?.ok_or(Error::NotFound)?;
    if access > Permission::ReadOnly {
        caller.require_permission(tx, GrantKind::Vpc, vpc.id.0, access)?;
    }
    Ok((subnet, vpc))
}

/// The valid fields of a new subnet.
#[derive(Debug)]
pub struct Draft {
    label: Option<Label>,
    ipv4: Option<Cidr>,
    ipv6: Option<RangeRequest>,
}

impl Draft {
    pub fn finish(&self) -> Option<NewSubnet> {
        Some(NewSubnet {
            label: self.label.clone()?,
            ipv4: self.ipv4?,
            ipv6: self.ipv6,
        })
    }
}

impl FromForm for Draft {
    fn read(form: &mut Form, policy: &Policy) -> Self {
        let label = form.required("label", Label::parse);
        let ipv4 = form.required("ipv4", |raw| Cidr::for_subnet(raw, &policy.forbidden_ranges));
        let ipv6 = ipv6_prefixes::read_request(form, &OF_SUBNETS);
        Self { label, ipv4, ipv6 }
    }
}

/// Adds errors about duplicate labels and overlapping ranges among the subnets of a new VPC. Each error is
/// about the later subnet.
pub fn refuse_clashes(form: &mut Form, drafts: &[Option<Draft>]) {
    let mut labels = HashSet::new();
    let (mut ranges, mut ranges6) = (EarlierRanges::<V4>::default(), EarlierRanges::<V6>::default());
    for (at, draft) in drafts.iter().enumerate() {
        let Some(Draft { label, ipv4, ipv6 }) = draft else {
            continue;
        };
        if let Some(label) = label
            && !labels.insert(label.as_str().to_ascii_lowercase())
        {
            form.refuse_with(|| (format!("subnets[{at}].label"), label_taken()));
        }
        if let Some(range) = *ipv4
            && let Some(taken) = ranges.add(range, label.as_ref())
        {
            form.refuse_with(|| (format!("subnets[{at}].ipv4"), taken));
        }
        if let Some(RangeRequest::This(range)) = *ipv6
            && let Some(taken) = ranges6.add(range, label.as_ref())
        {
            form.refuse_with(|| (format!("subnets[{at}].ipv6[0].range"), taken));
        }
    }
}

/// Ranges that do not overlap each other, by first address, with the labels of their subnets.
struct EarlierRanges<'a, F: Family>(BTreeMap<F::Bits, (Network<F>, Option<&'a Label>)>);

impl<F: Family> Default for EarlierRanges<'_, F> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'a, F: Family> EarlierRanges<'a, F> {
    /// Adds a range, unless it overlaps an earlier one. Only the last one that starts before the end of the range can
    /// overlap it.
    fn add(&mut self, range: Network<F>, label: Option<&'a Label>) -> Option<Reason> {
        match self.0.range(..=range.last()).next_back() {
            Some((_, (taken, taken_label))) if taken.overlaps(range) => Some(overlap(*taken, *taken_label)),
            _ => {
                self.0.insert(range.first(), (range, label));
                None
            }
        }
    }
}

/// Refuses the IPv6 ranges of subnets in a new VPC without an IPv6 range.
pub fn refuse_ipv6(form: &mut Form, drafts: &[Option<Draft>]) {
    for (at, draft) in drafts.iter().enumerate() {
        if draft.as_ref().is_some_and(|draft| draft.ipv6.is_some()) {
            form.refuse_with(|| (format!("subnets[{at}].ipv6"), no_vpc_range()));
        }
    }
}

/// Chooses the IPv6 ranges of the subnets of a new VPC with an IPv6 range. Adds an error for each range that does not
/// fit into it.
pub fn choose_ranges(
    form: &mut Form,
    vpc_range: Option<Cidr6>,
    drafts: &[Option<Draft>],
) -> Vec<Option<Cidr6>> {
    let Some(vpc_range) = vpc_range else {
        return vec![None; drafts.len()];
    };
    let requests: Vec<_> = drafts.iter().map(|draft| draft.as_ref()?.ipv6).collect();
    let placements = range_placement::place(vpc_range, &requests)
        .into_iter()
        .enumerate();
    let chosen = placements.map(|(at, placement)| {
        let reason = match placement? {
            Placement::At(range) => return Some(range),
            Placement::Outside => outside(vpc_range),
            Placement::NoRoom(prefix) => none_free(vpc_range, prefix),
        };
        form.refuse_with(|| (format!("subnets[{at}].ipv6[0].range"), reason));
        None
    });
    chosen.collect()
}

/// Inserts the subnets of a new VPC with these IPv6 ranges.
pub fn insert_all(
    tx: &mut WriteTx,
    caller: &Caller,
    vpc: &Vpc,
    new: &[NewSubnet],
    ranges: &[Option<Cidr6>],
) -> Result<Vec<Subnet>> {
    let mut inserted = Vec::with_capacity(new.len());
    for (subnet, range) in new.iter().zip(ranges) {
        inserted.push(store::subnets::insert(
            tx,
            caller.account,
            vpc.id,
            subnet,
            *range,
        )?);
    }
    Ok(inserted)
}

/// Chooses the IPv6 range of a new subnet.
fn choose_range(tx: &mut ReadTx, vpc: &Vpc, request: RangeRequest) -> Result<Result<Cidr6, Reason>> {
    let Some(vpc_range) = vpc.ipv6 else {
        return Ok(Err(no_vpc_range()));
    };
    match request {
        RangeRequest::Lowest(prefix) => {
            let lowest = store::free_ranges::lowest_free(tx, &Space::vpc(vpc.id), prefix, &[])?;
            Ok(lowest.ok_or_else(|| none_free(vpc_range, prefix)))
        }
        RangeRequest::This(range) if !vpc_range.contains(range) => Ok(Err(outside(vpc_range))),
        RangeRequest::This(range) => Ok(match store::subnets::overlapping6(tx, vpc.id, range)? {
            Some((taken, label)) => Err(overlap(taken, Some(&label))),
            None => Ok(range),
        }),
    }
}

fn outside(vpc_range: Cidr6) -> Reason {
    let text = format!("Must be inside {vpc_range}, the IPv6 range of the VPC");
    Reason::new(Code::RangeInvalid, text)
}

fn none_free(vpc_range: Cidr6, prefix: u8) -> Reason {
    let text = format!("No /{prefix} in {vpc_range} is free");
    Reason::new(Code::NoFreeRange, text)
}

fn no_vpc_range() -> Reason {
    let text = "The VPC has no IPv6 range. Omit the field";
    Reason::new(Code::RangeInvalid, text)
}

pub fn over_quota(quota: Quota) -> Reason {
    let text = format!("You may have at most {} subnets in a VPC", quota.subnets_per_vpc);
    Reason::new(Code::QuotaExceeded, text)
}

fn read_new(tx: &mut ReadTx, caller: &Caller, vpc: &Vpc, request: &Request) -> Result<NewSubnet> {
    let mut form = request.form()?;
    let mut draft = Draft::read(&mut form, tx.policy());
    if let Some(label) = &draft.label
        && store::subnets::has_label(tx, vpc.id, label, None)?
    {
        form.refuse("label", label_taken());
    }
    if let Some(range) = draft.ipv4
        && let Some(taken) = store::subnets::overlapping(tx, vpc.id, range)?.first()
    {
        form.refuse("ipv4", overlap(taken.ipv4, Some(&taken.label)));
    }
    if let Some(request) = draft.ipv6 {
        match choose_range(tx, vpc, request)? {
            Ok(range) => draft.ipv6 = Some(RangeRequest::This(range)),
            Err(reason) if vpc.ipv6.is_none() => form.refuse("ipv6", reason),
            Err(reason) => form.refuse("ipv6[0].range", reason),
        }
    }
    let quota = accounts::quota(tx, caller.account)?;
    if store::subnets::count(tx, vpc.id)? >= quota.subnets_per_vpc {
        form.refuse_whole(over_quota(quota));
    }
    form.finish(|| draft.finish())
}

fn read_change(tx: &mut ReadTx, subnet: &Subnet, request: &Request) -> Result<SubnetChange> {
    let mut form = request.form()?;
    let label = form.optional("label", Label::parse);
    if let Some(label) = &label
        && store::subnets::has_label(tx, subnet.vpc, label, Some(subnet.id))?
    {
        form.refuse("label", label_taken());
    }
    let text = "The IPv6 range of a subnet cannot be changed. Omit the field";
    not_offered::refuse_other_ranges(&mut form, "ipv6", subnet.ipv6.as_slice(), text);
    form.finish(|| Some(SubnetChange { label }))
}

fn label_taken() -> Reason {
    let text = "Label must be unique among your VPC's subnets";
    Reason::new(Code::LabelTaken, text)
}

fn overlap<F: Family>(taken: Network<F>, label: Option<&Label>) -> Reason {
    let text = match label {
        Some(label) => format!("overlaps {taken} ({})", label.as_str()),
        None => format!("overlaps {taken}"),
    };
    Reason::new(Code::CidrOverlap, text)
}
