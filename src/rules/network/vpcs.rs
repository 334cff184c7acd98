//! VPCs: list, create, view, update, delete (interface §4.1).

use crate::model::cidr::Network;
use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::grant::{Global, GrantKind, Permission};
use crate::model::id::VpcId;
use crate::model::input::Input;
use crate::model::label::Label;
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::model::range_request::RangeRequest;
use crate::model::reason::{Code, Reason};
use crate::model::region::RegionId;
use crate::model::text::Description;
use crate::model::vpc::{NewVpc, Vpc, VpcChange};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::request::{Drafted, FromForm, Request};
use crate::rules::{event_changes, events, ipv6_prefixes, not_offered, subnets};
use crate::store::stored_family::StoredFamily;
use crate::store::{self, ReadTx, WriteTx};

pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<Vpc>> {
    let query = list.read(tx.policy(), &store::vpcs::FIELDS)?;
    Ok(store::vpcs::list(
        tx,
        caller.account,
        caller.visibility(),
        &query,
    )?)
}

/// The VPCs that have addresses of a range.
pub fn list_in_range<F: StoredFamily>(
    tx: &mut ReadTx,
    caller: &Caller,
    list: &ListRequest,
    range: Network<F>,
) -> Result<Paged<Vpc>> {
    let query = list.read(tx.policy(), &store::vpcs::FIELDS)?;
    let (account, visibility) = (caller.account, caller.visibility());
    Ok(store::vpcs::list_in_range(
        tx, account, visibility, range, &query,
    )?)
}

/// Creates a VPC together with its first subnets, or nothing.
pub fn create(tx: &mut WriteTx, caller: &Caller, request: &Drafted<Draft>) -> Result<Vpc> {
    caller.require_global_grant(Global::AddVpcs)?;
    let (draft, mut form) = validate(tx, caller, request)?;
    let ipv6 = match draft.ipv6 {
        Some(request) => ipv6_prefixes::choose(tx, caller, &mut form, draft.region.as_ref(), request)?,
        None => None,
    };
    let ranges = subnets::choose_ranges(&mut form, ipv6, &draft.subnets);
    let new = form.finish(|| draft.finish())?;

    let mut vpc = store::vpcs::insert(tx, caller.account, &new, ipv6)?;
    if let Some(range) = ipv6 {
        store::ipv6_prefixes::assign(tx, caller.account, vpc.id, range)?;
    }
    vpc.subnets = subnets::insert_all(tx, caller, &vpc, &new.subnets, &ranges)?;
    if caller.is_restricted() {
        store::grants::set(tx, caller.user(), GrantKind::Vpc, vpc.id.0, Permission::ReadWrite)?;
    }

    events::record_vpc(tx, caller, Action::VpcCreate, &vpc)?;
    for subnet in &vpc.subnets {
        events::record_subnet(tx, caller, Action::SubnetCreate, subnet, &vpc)?;
    }
    Ok(vpc)
}

/// Validates like `create` without changing anything, except that no IPv6 ranges are chosen.
pub fn check(tx: &mut ReadTx, caller: &Caller, request: &Drafted<Draft>) -> Result<NewVpc> {
    caller.require_global_grant(Global::AddVpcs)?;
    let (draft, form) = validate(tx, caller, request)?;
    form.finish(|| draft.finish())
}

pub fn view(tx: &mut ReadTx, caller: &Caller, id: VpcId) -> Result<Vpc> {
    load_for(tx, caller, id, Permission::ReadOnly)
}

pub fn update(tx: &mut WriteTx, caller: &Caller, id: VpcId, request: &Request) -> Result<Vpc> {
    let mut vpc = load_for(tx, caller, id, Permission::ReadWrite)?;
    request.check_if_match(&vpc)?;
    let change = read_change(tx, caller, &vpc, request)?;

    let before = (vpc.label.clone(), vpc.description.clone());
    vpc.label = change.label.unwrap_or(vpc.label);
    vpc.description = change.description.unwrap_or(vpc.description);
    vpc.updated = tx.now_after(vpc.updated);
    store::vpcs::update(tx, caller.account, &vpc)?;
    store::tickets::rename_entity(tx, caller.account, &Entity::vpc(&vpc))?;
    let changes = event_changes::of_vpc((&before.0, &before.1), &vpc);
    events::record_vpc_update(tx, caller, &vpc, &changes)?;
    Ok(vpc)
}

/// Deletes a VPC with all its subnets, or nothing (interface §3, rule 3).
pub fn delete(tx: &mut WriteTx, caller: &Caller, id: VpcId, request: &Request) -> Result<()> {
    let vpc = load_for(tx, caller, id, Permission::ReadWrite)?;
    request.check_if_match(&vpc)?;
    request.require_valid_body()?;
    subnets::refuse_if_used(tx, caller, &vpc.subnets)?;

    for subnet in &vpc.subnets {
        store::subnets::delete(tx, caller.account, subnet)?;
        events::record_subnet(tx, caller, Action::SubnetDelete, subnet, &vpc)?;
    }
    if vpc.ipv6.is_some() {
        store::ipv6_prefixes::release(tx, id)?;
    }
    store::vpcs::delete(tx, caller.account, &vpc)?;
    events::record_vpc(tx, caller, Action::VpcDelete, &vpc)
}

