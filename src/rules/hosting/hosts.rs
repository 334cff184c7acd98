//! Hosts: add, change, drain and remove them, and let their agents join.

use std::net::IpAddr;

use crate::agent_protocol::is_inner_address;
use crate::model::host::{Capacity, Host, NewHost, UnderlayAddress};
use crate::model::id::HostId;
use crate::model::job::JobKind;
use crate::model::label::Label;
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::time::Time;
use crate::model::token::{Secret, TokenHash};
use crate::rules::drain;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::host_principal::{new_credential, new_join_token};
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::store::{self, ReadTx, WriteTx};

const JOIN_TOKEN_SECONDS: i64 = 3600;

/// A new join token, which is shown once.
pub struct JoinToken {
    pub host: Host,
    pub text: Secret,
    pub expiry: Time,
}

/// The result of a join.
pub struct Joined {
    pub host: Host,
    pub credential: Secret,
}

pub fn list(tx: &mut ReadTx, list: &ListRequest) -> Result<Paged<Host>> {
    let query = list.read(tx.policy(), &store::hosts::FIELDS)?;
    Ok(store::hosts::list(tx, &query)?)
}

pub fn view(tx: &mut ReadTx, id: HostId) -> Result<Host> {
    store::hosts::find(tx, id)?.ok_or(Error::NotFound)
}

/// The host with an ID or a label, for commands. A label that is a number does not hide the host with this ID.
pub fn find(tx: &mut ReadTx, name: &str) -> Result<Host> {
    if let Ok(id) = name.parse()
        && let Some(host) = store::hosts::find(tx, HostId(id))?
    {
        return Ok(host);
    }
    store::hosts::find_by_label(tx, name)?.ok_or(Error::NotFound)
}

pub fn create(tx: &mut WriteTx, request: &Request) -> Result<Host> {
    let mut form = request.form()?;
    let label = form.required("label", Label::parse);
    let policy = tx.policy();
    let region = form.required("region", |raw| parse_region(policy, raw));
    let address = form.required("underlay_address", UnderlayAddress::parse);
    let capacity = read_capacity(&mut form);
    refuse_conflicts(
        tx,
        &mut form,
        (label.as_ref(), address.as_ref()),
        region.as_deref(),
        None,
    )?;
    let new = form.finish(|| {
        Some(NewHost {
            label: label?,
            region: region?,
            underlay_address: address?,
            capacity: capacity.unwrap_or_default(),
        })
    })?;
    add(tx, &new)
}

fn add(tx: &mut WriteTx, new: &NewHost) -> Result<Host> {
    let id = store::hosts::insert(tx, new)?;
    view(tx, id)
}

/// Changes the label, the underlay address or the capacity. A region is permanent.
pub fn update(tx: &mut WriteTx, id: HostId, request: &Request) -> Result<Host> {
    let mut host = view(tx, id)?;
    request.check_if_match(&host)?;
    let mut form = request.form()?;
    let label = form.optional("label", Label::parse);
    let address = form.optional("underlay_address", UnderlayAddress::parse);
    let capacity = read_capacity(&mut form);
    let region = Some(host.region.as_str());
    // Clients send the region back unchanged.
    let wanted_region = form.optional("region", |raw| Ok(raw.to_owned()));
    if wanted_region.is_some_and(|wanted| wanted != host.region) {
        let text = format!(
            "The region of a host cannot be changed from {}. Omit the field, or remove the host and add another one",
            host.region
        );
        form.refuse("region", Reason::new(Code::RegionInvalid, text));
    }
    refuse_conflicts(
        tx,
        &mut form,
        (label.as_ref(), address.as_ref()),
        region,
        Some(id),
    )?;
    form.finish(|| Some(()))?;

    let has_moved = address
        .as_ref()
        .is_some_and(|address| *address != host.underlay_address);
    host.label = label.unwrap_or(host.label);
    host.underlay_address = address.unwrap_or(host.underlay_address);
    host.capacity = capacity.unwrap_or(host.capacity);
    host.updated = tx.now_after(host.updated);
    store::hosts::update(tx, &host)?;
    if has_moved {
        underlay_changed(tx, &host)?;
    }
    Ok(host)
}

pub fn delete(tx: &mut WriteTx, id: HostId, request: &Request) -> Result<()> {
    let host = view(tx, id)?;
    request.check_if_match(&host)?;
    request.require_valid_body()?;
    if host.instances > 0 {
        let (label, count) = (host.label.as_str(), host.instances);
        let instances = if count == 1 { "instance" } else { "instances" };
        let text = format!("{label} has {count} {instances}; drain it first, and wait until all have moved");
        return Err(Error::refused(Code::HostInUse, text));
    }
    store::jobs::unschedule(tx, JobKind::HostDrain, &id.to_string())?;
    store::host_revisions::credential_changed(tx, id);
    store::hosts::delete(tx, id)?;
    Ok(store::host_revisions::underlay_changed(tx, &host.region)?)
}

/// Makes a join token. An earlier token of the host is no longer valid. With `revoke`, neither is its credential.
pub fn create_join_token(tx: &mut WriteTx, id: HostId, request: &Request) -> Result<JoinToken> {
    let host = view(tx, id)?;
    request.check_if_match(&host)?;
    let mut form = request.form()?;
    let revoke = form.boolean("revoke");
    form.finish(|| Some(()))?;
    if revoke == Some(true) {
        revoke_credential(tx, &host)?;
    }
    let text = Secret::new(new_join_token(tx.random()));
    let expiry = tx.now().plus_seconds(JOIN_TOKEN_SECONDS);
    store::host_credentials::set_join_token(tx, id, &TokenHash::of(text.reveal()), expiry)?;
    Ok(JoinToken { host, text, expiry })
}

