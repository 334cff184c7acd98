//! Parses interfaces, then validates them against their subnets.

use super::MAX_INTERFACES;
use crate::model::cidr::Cidr;
use crate::model::grant::Permission;
use crate::model::id::{InstanceId, InterfaceId, SubnetId};
use crate::model::input::Input;
use crate::model::instance::Instance;
use crate::model::interface::{Interface, Purpose, VpcAttachment, parse_address};
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason};
use crate::model::subnet::Subnet;
use crate::model::vpc::Vpc;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::form::{Form, short_text};
use crate::rules::request::FromForm;
use crate::rules::{addresses, vpcs};
use crate::store::{self, ReadTx};

/// The valid fields of an interface in a request.
#[derive(Debug)]
pub struct Draft {
    /// The prefix of its field names.
    path: String,
    purpose: Option<Purpose>,
    primary: bool,
    label: Option<String>,
    ipam_address: Option<String>,
    subnet: Option<SubnetId>,
    /// Whether the request names a subnet, valid or not.
    names_subnet: bool,
    address: Option<u32>,
    nat: Nat,
    ranges: Vec<Cidr>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nat {
    None,
    Any,
    Address(u32),
}

fn read_draft(form: &mut Form) -> Draft {
    let path = form.path("");
    let purpose = form.required("purpose", Purpose::parse);
    let primary = form.boolean("primary").unwrap_or(false);
    let label = form
        .optional("label", short_text)
        .filter(|label| !label.is_empty());
    let ipam_address = form
        .optional("ipam_address", short_text)
        .filter(|address| !address.is_empty());
    let names_subnet = form.has("subnet_id");
    let subnet = form.integer("subnet_id").map(SubnetId);
    let (address, nat) = read_ipv4(form).unwrap_or_default();
    let nat = nat.unwrap_or(Nat::None);
    let ranges = read_ranges(form).unwrap_or_default();
    let draft = Draft {
        path,
        purpose,
        primary,
        label,
        ipam_address,
        subnet,
        names_subnet,
        address,
        nat,
        ranges,
    };
    refuse_wrong_fields(form, &draft);
    draft
}

impl FromForm for Draft {
    fn read(form: &mut Form, _: &Policy) -> Self {
        read_draft(form)
    }
}

/// The interfaces in a body; `None` if it has none.
pub fn read_all(form: &mut Form) -> Option<Vec<Option<Draft>>> {
    form.has("interfaces").then(|| {
        let drafts = form.first("interfaces", MAX_INTERFACES, read_draft);
        refuse_together(form, &drafts);
        drafts
    })
}

/// A change of an interface.
#[derive(Debug)]
pub struct Change {
    pub(super) primary: Option<bool>,
    pub(super) ipv4: Option<(Option<u32>, Option<Nat>)>,
    pub(super) ranges: Option<Vec<Cidr>>,
}

impl FromForm for Change {
    fn read(form: &mut Form, _: &Policy) -> Self {
        Self {
            primary: form.boolean("primary"),
            ipv4: read_ipv4(form),
            ranges: read_ranges(form),
        }
    }
}

/// A new order of interfaces.
#[derive(Debug)]
pub struct Order {
    pub(super) is_present: bool,
    pub(super) ids: Option<Vec<InterfaceId>>,
}

impl FromForm for Order {
    fn read(form: &mut Form, _: &Policy) -> Self {
        let ids = form.values("ids", "an integer", |item| match item {
            Input::Integer(id) => Some(Ok(InterfaceId(*id))),
            _ => None,
        });
        Self {
            is_present: form.has("ids"),
            ids,
        }
    }
}

/// The requested address and NAT; `None` for a field that is missing.
fn read_ipv4(form: &mut Form) -> Option<(Option<u32>, Option<Nat>)> {
    form.within("ipv4", |form| {
        let given = |raw: &str| match raw {
            "" => Ok(None),
            raw => parse_address(raw).map(Some),
        };
        let address = form.optional("vpc", given).flatten();
        let nat = form.optional("nat_1_1", |raw| match raw {
            "" => Ok(Nat::None),
            "any" => Ok(Nat::Any),
            raw => parse_address(raw).map(Nat::Address),
        });
        (address, nat)
    })
}

fn read_ranges(form: &mut Form) -> Option<Vec<Cidr>> {
    form.values("ip_ranges", "a string", |item| match item {
        Input::Text(raw) => Some(Cidr::parse(raw)),
        _ => None,
    })
}

/// Reports fields that an interface of this purpose must have or cannot have.
fn refuse_wrong_fields(form: &mut Form, draft: &Draft) {
    let Some(purpose) = draft.purpose else { return };
    let mut refuse = |name: &str, code: Code, text: &str| {
        form.refuse(format!("{}{name}", draft.path), Reason::new(code, text));
    };
    match purpose {
        Purpose::Vlan => refuse_wrong_vlan(draft, &mut refuse),
        Purpose::Public | Purpose::Vpc => refuse_vlan_fields(draft, &mut refuse),
    }
    match (purpose, draft.subnet) {
        (Purpose::Vpc, None) if !draft.names_subnet => {
            refuse("subnet_id", Code::Required, "subnet_id is required")
        }
        (Purpose::Public | Purpose::Vlan, Some(_)) => {
            refuse(
                "subnet_id",
                Code::InterfaceField,
                "Only an interface with the purpose vpc can have a subnet",
            );
        }
        _ => {}
    }
    if purpose != Purpose::Vpc {
        refuse_vpc_fields(draft, &mut refuse);
    }
}

/// Adds an error about a field of an interface.
type Refuse<'a> = dyn FnMut(&str, Code, &str) + 'a;

fn refuse_wrong_vlan(draft: &Draft, refuse: &mut Refuse) {
    let label = draft.label.as_deref().unwrap_or_default();
    let plain = label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !(1..=64).contains(&label.len()) || !plain {
        refuse(
            "label",
            Code::LabelLength,
            "The label of a VLAN must be 1 to 64 ASCII letters, digits and dashes",
        );
    }
    if draft
        .ipam_address
        .as_deref()
        .is_some_and(|raw| !is_address_with_prefix(raw))
    {
        refuse(
            "ipam_address",
            Code::AddressInvalid,
            "Must be an address with a prefix length, such as 10.0.0.1/24",
        );
    }
    if draft.primary {
        refuse(
            "primary",
            Code::PrimaryInvalid,
            "A VLAN cannot be the primary interface",
        );
    }
}

fn refuse_vlan_fields(draft: &Draft, refuse: &mut Refuse) {
    if draft.label.is_some() {
        refuse(
            "label",
            Code::InterfaceField,
            "Only a VLAN interface can have a label",
        );
    }
    if draft.ipam_address.is_some() {
        refuse(
            "ipam_address",
            Code::InterfaceField,
            "Only a VLAN interface can have an ipam_address",
        );
    }
}

fn refuse_vpc_fields(draft: &Draft, refuse: &mut Refuse) {
    if draft.address.is_some() || draft.nat != Nat::None {
        refuse(
            "ipv4",
            Code::InterfaceField,
            "Only an interface with the purpose vpc can have ipv4 settings",
        );
    }
    if !draft.ranges.is_empty() {
        refuse(
            "ip_ranges",
            Code::InterfaceField,
            "Only an interface with the purpose vpc can have ip_ranges",
        );
    }
}

/// `10.0.0.1/24`: unlike a network, it may have host bits.
fn is_address_with_prefix(raw: &str) -> bool {
    let Some((address, prefix)) = raw.split_once('/') else {
        return false;
    };
    let good = prefix
        .parse::<u8>()
        .is_ok_and(|bits| bits <= 32 && bits.to_string() == prefix);
    good && parse_address(address).is_ok()
}

/// Reports conflicts between the interfaces of one config.
fn refuse_together(form: &mut Form, drafts: &[Option<Draft>]) {
    if form.count("interfaces") > MAX_INTERFACES {
        let text = format!("A config can have at most {MAX_INTERFACES} interfaces");
        form.refuse("interfaces", Reason::new(Code::InterfaceCount, text));
    }
    for (at, draft) in drafts.iter().enumerate() {
        let Some(draft) = draft else { continue };
        let earlier = || drafts[..at].iter().flatten();
        let same = earlier().any(|other| other.purpose == draft.purpose);
        refuse_second(form, draft, same);
        if draft.label.is_some() && earlier().any(|other| other.label == draft.label) {
            let text = "A config can have only one interface for each VLAN";
            form.refuse(
                format!("{}label", draft.path),
                Reason::new(Code::InterfaceCount, text),
            );
        }
        if draft.primary && earlier().any(|other| other.primary) {
            let text = "Only one interface of a config can be primary";
            form.refuse(
                format!("{}primary", draft.path),
                Reason::new(Code::PrimaryInvalid, text),
            );
        }
    }
}

pub(super) fn refuse_conflicts_with(form: &mut Form, draft: &Draft, present: &[Interface]) {
    if present.len() >= MAX_INTERFACES {
        let text = format!("A config can have at most {MAX_INTERFACES} interfaces");
        form.refuse_whole(Reason::new(Code::InterfaceCount, text));
    }
    let same = present.iter().any(|other| Some(other.purpose) == draft.purpose);
    refuse_second(form, draft, same);
}

/// A config can have at most one public interface and one VPC interface.
fn refuse_second(form: &mut Form, draft: &Draft, same: bool) {
    let text = match draft.purpose {
        Some(Purpose::Public) if same => "A config can have at most one public interface",
        Some(Purpose::Vpc) if same => "A config can have at most one vpc interface",
        _ => return,
    };
    form.refuse(
        format!("{}purpose", draft.path),
        Reason::new(Code::InterfaceCount, text),
    );
}

/// The instance that an interface is attached to.
pub struct Site<'a> {
    /// `None` for an instance that is created with the interface.
    pub owner: Option<InstanceId>,
    pub region: &'a str,
    /// The public addresses of the instance.
    pub public: &'a [u32],
    /// The current interfaces: one that remains keeps its address.
    pub present: &'a [Interface],
}

