//! Parses requests about addresses.

use std::net::Ipv4Addr;

use crate::model::grant::{GrantKind, Permission};
use crate::model::id::InstanceId;
use crate::model::input::Input;
use crate::model::interface::parse_address;
use crate::model::ip::IpKind;
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason, Reasons};
use crate::rules::caller::Caller;
use crate::rules::error::Result;
use crate::rules::form::Form;
use crate::rules::request::FromForm;
use crate::store::{self, ReadTx};

/// The maximum number of addresses that one request moves or shares.
const MAX_ITEMS: usize = 100;

/// A new address for an instance that the body names.
#[derive(Debug)]
pub struct Allocation {
    pub kind: Option<IpKind>,
    /// The ID, and the name of the field that it was sent in.
    pub instance: Option<(&'static str, i64)>,
    pub region: Option<String>,
    pub reserved: bool,
}

impl FromForm for Allocation {
    fn read(form: &mut Form, policy: &Policy) -> Self {
        form.required("type", parse_type);
        let kind = read_kind(form);
        let instance = form.integer_in_either("linode_id", "compute_id");
        let region = form.optional("region", |raw| policy.region(raw));
        let reserved = form.boolean("reserved").unwrap_or(false);
        let names_instance = form.has("linode_id") || form.has("compute_id");
        if reserved && !names_instance && !form.has("region") {
            let text = "A datacenter or a Linode must be provided when reserving an address.";
            form.refuse_whole(Reason::new(Code::Required, text));
        } else if !reserved && !names_instance {
            let text = "Linode is a required argument when not reserving an IP address.";
            form.refuse("linode_id", Reason::new(Code::Required, text));
        }
        if reserved && kind == Some(IpKind::Private) {
            let text = "Cannot reserve a private address.";
            form.refuse("public", Reason::new(Code::ChoiceInvalid, text));
        }
        Self {
            kind,
            instance,
            region: region.map(|region| region.0),
            reserved,
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

/// Addresses to move, and the instances to move them to.
#[derive(Debug)]
pub struct Assignment(Vec<Option<(Option<u32>, Option<i64>)>>);

impl FromForm for Assignment {
    fn read(form: &mut Form, policy: &Policy) -> Self {
        form.required("region", |raw| policy.region(raw));
        if !form.has("assignments") {
            form.refuse(
                "assignments",
                Reason::new(Code::Required, "assignments is required"),
            );
        }
        refuse_too_many(form, "assignments");
        let items = form.first("assignments", MAX_ITEMS, |item| {
            let address = item.required("address", parse_address);
            (address, item.required_integer("linode_id"))
        });
        Self(items)
    }
}

impl Assignment {
    /// Refuses addresses and instances that the caller cannot see.
    pub fn check(&self, tx: &mut ReadTx, caller: &Caller, form: &mut Form) -> Result<()> {
        for (at, item) in self.0.iter().enumerate() {
            let Some((address, instance)) = item else { continue };
            if let Some(address) = address {
                check_address(tx, caller, form, *address, &format!("assignments[{at}].address"))?;
            }
            if let Some(instance) = instance {
                check_instance(
                    tx,
                    caller,
                    form,
                    *instance,
                    &format!("assignments[{at}].linode_id"),
                )?;
            }
        }
        Ok(())
    }
}

/// Addresses to share with an instance.
#[derive(Debug)]
pub struct Sharing {
    /// The addresses, each with its position in the list.
    ips: Vec<(usize, u32)>,
    instance: Option<i64>,
}

impl FromForm for Sharing {
    fn read(form: &mut Form, _: &Policy) -> Self {
        refuse_too_many(form, "ips");
        let mut indexes = 0..;
        let ips = form.values("ips", "a string", |item| {
            let at = indexes.next()?;
            match item {
                Input::Text(raw) => Some(parse_address(raw).map(|address| (at, address))),
                _ => None,
            }
        });
        if !form.has("ips") {
            form.refuse("ips", Reason::new(Code::Required, "ips is required"));
        }
        let mut ips = ips.unwrap_or_default();
        ips.truncate(MAX_ITEMS);
        Self {
            ips,
            instance: form.required_integer("linode_id"),
        }
    }
}

impl Sharing {
    /// Refuses addresses and instances that the caller cannot see.
    pub fn check(&self, tx: &mut ReadTx, caller: &Caller, form: &mut Form) -> Result<()> {
        for (at, address) in &self.ips {
            check_address(tx, caller, form, *address, &format!("ips[{at}]"))?;
        }
        match self.instance {
            Some(instance) => check_instance(tx, caller, form, instance, "linode_id"),
            None => Ok(()),
        }
    }
}

/// An address to reserve in a region.
#[derive(Debug)]
pub struct Reservation;

impl FromForm for Reservation {
    fn read(form: &mut Form, policy: &Policy) -> Self {
        form.required("region", |raw| policy.region(raw));
        Self
    }
}

fn check_address(tx: &mut ReadTx, caller: &Caller, form: &mut Form, address: u32, field: &str) -> Result<()> {
    if store::ips::find(tx, caller.account, caller.visibility(), address)?.is_none() {
        form.refuse(field, Reason::new(Code::AddressInvalid, "IP Address not found."));
    }
    Ok(())
}

fn check_instance(tx: &mut ReadTx, caller: &Caller, form: &mut Form, id: i64, field: &str) -> Result<()> {
    let found = store::instances::find(tx, caller.account, InstanceId(id))?;
    let visible = caller.require_permission(tx, GrantKind::Linode, id, Permission::ReadOnly);
    if found.is_none() || visible.is_err() {
        let text = format!("Invalid Linode ID {id}");
        form.refuse(field, Reason::new(Code::InstanceInvalid, text));
    }
    Ok(())
}

fn refuse_too_many(form: &mut Form, name: &'static str) {
    if form.count(name) > MAX_ITEMS {
        let text = format!("Must have at most {MAX_ITEMS} items");
        form.refuse(name, Reason::new(Code::TooLong, text));
    }
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
