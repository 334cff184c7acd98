//! The subject of a ticket: an object, a VLAN, a managed service, or none.

use crate::model::entity::Entity;
use crate::model::grant::Permission;
use crate::model::id::{AccountId, InstanceId, VpcId};
use crate::model::reason::{Code, Reason};
use crate::model::region::RegionId;
use crate::model::subject::{SubjectKind, VlanLabel};
use crate::rules::caller::Caller;
use crate::rules::conditions::Condition;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::{loading, vpcs};
use crate::store::list::Visibility;
use crate::store::{self, ReadTx, WriteTx};

/// The user for whom an object is looked up.
#[derive(Clone, Copy)]
pub enum Requester<'a> {
    Tenant(&'a Caller),
    /// Staff, who see all objects of an account.
    Staff(AccountId),
}

impl Requester<'_> {
    fn account(self) -> AccountId {
        match self {
            Requester::Tenant(caller) => caller.account,
            Requester::Staff(account) => account,
        }
    }
}

/// The subject in a form.
#[derive(Debug, Default)]
pub struct Subject {
    entity: Option<Entity>,
    vlan: Option<(VlanLabel, RegionId)>,
    pub managed_issue: bool,
}

impl Subject {
    /// The entity of the subject. A VLAN gets its ID with the first ticket about it.
    pub fn resolve(self, tx: &mut WriteTx, account: AccountId) -> Result<Option<Entity>> {
        let Some((label, region)) = self.vlan else {
            return Ok(self.entity);
        };
        let id = store::entities::vlan(tx, account, &region.0, &label)?;
        Ok(Some(SubjectKind::Vlan.entity(id, label.as_str().to_owned())))
    }
}

/// Reads the subject fields, in the order of interface §4.3.
pub fn read(tx: &mut ReadTx, form: &mut Form, requester: Option<Requester>) -> Result<Subject> {
    let mut ids = Vec::new();
    for kind in SubjectKind::WITH_ID {
        let sent = match kind {
            SubjectKind::Linode => form.integer_in_either("linode_id", "compute_id"),
            kind => form.integer(kind.attribute()).map(|id| (kind.attribute(), id)),
        };
        ids.extend(sent.map(|(field, id)| (field, kind, id)));
    }
    let vlan = read_vlan(tx, form);
    let managed_issue = form.boolean("managed_issue").unwrap_or(false);
    refuse_conflicts(form, &ids, managed_issue);

    let mut entities = Vec::new();
    for (field, kind, id) in ids {
        let entity = match requester {
            None => None,
            Some(requester) => find(tx, requester, kind, id)?,
        };
        match entity {
            Some(entity) => entities.push(entity),
            None => form.refuse(field, not_found_reason(tx, field, kind, id)),
        }
    }
    Ok(Subject {
        entity: entities.pop(),
        vlan,
        managed_issue,
    })
}

/// A possible subject of a ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub kind: SubjectKind,
    pub id: i64,
    pub label: String,
}

/// Possible subjects: the first objects of each kind whose label or ID contains `words`. Users with account
/// access also see the account's entries in the directory.
pub fn candidates(tx: &mut ReadTx, requester: Requester, words: &str) -> Result<Vec<Candidate>> {
    let account = requester.account();
    let (visibility, sees_directory) = match requester {
        Requester::Tenant(caller) => (caller.visibility(), caller.account_access().is_some()),
        Requester::Staff(_) => (Visibility::All, true),
    };
    let mut candidates = Vec::new();
    let mut add = |kind, id, label: &str| {
        let label = label.to_owned();
        candidates.push(Candidate { kind, id, label });
    };
    let query = candidate_list(words, None).read(tx.policy(), &store::vpcs::FIELDS)?;
    for vpc in store::vpcs::list(tx, account, visibility, &query)?.items {
        add(SubjectKind::Vpc, vpc.id.0, vpc.label.as_str());
    }
    let query = candidate_list(words, None).read(tx.policy(), &store::instances::FIELDS)?;
    for instance in store::instances::list(tx, account, visibility, &query)?.items {
        add(SubjectKind::Linode, instance.id.0, instance.label.as_str());
    }
    if sees_directory {
        let query = candidate_list(words, Some(account)).read(tx.policy(), &store::entities::FIELDS)?;
        for entry in store::entities::list(tx, &query)?.items {
            add(entry.kind, entry.id, &entry.label);
        }
    }
    Ok(candidates)
}