impl<'a> Site<'a> {
    pub fn of(instance: &'a Instance, present: &'a [Interface]) -> Self {
        Self {
            owner: Some(instance.id),
            region: &instance.region,
            public: &instance.ipv4,
            present,
        }
    }

    fn address_in(&self, subnet: SubnetId) -> Option<u32> {
        let attachments = self.present.iter().filter_map(|interface| interface.vpc.as_ref());
        attachments
            .filter(|vpc| vpc.subnet == subnet)
            .map(|vpc| vpc.address)
            .next()
    }

    /// The public address for 1:1 NAT; an error if the instance does not have it.
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
    on: &Site,
) -> Result<Option<Interface>> {
    let Some(purpose) = draft.purpose else {
        return Ok(None);
    };
    let plain = Interface {
        id: InterfaceId(0),
        purpose,
        primary: draft.primary,
        active: false,
        label: draft.label.clone(),
        ipam_address: (purpose == Purpose::Vlan).then(|| draft.ipam_address.clone().unwrap_or_default()),
        vpc: None,
    };
    let (Purpose::Vpc, Some(subnet)) = (purpose, draft.subnet) else {
        return Ok(Some(plain));
    };
    let attachment = resolve_attachment(tx, caller, form, draft, subnet, on)?;
    Ok(attachment.map(|attachment| Interface {
        vpc: Some(attachment),
        ..plain
    }))
}