/// The VPC, if the caller has this permission on it.
pub fn load_for(tx: &mut ReadTx, caller: &Caller, id: VpcId, access: Permission) -> Result<Vpc> {
    if caller.is_restricted() {
        // The subnets are read only if the caller has the permission.
        load_without_subnets(tx, caller, id, access)?;
    }
    store::vpcs::find(tx, caller.account, id)?.ok_or(Error::NotFound)
}

/// The VPC without its subnets.
pub fn load_without_subnets(tx: &mut ReadTx, caller: &Caller, id: VpcId, access: Permission) -> Result<Vpc> {
    let vpc = store::vpcs::find_without_subnets(tx, caller.account, id)?.ok_or(Error::NotFound)?;
    caller.require_permission(tx, GrantKind::Vpc, id.0, access)?;
    Ok(vpc)
}

/// The valid fields of a new VPC.
#[derive(Debug)]
pub struct Draft {
    label: Option<Label>,
    region: Option<RegionId>,
    description: Option<Description>,
    ipv6: Option<RangeRequest>,
    subnets: Vec<Option<subnets::Draft>>,
}

impl FromForm for Draft {
    fn read(form: &mut Form, policy: &Policy) -> Self {
        let label = form.required("label", Label::parse);
        let region = form.required("region", |raw| policy.vpc_region(raw));
        let description = form.optional("description", Description::parse);
        let subnets = form.list("subnets", |item| subnets::Draft::read(item, policy));
        subnets::refuse_clashes(form, &subnets);
        let ipv6 = ipv6_prefixes::read(form, policy, region.as_ref());
        if form.count("ipv6") == 0 {
            subnets::refuse_ipv6(form, &subnets);
        }
        refuse_not_offered(form, policy, None);
        Self {
            label,
            region,
            description,
            ipv6,
            subnets,
        }
    }
}

impl Draft {
    fn finish(&self) -> Option<NewVpc> {
        Some(NewVpc {
            label: self.label.clone()?,
            region: self.region.clone()?,
            description: self.description.clone().unwrap_or_default(),
            ipv6: self.ipv6,
            subnets: self
                .subnets
                .iter()
                .map(|draft| draft.as_ref()?.finish())
                .collect::<Option<_>>()?,
        })
    }
}

/// The draft, and a form with all errors that do not depend on the IPv6 range of the VPC.
fn validate<'a>(
    tx: &mut ReadTx,
    caller: &Caller,
    request: &'a Drafted<Draft>,
) -> Result<(&'a Draft, Form<'static>)> {
    let (draft, mut form) = request.open()?;
    let limits =
        store::vpcs::creation_limits(tx, caller.account, draft.label.as_ref(), draft.region.as_ref())?;
    let quota = limits.quota.over(tx.policy().quota);
    if limits.label_is_taken {
        form.refuse("label", label_taken());
    }
    if draft.region.is_some() && limits.in_region >= quota.vpcs_per_region {
        let text = format!("You may have at most {} VPCs in a region", quota.vpcs_per_region);
        form.refuse_whole(Reason::new(Code::QuotaExceeded, text));
    }
    if draft.subnets.len() as i64 > quota.subnets_per_vpc {
        form.refuse_whole(subnets::over_quota(quota));
    }
    Ok((draft, form))
}

fn read_change(tx: &mut ReadTx, caller: &Caller, vpc: &Vpc, request: &Request) -> Result<VpcChange> {
    let mut form = request.form()?;
    let label = form.optional("label", Label::parse);
    let description = form.optional("description", Description::parse);
    if let Some(label) = &label
        && store::vpcs::has_label(tx, caller.account, label, Some(vpc.id))?
    {
        form.refuse("label", label_taken());
    }
    refuse_not_offered(&mut form, tx.policy(), Some(vpc));
    form.finish(|| Some(VpcChange { label, description }))
}

/// Refuses values that Garth does not offer, or that an existing VPC cannot change to. Clients send the fields of a
/// response back, so unchanged values are accepted.
fn refuse_not_offered(form: &mut Form, policy: &Policy, existing: Option<&Vpc>) {
    let text = "Customer defined IPv4 ranges are not supported in this region";
    // An empty list means that the VPC has no custom ranges.
    if form.value("ipv4") != Some(&Input::List(Vec::new())) {
        not_offered::refuse_other_ranges(form, "ipv4", &policy.default_ranges, text);
    }
    if let Some(vpc) = existing {
        let text = "The IPv6 range of a VPC cannot be changed. Omit the field";
        not_offered::refuse_other_ranges(form, "ipv6", vpc.ipv6.as_slice(), text);
    } else if form.count("ipv6") > 0 && form.value("vpc_type") == Some(&Input::Text("rdma".to_owned())) {
        let reason = Reason::new(Code::NotOffered, "RDMA VPCs cannot have IPv6 ranges");
        form.refuse("ipv6", reason);
    }
    not_offered::refuse_other_than(
        form,
        "vpc_type",
        Vpc::TYPE,
        "Must be regular, the only type of VPC",
    );
}

fn label_taken() -> Reason {
    Reason::new(Code::LabelTaken, "Label must be unique among your VPCs")
}
