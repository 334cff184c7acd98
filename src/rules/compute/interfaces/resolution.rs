//! Validates a parsed interface against its subnet and its instance, and assigns its address.

use super::draft::{Draft, Ipv6Draft, Nat};
use crate::model::cidr::{Cidr, Network};
use crate::model::family::{Family, V4};
use crate::model::grant::Permission;
use crate::model::id::{InstanceId, InterfaceId, SubnetId};
use crate::model::instance::Instance;
use crate::model::interface::{Interface, Ipv6Attachment, Purpose, VpcAttachment};
use crate::model::reason::{Code, Reason};
use crate::model::subnet::Subnet;
use crate::model::vpc::Vpc;
use crate::rules::addresses::{self, AddressRequest, Choice, Target};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::vpcs;
use crate::store::{self, ReadTx};

/// The instance that an interface is attached to.
pub struct TargetInstance<'a> {
    /// `None` if the instance is created together with the interface.
    pub owner: Option<InstanceId>,
    /// `None` if the region of a new instance is invalid.
    pub region: Option<&'a str>,
    /// The public addresses of the instance.
    pub public: &'a [u32],
    /// The interfaces that the new interfaces replace. A new interface in the same subnet gets the old
    /// address, unless it requests another address.
    pub current: &'a [Interface],
}

impl<'a> TargetInstance<'a> {
    pub fn of(instance: &'a Instance, current: &'a [Interface]) -> Self {
        Self {
            owner: Some(instance.id),
            region: Some(&instance.region),
            public: &instance.ipv4,
            current,
        }
    }

    /// The replaced attachment to a subnet.
    fn attachment_to(&self, subnet: SubnetId) -> Option<&VpcAttachment> {
        let mut attachments = self.current.iter().filter_map(|interface| interface.vpc.as_ref());
        attachments.find(|vpc| vpc.subnet == subnet)
    }

    /// The public address for 1:1 NAT. Fails if the requested address does not belong to the instance.
    pub(super) fn translated(&self, nat: Nat) -> Result<Option<u32>, Reason> {
        match nat {
            Nat::None => Ok(None),
            Nat::Any => Ok(self.public.first().copied()),
            Nat::Address(address) if self.owner.is_some() && self.public.contains(&address) => {
                Ok(Some(address))
            }
            Nat::Address(_) => {
                let text = "Must be \"any\" or a public address of the instance";
                Err(Reason::new(Code::NatInvalid, text))
            }
        }
    }
}

/// Resolves a draft to an interface; `None` after an error.
pub fn resolve(
    tx: &mut ReadTx,
    caller: &Caller,
    form: &mut Form,
    draft: &Draft,
    target: &TargetInstance,
) -> Result<Option<Interface>> {
    let Some(purpose) = draft.purpose else {
        return Ok(None);
    };
    let interface = Interface {
        id: InterfaceId(0),
        instance: target.owner.unwrap_or(InstanceId(0)),
        purpose,
        primary: draft.primary,
        active: false,
        label: draft.label.clone(),
        ipam_address: (purpose == Purpose::Vlan).then(|| draft.ipam_address.clone().unwrap_or_default()),
        vpc: None,
    };
    let (Purpose::Vpc, Some(subnet)) = (purpose, draft.subnet) else {
        return Ok(Some(interface));
    };
    let attachment = resolve_attachment(tx, caller, form, draft, subnet, target)?;
    Ok(attachment.map(|attachment| Interface {
        vpc: Some(attachment),
        ..interface
    }))
}

/// Resolves the VPC attachment of a draft; `None` after an error.
fn resolve_attachment(
    tx: &mut ReadTx,
    caller: &Caller,
    form: &mut Form,
    draft: &Draft,
    subnet: SubnetId,
    target: &TargetInstance,
) -> Result<Option<VpcAttachment>> {
    let Some((subnet, vpc)) = find_subnet(tx, caller, subnet)? else {
        let reason = Reason::new(Code::SubnetInvalid, "subnet_id is not valid");
        form.refuse(format!("{}subnet_id", draft.path), reason);
        return Ok(None);
    };
    let vpc_region = &vpc.region.0;
    if let Some(region) = target.region
        && vpc_region != region
    {
        let text = format!(
            "The VPC is in {vpc_region} and the instance in {region}; they must be in the same region"
        );
        form.refuse(
            format!("{}subnet_id", draft.path),
            Reason::new(Code::SubnetInvalid, text),
        );
    }
    let nat_1_1 = target.translated(draft.nat).unwrap_or_else(|reason| {
        form.refuse(format!("{}ipv4.nat_1_1", draft.path), reason);
        None
    });
    let current = target.attachment_to(subnet.id);
    let address = draft.address.or(current.map(|vpc| vpc.address));
    let on = SubnetTarget {
        path: &draft.path,
        subnet: &subnet,
        owner: target.owner,
    };
    let ipv4 = on.resolve_ipv4(tx, form, address, &draft.ranges)?;
    let ipv6 = on.resolve_ipv6(tx, form, &draft.ipv6, current.and_then(|vpc| vpc.ipv6.as_ref()))?;
    let (Some(address), Some(ipv6)) = (ipv4, ipv6) else {
        return Ok(None);
    };
    Ok(Some(VpcAttachment {
        vpc: vpc.id,
        subnet: subnet.id,
        address,
        nat_1_1,
        ranges: draft.ranges.clone(),
        ipv6,
    }))
}

