//! Validates a parsed interface against its subnet and its instance, and assigns its address.

use super::draft::{Draft, Nat};
use crate::model::grant::Permission;
use crate::model::id::{InstanceId, InterfaceId, SubnetId};
use crate::model::instance::Instance;
use crate::model::interface::{Interface, Purpose, VpcAttachment};
use crate::model::reason::{Code, Reason};
use crate::model::subnet::Subnet;
use crate::model::vpc::Vpc;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::{addresses, vpcs};
use crate::store::{self, ReadTx};

/// The instance that an interface is attached to.
pub struct TargetInstance<'a> {
    /// `None` if the instance is created together with the interface.
    pub owner: Option<InstanceId>,
    pub region: &'a str,
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
            region: &instance.region,
            public: &instance.ipv4,
            current,
        }
    }

    fn address_in(&self, subnet: SubnetId) -> Option<u32> {
        let attachments = self.current.iter().filter_map(|interface| interface.vpc.as_ref());
        attachments
            .filter(|vpc| vpc.subnet == subnet)
            .map(|vpc| vpc.address)
            .next()
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
    let (region, vpc_region) = (target.region, &vpc.region.0);
    if vpc_region != region {
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
    let address = draft.address.or_else(|| target.address_in(subnet.id));
    let request = addresses::AddressRequest {
        path: &draft.path,
        address,
        ranges: &draft.ranges,
    };
    let Some(address) = addresses::resolve(tx, form, &subnet, target.owner, request)? else {
        return Ok(None);
    };
    Ok(Some(VpcAttachment {
        vpc: vpc.id,
        subnet: subnet.id,
        address,
        nat_1_1,
        ranges: draft.ranges.clone(),
    }))
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
