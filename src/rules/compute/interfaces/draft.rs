//! The interfaces of a request, parsed before the transaction.

use super::draft_checks::{refuse_together, refuse_wrong_fields};
use crate::model::cidr::{Cidr, Cidr6};
use crate::model::family::V6;
use crate::model::id::{InterfaceId, SubnetId};
use crate::model::input::Input;
use crate::model::interface::{Ipv6Attachment, Purpose, parse_address};
use crate::model::policy::Policy;
use crate::model::range_request::{OF_INTERFACES, RangeRequest};
use crate::model::reason::{Code, Reason};
use crate::rules::addresses::Choice;
use crate::rules::form::{Form, short_text};
use crate::rules::request::FromForm;

/// The maximum number of interfaces of a config.
pub(super) const MAX_INTERFACES: usize = 3;
/// The maximum number of routed ranges of an interface in each family. Each range is compared with the other ranges of the
/// subnet, on the writer's thread.
const MAX_RANGES: usize = 100;

/// The valid fields of an interface in a request.
#[derive(Debug)]
pub struct Draft {
    /// The prefix of its field names.
    pub(super) path: String,
    pub(super) purpose: Option<Purpose>,
    pub(super) primary: bool,
    pub(super) label: Option<String>,
    pub(super) ipam_address: Option<String>,
    pub(super) subnet: Option<SubnetId>,
    /// Whether the request names a subnet, valid or not.
    pub(super) names_subnet: bool,
    pub(super) address: Option<u32>,
    pub(super) nat: Nat,
    pub(super) ranges: Vec<Cidr>,
    pub(super) ipv6: Ipv6Draft,
}

/// The IPv6 settings of an interface in a request. `None` for a missing field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ipv6Draft {
    /// The network for SLAAC. The list has at most one element.
    pub(super) slaac: Option<Vec<Choice<V6>>>,
    pub(super) ranges: Option<Vec<Choice<V6>>>,
    pub(super) is_public: Option<bool>,
}

impl Ipv6Draft {
    /// Whether the settings request a network or public access.
    pub(super) fn requests_ipv6(&self) -> bool {
        let has_any = |networks: &Option<Vec<_>>| networks.as_ref().is_some_and(|all| !all.is_empty());
        has_any(&self.slaac) || has_any(&self.ranges) || self.is_public == Some(true)
    }

    /// Whether the settings leave the current networks and access as they are.
    pub(super) fn keeps(&self, current: Option<&Ipv6Attachment>) -> bool {
        let Some(held) = current else {
            return !self.requests_ipv6();
        };
        let (slaac, ranges) = self.choices(current);
        let held_ranges = held.ranges.iter().copied().map(Choice::This);
        slaac == held.slaac.map(Choice::This)
            && ranges.into_iter().eq(held_ranges)
            && self.is_public.is_none_or(|is_public| is_public == held.is_public)
    }

    /// The networks to request: the network for SLAAC, and the routed networks. `auto` means the current network at
    /// the same position, if there is one and the request does not name it elsewhere.
    pub(super) fn choices(&self, current: Option<&Ipv6Attachment>) -> (Option<Choice<V6>>, Vec<Choice<V6>>) {
        let all = || self.slaac.iter().chain(&self.ranges).flatten();
        let keep = |choice: &Choice<V6>, held: Option<Cidr6>| {
            let held = held
                .map(Choice::This)
                .filter(|held| !all().any(|named| named == held));
            match choice {
                Choice::Lowest => held.unwrap_or(Choice::Lowest),
                Choice::This(_) => *choice,
            }
        };
        let held_slaac = current.and_then(|current| current.slaac);
        let held = current.map_or(&[][..], |current| &current.ranges);
        let slaac = match &self.slaac {
            Some(choices) => choices.first().map(|choice| keep(choice, held_slaac)),
            None if current.is_none() => Some(Choice::Lowest),
            None => held_slaac.map(Choice::This),
        };
        let ranges = match &self.ranges {
            Some(choices) => {
                let held = held.iter().copied().map(Some).chain(std::iter::repeat(None));
                choices
                    .iter()
                    .zip(held)
                    .map(|(choice, held)| keep(choice, held))
                    .collect()
            }
            None => held.iter().copied().map(Choice::This).collect(),
        };
        (slaac, ranges)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nat {
    None,
    /// Any public address of the instance.
    Any,
    Address(u32),
}

fn read_draft(form: &mut Form) -> Draft {
    let path = form.path("");
    let purpose = form.required("purpose", Purpose::parse);
    let primary = form.boolean("primary").unwrap_or(false);
    let label = read_text(form, "label");
    let ipam_address = read_text(form, "ipam_address");
    let names_subnet = form.has("subnet_id");
    let subnet = form.integer("subnet_id").map(SubnetId);
    let (address, nat) = read_ipv4(form).unwrap_or_default();
    let nat = nat.unwrap_or(Nat::None);
    let ranges = read_ranges(form).unwrap_or_default();
    let ipv6 = read_ipv6(form);
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
        ipv6,
    };
    refuse_wrong_fields(form, &draft);
    draft
}

/// A text that is not empty.
fn read_text(form: &mut Form, name: &'static str) -> Option<String> {
    form.optional(name, short_text).filter(|text| !text.is_empty())
}

impl FromForm for Draft {
    fn read(form: &mut Form, _: &Policy) -> Self {
        read_draft(form)
    }
}

/// The interfaces in a body; `None` if the field is missing.
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
    pub(super) fixed: FixedFields,
    pub(super) primary: Option<bool>,
    pub(super) ipv4: Option<(Option<u32>, Option<Nat>)>,
    pub(super) ranges: Option<Vec<Cidr>>,
    pub(super) ipv6: Ipv6Draft,
}