/// The subnet of an interface, and the instance that requests its addresses.
pub(super) struct SubnetTarget<'a> {
    /// The prefix of the interface's field names.
    pub path: &'a str,
    pub subnet: &'a Subnet,
    pub owner: Option<InstanceId>,
}

impl SubnetTarget<'_> {
    /// The IPv4 address of the interface; `None` after an error. Without an address, it is the lowest free one.
    pub(super) fn resolve_ipv4(
        &self,
        tx: &mut ReadTx,
        form: &mut Form,
        address: Option<u32>,
        ranges: &[Cidr],
    ) -> Result<Option<u32>> {
        let named = |address| Choice::This(Cidr::around(address, V4::UNIT_PREFIX));
        let ranges: Vec<_> = ranges.iter().copied().map(Choice::This).collect();
        let request = AddressRequest {
            unit: Some(address.map_or(Choice::Lowest, named)),
            unit_field: &|| format!("{}ipv4.vpc", self.path),
            ranges: &ranges,
            range_field: &|at| format!("{}ip_ranges[{at}]", self.path),
        };
        let resolved = addresses::resolve(tx, form, &self.in_family(self.subnet.ipv4), request)?;
        Ok(resolved.and_then(|resolved| resolved.unit).map(Cidr::first))
    }

    /// The IPv6 networks of the interface; `None` after an error. A setting that the request omits has its value of
    /// `current`. Without `current`, the interface gets a network for SLAAC.
    pub(super) fn resolve_ipv6(
        &self,
        tx: &mut ReadTx,
        form: &mut Form,
        draft: &Ipv6Draft,
        current: Option<&Ipv6Attachment>,
    ) -> Result<Option<Option<Ipv6Attachment>>> {
        let Some(range) = self.subnet.ipv6 else {
            if !draft.requests_ipv6() {
                return Ok(Some(None));
            }
            let text = "The subnet has no IPv6 range. Omit the field";
            let reason = Reason::new(Code::InterfaceField, text);
            form.refuse(format!("{}ipv6", self.path), reason);
            return Ok(None);
        };
        let (slaac, ranges) = draft.choices(current);
        let request = AddressRequest {
            unit: slaac,
            unit_field: &|| format!("{}ipv6.slaac[0].range", self.path),
            ranges: &ranges,
            range_field: &|at| format!("{}ipv6.ranges[{at}].range", self.path),
        };
        let resolved = addresses::resolve(tx, form, &self.in_family(range), request)?;
        let is_public = draft.is_public.or(current.map(|current| current.is_public));
        Ok(resolved.map(|resolved| {
            Some(Ipv6Attachment {
                slaac: resolved.unit,
                ranges: resolved.ranges,
                is_public: is_public.unwrap_or(false),
            })
        }))
    }

    fn in_family<F: Family>(&self, range: Network<F>) -> Target<F> {
        Target {
            subnet: self.subnet.id,
            range,
            owner: self.owner,
        }
    }
}

/// A subnet that the caller can see, with its VPC.
fn find_subnet(tx: &mut ReadTx, caller: &Caller, id: SubnetId) -> Result<Option<(Subnet, Vpc)>> {
    let Some(subnet) = store::subnets::find_without_uses(tx, id)? else {
        return Ok(None);
    };
    match vpcs::load_without_subnets(tx, caller, subnet.vpc, Permission::ReadOnly) {
        Ok(vpc) => Ok(Some((subnet, vpc))),
        Err(Error::NotFound) => Ok(None),
        Err(other) => Err(other),
    }
}
