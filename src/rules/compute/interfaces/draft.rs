//! The interfaces of a request, parsed before the transaction.

use super::draft_checks::{refuse_together, refuse_wrong_fields};
use crate::model::cidr::Cidr;
use crate::model::id::{InterfaceId, SubnetId};
use crate::model::input::Input;
use crate::model::interface::{Purpose, parse_address};
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason};
use crate::rules::form::{Form, short_text};
use crate::rules::request::FromForm;

/// The maximum number of interfaces of a config.
pub(super) const MAX_INTERFACES: usize = 3;
/// The maximum number of routed ranges of an interface. Each range is compared with the other ranges of the subnet, on
/// the writer's thread.
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

fn read_ranges(form: &mut Form) -> Option<Vec<Cidr>> {
    if form.count("ip_ranges") > MAX_RANGES {
        let text = format!("An interface can have at most {MAX_RANGES} ranges");
        let path = form.path("ip_ranges");
        form.refuse(path, Reason::new(Code::RangeCount, text));
    }
    let mut ranges = form.values("ip_ranges", "a string", |item| match item {
        Input::Text(raw) => Some(Cidr::parse(raw)),
        _ => None,
    })?;
    // The transaction looks up each range, also if the request has errors.
    ranges.truncate(MAX_RANGES);
    Some(ranges)
}