/// The fields of an interface that cannot be changed. Clients send them back unchanged.
#[derive(Debug)]
pub(super) struct FixedFields {
    pub(super) purpose: Option<Purpose>,
    pub(super) label: Option<String>,
    pub(super) ipam_address: Option<String>,
    pub(super) subnet: Option<SubnetId>,
}

impl FromForm for Change {
    fn read(form: &mut Form, _: &Policy) -> Self {
        let purpose = form.optional("purpose", Purpose::parse);
        let primary = form.boolean("primary");
        let fixed = FixedFields {
            purpose,
            label: read_text(form, "label"),
            ipam_address: read_text(form, "ipam_address"),
            subnet: form.integer("subnet_id").map(SubnetId),
        };
        Self {
            fixed,
            primary,
            ipv4: read_ipv4(form),
            ranges: read_ranges(form),
            ipv6: read_ipv6(form),
        }
    }
}

/// A new order of interfaces.
#[derive(Debug)]
pub struct Order {
    /// Whether the request has the field `ids`, valid or not.
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

/// The requested address and NAT; `None` for a missing field.
fn read_ipv4(form: &mut Form) -> Option<(Option<u32>, Option<Nat>)> {
    form.within("ipv4", |form| {
        let parse_if_not_empty = |raw: &str| match raw {
            "" => Ok(None),
            raw => parse_address(raw).map(Some),
        };
        let address = form.optional("vpc", parse_if_not_empty).flatten();
        let nat = form.optional("nat_1_1", |raw| match raw {
            "" => Ok(Nat::None),
            "any" => Ok(Nat::Any),
            raw => parse_address(raw).map(Nat::Address),
        });
        (address, nat)
    })
}

fn read_ipv6(form: &mut Form) -> Ipv6Draft {
    let draft = form.within("ipv6", |form| Ipv6Draft {
        slaac: read_networks(form, "slaac"),
        ranges: read_networks(form, "ranges"),
        is_public: form.boolean("is_public"),
    });
    let draft = draft.unwrap_or_default();
    if draft.slaac.as_ref().is_some_and(|all| all.len() > 1) {
        let text = "ipv6.slaac field must have zero or one entry";
        form.refuse(form.path("ipv6.slaac"), Reason::new(Code::OutOfRange, text));
    }
    draft
}

/// Reads a list of objects, each with the field `range`. An object without `range` means `auto`.
fn read_networks(form: &mut Form, name: &'static str) -> Option<Vec<Choice<V6>>> {
    if !form.has(name) {
        return None;
    }
    let read = |item: &mut Form| {
        let request = item.optional("range", |raw| RangeRequest::parse(raw, &OF_INTERFACES))?;
        Some(match request {
            RangeRequest::This(range) => Choice::This(range),
            RangeRequest::Lowest(_) => Choice::Lowest,
        })
    };
    if form.count(name) > MAX_RANGES {
        form.refuse(form.path(name), too_many_ranges());
    }
    let items = form.first(name, MAX_RANGES, |item| read(item).unwrap_or(Choice::Lowest));
    Some(items.into_iter().flatten().collect())
}

fn too_many_ranges() -> Reason {
    let text = format!("An interface can have at most {MAX_RANGES} ranges");
    Reason::new(Code::RangeCount, text)
}

fn read_ranges(form: &mut Form) -> Option<Vec<Cidr>> {
    if form.count("ip_ranges") > MAX_RANGES {
        let path = form.path("ip_ranges");
        form.refuse(path, too_many_ranges());
    }
    let mut ranges = form.values("ip_ranges", "a string", |item| match item {
        Input::Text(raw) => Some(Cidr::parse(raw)),
        _ => None,
    })?;
    // The transaction looks up each range, also if the request has errors.
    ranges.truncate(MAX_RANGES);
    Some(ranges)
}
