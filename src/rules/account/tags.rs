//! Tags of an account's objects. Only unrestricted users can manage tags.

use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::input::Input;
use crate::model::instance::Instance;
use crate::model::object_tag::{ObjectTag, TagLabel};
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::events;
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::request::{Drafted, FromForm, Request};
use crate::store::{self, ReadTx, WriteTx};

/// The maximum number of permanent tags of an account. A permanent tag exists even if no object has it. Tags
/// that exist only on instances are not counted.
const MAX_TAGS: i64 = 1000;
/// The maximum number of tags of one object.
pub const MAX_TAGS_PER_OBJECT: usize = 100;
/// Kinds of objects of the public service that Garth does not have.
const UNSUPPORTED_OBJECTS: [&str; 5] = [
    "domains",
    "volumes",
    "nodebalancers",
    "lke_clusters",
    "reserved_ipv4_addresses",
];

pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<ObjectTag>> {
    caller.require_unrestricted()?;
    let query = list.read(tx.policy(), &store::tags::FIELDS)?;
    Ok(store::tags::list(tx, caller.account, &query)?)
}

/// The objects with a tag.
pub fn objects(
    tx: &mut ReadTx,
    caller: &Caller,
    label: String,
    list: &ListRequest,
) -> Result<Paged<Instance>> {
    let tag = load(tx, caller, &label)?;
    let query = list.read(tx.policy(), &store::instances::TAGGED_FIELDS)?;
    Ok(store::instances::list_tagged(
        tx,
        caller.account,
        tag.label.as_str(),
        &query,
    )?)
}

/// A new tag, and the instances to add it to.
#[derive(Debug)]
pub struct Draft {
    label: Option<TagLabel>,
    instances: Vec<i64>,
    /// The position of each instance in the request's list.
    positions: Vec<usize>,
}

impl FromForm for Draft {
    fn read(form: &mut Form, _: &Policy) -> Self {
        let label = form.required("label", TagLabel::parse);
        let mut indexes = 0..;
        let instances = form.values("linodes", "an integer", |item| {
            let at = indexes.next()?;
            match item {
                Input::Integer(id) => Some(Ok((at, *id))),
                _ => None,
            }
        });
        let (positions, instances) = instances.into_iter().flatten().unzip();
        for kind in UNSUPPORTED_OBJECTS {
            let sent = form.values(kind, "an ID", |item| match item {
                Input::Integer(_) | Input::Text(_) => Some(Ok(())),
                _ => None,
            });
            if sent.is_some_and(|sent| !sent.is_empty()) {
                let text = "There are no such objects here; only linodes have tags";
                form.refuse(kind, Reason::new(Code::NotOffered, text));
            }
        }
        Self {
            label,
            instances,
            positions,
        }
    }
}

/// Creates a tag, or adds an existing tag to instances.
pub fn create(tx: &mut WriteTx, caller: &Caller, request: &Drafted<Draft>) -> Result<ObjectTag> {
    caller.require_unrestricted()?;
    let (draft, mut form) = request.open()?;
    refuse_invalid_instances(tx, caller, &mut form, draft)?;
    let label = form.finish(|| draft.label.clone())?;
    let existing = store::tags::find(tx, caller.account, label.as_str())?;
    if !store::tags::is_permanent(tx, caller.account, &label)? {
        if store::tags::count_permanent(tx, caller.account)? >= MAX_TAGS {
            let text = format!("You may create at most {MAX_TAGS} tags; delete some first");
            return Err(Error::refused(Code::QuotaExceeded, text));
        }
        store::tags::keep(tx, caller.account, &label)?;
    }
    let tagged = store::tags::add_to_instances(tx, caller.account, &label, &draft.instances)?;
    let tag = load(tx, caller, label.as_str())?;
    if existing.is_none() {
        events::record_account(tx, caller, Action::TagCreate, Some(&Entity::tag(&tag)))?;
    }
    events::record_tagged(tx, caller, &tagged)?;
    Ok(tag)
}

/// Deletes a tag and removes it from all objects.
pub fn delete(tx: &mut WriteTx, caller: &Caller, label: String, request: &Request) -> Result<()> {
    let tag = load(tx, caller, &label)?;
    request.check_if_match(&tag)?;
    request.require_valid_body()?;
    let untagged = store::tags::delete(tx, caller.account, &tag)?;
    events::record_tagged(tx, caller, &untagged)?;
    events::record_account(tx, caller, Action::TagDelete, Some(&Entity::tag(&tag)))
}

fn load(tx: &mut ReadTx, caller: &Caller, label: &str) -> Result<ObjectTag> {
    caller.require_unrestricted()?;
    // PostgreSQL refuses a text with a NUL character, so only valid labels are looked up.
    let label = TagLabel::parse(label).map_err(|_| Error::NotFound)?;
    store::tags::find(tx, caller.account, label.as_str())?.ok_or(Error::NotFound)
}

/// Adds an error for each instance that does not exist or has the maximum number of tags.
fn refuse_invalid_instances(tx: &mut ReadTx, caller: &Caller, form: &mut Form, draft: &Draft) -> Result<()> {
    let unknown = store::tags::unknown_instances(tx, caller.account, &draft.instances)?;
    let full = match &draft.label {
        Some(label) => store::tags::full_instances(tx, &draft.instances, label, MAX_TAGS_PER_OBJECT as i64)?,
        None => Vec::new(),
    };
    for (at, id) in draft.positions.iter().zip(&draft.instances) {
        let field = || format!("linodes[{at}]");
        if unknown.contains(id) {
            let text = format!("Invalid Linode ID {id}");
            form.refuse_with(|| (field(), Reason::new(Code::InstanceInvalid, text)));
        } else if full.contains(id) {
            form.refuse_with(|| (field(), too_many_tags()));
        }
    }
    Ok(())
}

/// The error about an object with too many tags.
pub fn too_many_tags() -> Reason {
    let text = format!("An object can have at most {MAX_TAGS_PER_OBJECT} tags");
    Reason::new(Code::QuotaExceeded, text)
}
