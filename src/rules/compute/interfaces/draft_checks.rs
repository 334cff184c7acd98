//! Checks that an interface has the fields of its purpose, and that a config can have all its interfaces
//! together.

use super::draft::{Draft, FixedFields, MAX_INTERFACES, Nat};
use crate::model::interface::{Interface, Purpose, parse_address};
use crate::model::reason::{Code, Reason};
use crate::rules::form::Form;

/// Adds errors about missing fields, and about fields that an interface with this purpose cannot have.
pub(super) fn refuse_wrong_fields(form: &mut Form, draft: &Draft) {
    let Some(purpose) = draft.purpose else { return };
    let mut refuse = |name: &str, code: Code, text: &str| {
        form.refuse(format!("{}{name}", draft.path), Reason::new(code, text));
    };
    match purpose {
        Purpose::Vlan => refuse_invalid_vlan(draft, &mut refuse),
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

fn refuse_invalid_vlan(draft: &Draft, refuse: &mut Refuse) {
    let label = draft.label.as_deref().unwrap_or_default();
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let text = "The label of a VLAN must be 1 to 64 ASCII letters, digits and dashes";
    if !(1..=64).contains(&label.chars().count()) {
        refuse("label", Code::LabelLength, text);
    } else if !label.chars().all(is_allowed) {
        refuse("label", Code::LabelCharacters, text);
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
    if draft.ipv6.requests_ipv6() {
        refuse(
            "ipv6",
            Code::InterfaceField,
            "Only an interface with the purpose vpc can have ipv6 settings",
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

/// Whether a text is an address with a prefix length, such as `10.0.0.1/24`. Host bits are allowed.
fn is_address_with_prefix(raw: &str) -> bool {
    let Some((address, prefix)) = raw.split_once('/') else {
        return false;
    };
    let is_prefix = prefix
        .parse::<u8>()
        .is_ok_and(|bits| bits <= 32 && bits.to_string() == prefix);
    is_prefix && parse_address(address).is_ok()
}

/// Adds an error for each field that would change a fixed property of an interface.
pub(super) fn refuse_changes(form: &mut Form, fixed: &FixedFields, interface: &Interface) {
    let subnet = interface.vpc.as_ref().map(|vpc| vpc.subnet);
    let is_other = |sent: &Option<String>, held: &Option<String>| sent.is_some() && sent != held;
    for (name, is_changed) in [
        (
            "purpose",
            fixed.purpose.is_some_and(|purpose| purpose != interface.purpose),
        ),
        ("label", is_other(&fixed.label, &interface.label)),
        (
            "ipam_address",
            is_other(&fixed.ipam_address, &interface.ipam_address),
        ),
        ("subnet_id", fixed.subnet.is_some() && fixed.subnet != subnet),
    ] {
        if is_changed {
            let text = format!(
                "The {name} of an interface cannot be changed. Omit the field, or delete the interface and create another one"
            );
            form.refuse(name, Reason::new(Code::InterfaceField, text));
        }
    }
}

/// Adds errors about conflicts between the interfaces of one config.
pub(super) fn refuse_together(form: &mut Form, drafts: &[Option<Draft>]) {
    if form.count("interfaces") > MAX_INTERFACES {
        let text = format!("A config can have at most {MAX_INTERFACES} interfaces");
        form.refuse("interfaces", Reason::new(Code::InterfaceCount, text));
    }
    for (at, draft) in drafts.iter().enumerate() {
        let Some(draft) = draft else { continue };
        let earlier = || drafts[..at].iter().flatten();
        let has_same_purpose = earlier().any(|other| other.purpose == draft.purpose);
        refuse_second(form, draft, has_same_purpose);
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

/// Adds errors about conflicts between a new interface and the current interfaces of its config.
pub(super) fn refuse_conflicts_with(form: &mut Form, draft: &Draft, current: &[Interface]) {
    if current.len() >= MAX_INTERFACES {
        let text = format!("A config can have at most {MAX_INTERFACES} interfaces");
        form.refuse_whole(Reason::new(Code::InterfaceCount, text));
    }
    let has_same_purpose = current.iter().any(|other| Some(other.purpose) == draft.purpose);
    refuse_second(form, draft, has_same_purpose);
}

/// Refuses a second public interface, and a second VPC interface.
fn refuse_second(form: &mut Form, draft: &Draft, has_same_purpose: bool) {
    let text = match draft.purpose {
        Some(Purpose::Public) if has_same_purpose => "A config can have at most one public interface",
        Some(Purpose::Vpc) if has_same_purpose => "A config can have at most one vpc interface",
        _ => return,
    };
    form.refuse(
        format!("{}purpose", draft.path),
        Reason::new(Code::InterfaceCount, text),
    );
}