/// Resolves the VPC attachment of a draft; `None` after an error.
fn resolve_attachment(
    tx: &mut ReadTx,
    caller: &Caller,
    form: &mut Form,
    draft: &Draft,
    subnet: SubnetId,
    on: &Site,
) -> Result<Option<VpcAttachment>> {
    let Some((subnet, vpc)) = find_subnet(tx, caller, subnet)? else {
        let reason = Reason::new(Code::SubnetInvalid, "subnet_id is not valid");
        form.refuse(format!("{}subnet_id", draft.path), reason);
        return Ok(None);
    };
    let (region, vpc_region) = (on.region, &vpc.region.0);
    if vpc_region != region {
        let text = format!(
            "The VPC is in {vpc_region} and the instance in {region}; they must be in the same region"
        );
        form.refuse(
            format!("{}subnet_id", draft.path),
            Reason::new(Code::SubnetInvalid, text),
        );
    }
    let nat_1_1 = on.translated(draft.nat).unwrap_or_else(|reason| {
        form.refuse(format!("{}ipv4.nat_1_1", draft.path), reason);
        None
    });
    let address = draft.address.or_else(|| on.address_in(subnet.id));
    let request = addresses::AddressRequest {
        path: &draft.path,
        address,
        ranges: &draft.ranges,
    };
    let Some(address) = addresses::resolve(tx, form, &subnet, on.owner, request)? else {
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
