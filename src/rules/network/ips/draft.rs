//! Parses requests about addresses.

use std::net::Ipv4Addr;

use crate::model::interface::parse_address;
use crate::model::ip::IpKind;
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason, Reasons};
use crate::rules::form::Form;
use crate::rules::request::FromForm;

/// A new address for an instance that the body names.
#[derive(Debug)]
pub struct Allocation {
    pub kind: Option<IpKind>,
    /// The ID, and the name of the field that it was sent in.
    pub instance: Option<(&'static str, i64)>,
    pub region: Option<String>,
}

impl FromForm for Allocation {
    fn read(form: &mut Form, policy: &Policy) -> Self {
        form.required("type", parse_type);
        let kind = read_kind(form);
        let instance = form.integer_in_either("linode_id", "compute_id");
        let region = form.optional("region", |raw| policy.region(raw));
        let reserved = form.boolean("reserved").unwrap_or(false);
        let names_instance = form.has("linode_id") || form.has("compute_id");
        if reserved {
            refuse_reserved(form);
        } else if !names_instance {
            let text = "Linode is a required argument when not reserving an IP address.";
            form.refuse("linode_id", Reason::new(Code::Required, text));
        }
        Self {
            kind,
            instance,
            region: region.map(|region| region.0),
        }
    }
}

/// A new address for the instance in the URL.
#[derive(Debug)]
pub struct Addition {
    pub kind: Option<IpKind>,
    pub address: Option<Ipv4Addr>,
}

impl FromForm for Addition {
    fn read(form: &mut Form, _: &Policy) -> Self {
        form.required("type", parse_type);
        let kind = read_kind(form);
        let address = form.optional("address", |raw| {
            parse_address(raw).map_err(|_| {
                let text = "Must provide a valid reserved address";
                vec![Reason::new(Code::AddressInvalid, text)]
            })
        });
        Self {
            kind,
            address: address.map(Ipv4Addr::from_bits),
        }
    }
}

/// Adds the error about a request to reserve an address.
pub fn refuse_reserved(form: &mut Form) {
    let text = "Garth has no reserved addresses: leave this field out, or send false";
    form.refuse("reserved", Reason::new(Code::NotOffered, text));
}

fn parse_type(raw: &str) -> Result<(), Reasons> {
    match raw {
        "ipv4" => Ok(()),
        _ => {
            let text = "Only addresses of type ipv4 are currently supported.";
            Err(vec![Reason::new(Code::ChoiceInvalid, text)])
        }
    }
}

fn read_kind(form: &mut Form) -> Option<IpKind> {
    let public = form.boolean("public");
    if !form.has("public") {
        form.refuse("public", Reason::new(Code::Required, "public is required"));
    }
    public.map(|public| match public {
        true => IpKind::Public,
        false => IpKind::Private,
    })
}