fn candidate_list(words: &str, account: Option<AccountId>) -> ListRequest {
    let mut list = ListRequest::default().sorted("label", false);
    if !words.is_empty() {
        list = list.only(Condition::contained_in(["label", "id"], words));
    }
    match account {
        Some(account) => list.only(Condition::equal("account_id", account)),
        None => list,
    }
}

fn read_vlan(tx: &ReadTx, form: &mut Form) -> Option<(VlanLabel, RegionId)> {
    let policy = tx.policy();
    let label = form.optional("vlan", VlanLabel::parse);
    match (form.has("vlan"), form.has("region")) {
        (false, true) => {
            let text = "Region is only allowed when submitting a VLAN ticket.";
            form.refuse("region", Reason::new(Code::VlanRegion, text));
            None
        }
        (true, false) => {
            let text = "region is required for a VLAN ticket";
            form.refuse("region", Reason::new(Code::VlanRegion, text));
            None
        }
        _ => label.zip(form.optional("region", |raw| policy.region(raw))),
    }
}

/// Refuses more than one ID, and an ID together with a VLAN or a managed service.
fn refuse_conflicts(form: &mut Form, ids: &[(&str, SubjectKind, i64)], managed_issue: bool) {
    let conflict = |text: String| Reason::new(Code::EntityConflict, text);
    let names: Vec<_> = ids.iter().map(|(field, ..)| *field).collect();
    if ids.len() > 1 {
        for name in &names {
            let text = format!(
                "A ticket can refer to only one object; the request has {}",
                names.join(", ")
            );
            form.refuse(*name, conflict(text));
        }
    }
    if form.has("vlan") && !ids.is_empty() {
        let text = format!(
            "A VLAN ticket cannot refer to another object; the request also has {}",
            names.join(", ")
        );
        form.refuse("vlan", conflict(text));
    }
    if managed_issue && (form.has("vlan") || !ids.is_empty()) {
        let text = "A ticket about a managed service cannot refer to another object";
        form.refuse("managed_issue", conflict(text.to_owned()));
    }
}

/// The object, if it exists and the requester can see it.
fn find(tx: &mut ReadTx, requester: Requester, kind: SubjectKind, id: i64) -> Result<Option<Entity>> {
    let account = requester.account();
    match kind {
        SubjectKind::Vpc => {
            let vpc = match requester {
                Requester::Tenant(caller) => none_if_hidden(vpcs::load_without_subnets(
                    tx,
                    caller,
                    VpcId(id),
                    Permission::ReadOnly,
                ))?,
                Requester::Staff(_) => store::vpcs::find_without_subnets(tx, account, VpcId(id))?,
            };
            Ok(vpc.as_ref().map(Entity::vpc))
        }
        SubjectKind::Linode => {
            let instance = match requester {
                Requester::Tenant(caller) => none_if_hidden(loading::instance_for(
                    tx,
                    caller,
                    InstanceId(id),
                    Permission::ReadOnly,
                ))?,
                Requester::Staff(_) => store::instances::find(tx, account, InstanceId(id))?,
            };
            Ok(instance.as_ref().map(Entity::instance))
        }
        kind => {
            let entry = store::entities::find(tx, account, kind, id)?;
            let default_label =
                || (id > 0 && !tx.policy().support.strict_entities).then(|| kind.default_label(id));
            let label = entry.map(|entry| entry.label).or_else(default_label);
            Ok(label.map(|label| kind.entity(id, label)))
        }
    }
}

fn none_if_hidden<T>(loaded: Result<T>) -> Result<Option<T>> {
    match loaded {
        Ok(object) => Ok(Some(object)),
        Err(Error::NotFound | Error::Forbidden) => Ok(None),
        Err(other) => Err(other),
    }
}

fn not_found_reason(tx: &ReadTx, field: &str, kind: SubjectKind, id: i64) -> Reason {
    let is_garth_object = matches!(kind, SubjectKind::Vpc | SubjectKind::Linode);
    match is_garth_object || id < 1 || !tx.policy().support.strict_entities {
        true => Reason::new(Code::EntityInvalid, format!("{field} is not valid")),
        false => {
            let text = format!(
                "{field} is not valid: your provider has no {} with this ID",
                kind.word()
            );
            Reason::new(Code::EntityUnknown, text)
        }
    }
}