/// Ends the access of the host's agent. Other hosts then drop the endpoints of the host.
fn revoke_credential(tx: &mut WriteTx, host: &Host) -> Result<()> {
    if store::host_credentials::revoke(tx, host.id)? {
        store::host_revisions::credential_changed(tx, host.id);
        underlay_changed(tx, host)?;
    }
    Ok(())
}

/// Exchanges a join token for a credential. The previous credential of the host is no longer valid.
pub fn join(tx: &mut WriteTx, request: &Request) -> Result<Joined> {
    let mut form = request.form()?;
    let token = form.required("token", |raw| Ok(TokenHash::of(raw)));
    let expected = form.integer("host_id");
    let token = form.finish(|| token)?;
    let host = store::host_credentials::take_join_token(tx, &token)?;
    let host = view(tx, host.ok_or(Error::Unauthenticated)?)?;
    if expected.is_some_and(|expected| expected != host.id.0) {
        let text = "The token is that of another host, and remains valid: use another folder, or --replace";
        return Err(Error::on("host_id", Reason::new(Code::ChoiceInvalid, text)));
    }
    let credential = Secret::new(new_credential(tx.random()));
    store::host_credentials::set_credential(tx, host.id, &TokenHash::of(credential.reveal()))?;
    store::host_reports::forget_runs(tx, host.id)?;
    store::host_revisions::credential_changed(tx, host.id);
    underlay_changed(tx, &host)?;
    Ok(Joined { host, credential })
}

/// Starts to move the instances of a host to other hosts. New instances are not placed on it.
pub fn drain(tx: &mut WriteTx, id: HostId, request: &Request) -> Result<Host> {
    let host = set_draining(tx, id, request, true)?;
    drain::begin(tx, &host)?;
    Ok(host)
}

/// Makes a host available again. Instances that have moved do not return.
pub fn undrain(tx: &mut WriteTx, id: HostId, request: &Request) -> Result<Host> {
    let host = set_draining(tx, id, request, false)?;
    store::jobs::unschedule(tx, JobKind::HostDrain, &id.to_string())?;
    Ok(host)
}

fn set_draining(tx: &mut WriteTx, id: HostId, request: &Request, is_draining: bool) -> Result<Host> {
    let mut host = view(tx, id)?;
    request.check_if_match(&host)?;
    request.require_valid_body()?;
    host.is_draining = is_draining;
    host.updated = tx.now_after(host.updated);
    store::hosts::update(tx, &host)?;
    Ok(host)
}

/// Raises the revisions of all hosts of the region, because a host has another address or other access.
fn underlay_changed(tx: &mut WriteTx, host: &Host) -> Result<()> {
    store::host_revisions::underlay_changed(tx, &host.region)?;
    Ok(store::host_revisions::endpoints_changed(tx, host.id)?)
}

fn parse_region(policy: &Policy, raw: &str) -> Result<String, Reasons> {
    let available = || policy.regions.iter().filter(|region| !region.retired);
    match available().any(|region| region.id == raw) {
        true => Ok(raw.to_owned()),
        false => {
            let ids: Vec<_> = available().map(|region| region.id.as_str()).collect();
            let text = format!("region is not valid; must be one of {}", ids.join(", "));
            Err(vec![Reason::new(Code::RegionInvalid, text)])
        }
    }
}

fn read_capacity(form: &mut Form) -> Option<Capacity> {
    let capacity = Capacity::new(form.integer("capacity")?);
    capacity.map_err(|reason| form.refuse("capacity", reason)).ok()
}

fn refuse_conflicts(
    tx: &mut ReadTx,
    form: &mut Form,
    (label, address): (Option<&Label>, Option<&UnderlayAddress>),
    region: Option<&str>,
    except: Option<HostId>,
) -> Result<()> {
    if label.is_some_and(|label| label.as_str().bytes().all(|byte| byte.is_ascii_digit())) {
        let text = "Label must not be a number, because commands accept labels and IDs";
        form.refuse("label", Reason::new(Code::LabelCharacters, text));
    }
    if let Some(label) = label
        && store::hosts::has_label(tx, label, except)?
    {
        let text = "Label must be unique among the hosts";
        form.refuse("label", Reason::new(Code::LabelTaken, text));
    }
    let (Some(address), Some(region)) = (address, region) else {
        return Ok(());
    };
    if let Some(other) = store::hosts::with_address(tx, region, address, except)? {
        let text = format!("{} has this address", other.as_str());
        form.refuse("underlay_address", Reason::new(Code::AddressTaken, text));
    } else if let Some(ipv4) = address.ipv4()
        && store::ips::is_in_use(tx, ipv4)?
    {
        let reason = Reason::new(Code::AddressTaken, "An instance has this address");
        form.refuse("underlay_address", reason);
    } else if let IpAddr::V6(ipv6) = address.ip()
        && is_inner_address(ipv6)
    {
        let text = "Must not be in the range of addresses inside encrypted tunnels";
        form.refuse("underlay_address", Reason::new(Code::AddressInvalid, text));
    } else if let Some(other) = store::hosts::of_other_family(tx, region, address, except)? {
        let family = if address.is_ipv6() { "IPv4" } else { "IPv6" };
        let text = format!(
            "Must be an {family} address, as that of {} in the same region",
            other.as_str()
        );
        form.refuse("underlay_address", Reason::new(Code::AddressInvalid, text));
    }
    Ok(())
}
