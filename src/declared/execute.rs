//! Runs the steps of a plan through the rules, in the transaction of the caller.

use super::bodies::{self, object, optional, text, texts};
use super::current::{Ids, key};
use super::document::{Grants, Interface};
use super::fault::Fault;
use super::step::{Change, InstanceUpdate, Step, UserUpdate, VpcUpdate};
use crate::model::config::ConfigLabel;
use crate::model::grant::EntityGrant;
use crate::model::id::{ConfigId, InstanceId, SubnetId, VpcId};
use crate::model::input::Input;
use crate::model::instance::InstanceLabel;
use crate::model::token::hex;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::request::{Prepared, Request};
use crate::rules::{configs, grants, instances, subnets, users, vpcs};
use crate::store::{StoreError, WriteTx};

/// Why a step failed.
#[derive(Debug)]
pub enum StepError {
    /// A rule refused the change.
    Refused(Vec<Fault>),
    Store(StoreError),
}

/// Runs a step. `ids` gets the IDs of new objects.
pub fn run(tx: &mut WriteTx, caller: &Caller, ids: &mut Ids, step: &Step) -> Result<(), StepError> {
    let executor = Executor { caller, ids };
    executor
        .run(tx, &step.change)
        .map_err(|error| locate(error, step))
}

struct Executor<'a> {
    caller: &'a Caller,
    ids: &'a mut Ids,
}

impl Executor<'_> {
    fn run(self, tx: &mut WriteTx, change: &Change) -> Result<()> {
        let caller = self.caller;
        match change {
            Change::CreateVpc(vpc) => {
                let created = vpcs::create(tx, caller, &prepare(tx, bodies::vpc(vpc)))?;
                self.ids.add_vpc(&created);
            }
            Change::UpdateVpc { label, to } => {
                let vpc = self.vpc(label)?;
                vpcs::update(tx, caller, vpc, &prepare(tx, vpc_update(to)))?;
            }
            Change::DeleteVpc { label, .. } => vpcs::delete(tx, caller, self.vpc(label)?, &empty())?,
            Change::CreateSubnet { vpc, subnet } => {
                let id = self.vpc(vpc)?;
                let created = subnets::create(tx, caller, id, &prepare(tx, bodies::subnet(subnet)))?;
                let labels = (key(vpc), key(&subnet.label));
                self.ids.subnets.insert(labels, created.id);
            }
            Change::RenameSubnet { vpc, label, to } => {
                let at = self.subnet(vpc, label)?;
                subnets::update(tx, caller, at, &prepare(tx, object([("label", text(to))])))?;
            }
            Change::DeleteSubnet { vpc, label } => {
                subnets::delete(tx, caller, self.subnet(vpc, label)?, &empty())?;
            }
            Change::CreateInstance(instance) => {
                let password = hex(&tx.random());
                let body = bodies::instance(instance, self.ids, &password);
                let created = instances::create(tx, caller, &prepare(tx, body))?;
                let label = key(&instance.label);
                self.ids.instances.insert(label, (created.id, None));
            }
            Change::UpdateInstance { label, to } => {
                let (id, _) = self.instance(label)?;
                instances::update(tx, caller, id, &prepare(tx, instance_update(to)))?;
            }
            Change::SetInterfaces { instance, interfaces } => {
                self.set_interfaces(tx, instance, interfaces)?
            }
            Change::DeleteInstance { label } => {
                let (id, _) = self.instance(label)?;
                instances::delete(tx, caller, id, &empty())?;
            }
            Change::CreateUser(user) => {
                let body = object([
                    ("username", text(&user.username)),
                    ("email", text(&user.email)),
                    ("restricted", user.restricted.map(Input::Bool)),
                ]);
                users::add(tx, caller, &prepare(tx, body))?;
            }
            Change::UpdateUser { username, to } => {
                users::update(tx, caller, username, &prepare(tx, user_update(to)))?;
            }
            Change::SetGrants { username, grants } => self.set_grants(tx, username, grants)?,
            Change::DeleteUser { username } => users::delete(tx, caller, username, &empty())?,
        }
        Ok(())
    }

    fn vpc(&self, label: &str) -> Result<VpcId> {
        self.ids.vpcs.get(&key(label)).copied().ok_or(Error::NotFound)
    }

    fn subnet(&self, vpc: &str, label: &str) -> Result<(VpcId, SubnetId)> {
        let subnet = self.ids.subnets.get(&(key(vpc), key(label)));
        Ok((self.vpc(vpc)?, *subnet.ok_or(Error::NotFound)?))
    }

    fn instance(&self, label: &str) -> Result<(InstanceId, Option<ConfigId>)> {
        let found = self.ids.instances.get(&key(label));
        found.copied().ok_or(Error::NotFound)
    }

    /// Replaces the interfaces of the config. An instance without a config gets one.
    fn set_interfaces(&self, tx: &mut WriteTx, label: &str, interfaces: &[Interface]) -> Result<()> {
        let (id, config) = self.instance(label)?;
        let interfaces = Some(bodies::interfaces(interfaces, self.ids));
        if let Some(config) = config {
            let body = object([("interfaces", interfaces)]);
            configs::update(tx, self.caller, (id, config), &prepare(tx, body))?;
            return Ok(());
        }
        let config_label = InstanceLabel::parse(label).map(|label| ConfigLabel::of_instance(&label));
        let config_label = config_label.ok();
        let body = object([
            ("label", config_label.and_then(|label| text(label.as_str()))),
            ("interfaces", interfaces),
        ]);
        configs::create(tx, self.caller, id, &prepare(tx, body))?;
        Ok(())
    }

    fn set_grants(&self, tx: &mut WriteTx, username: &str, grants: &Grants) -> Result<()> {
        let held = grants::view(tx, self.caller, username)?;
        let granted = |objects: &[EntityGrant]| -> Vec<i64> {
            let granted = objects.iter().filter(|object| object.permission.is_some());
            granted.map(|object| object.id).collect()
        };
        let (vpcs, instances) = held.map_or((Vec::new(), Vec::new()), |held| {
            (granted(&held.vpcs), granted(&held.linodes))
        });
        let body = bodies::grants(grants, self.ids, (&vpcs, &instances));
        grants::update(tx, self.caller, username, &prepare(tx, body))?;
        Ok(())
    }
}

fn prepare<I: Prepared>(tx: &WriteTx, body: Input) -> I {
    let request = Request {
        expected: None,
        body: Ok(body),
    };
    I::prepare(request, tx.policy())
}

fn empty() -> Request {
    Request {
        expected: None,
        body: Ok(Input::Object(Vec::new())),
    }
}

fn vpc_update(to: &VpcUpdate) -> Input {
    object([
        ("label", optional(to.label.as_ref())),
        ("description", optional(to.description.as_ref())),
    ])
}

fn instance_update(to: &InstanceUpdate) -> Input {
    object([
        ("label", optional(to.label.as_ref())),
        ("tags", to.tags.as_deref().map(texts)),
    ])
}

fn user_update(to: &UserUpdate) -> Input {
    object([
        ("username", optional(to.username.as_ref())),
        ("email", optional(to.email.as_ref())),
        ("restricted", to.restricted.map(Input::Bool)),
    ])
}

/// The error of a rule, with the places in the document.
fn locate(error: Error, step: &Step) -> StepError {
    let errors = match error {
        Error::Store(cause) => return StepError::Store(cause),
        Error::Refused(errors) => errors,
        other => {
            let text = format!("{}{other}", deletion(&step.change));
            return StepError::Refused(vec![Fault::new(&step.path, text)]);
        }
    };
    let faults = errors.into_iter().map(|error| {
        let path = match &error.field {
            Some(field) => format!("{}.{}", step.path, document_field(&step.change, field)),
            None => step.path.clone(),
        };
        Fault::new(path, format!("{}{}", deletion(&step.change), error.reason))
    });
    StepError::Refused(faults.collect())
}

/// The object that a step deletes, because the document does not have it.
fn deletion(change: &Change) -> String {
    match change {
        Change::DeleteVpc { label, .. } => format!("cannot delete the VPC {label}: "),
        Change::DeleteSubnet { label, .. } => format!("cannot delete the subnet {label}: "),
        Change::DeleteInstance { label } => format!("cannot delete the instance {label}: "),
        Change::DeleteUser { username } => format!("cannot delete the user {username}: "),
        _ => String::new(),
    }
}

/// The field of a document for a field of a request. They differ where a document has labels in place of IDs.
fn document_field(change: &Change, field: &str) -> String {
    if !matches!(change, Change::SetGrants { .. }) {
        return field.replace("subnet_id", "subnet");
    }
    for (of_request, of_document) in [
        ("vpc[", "grants.vpcs["),
        ("linode[", "grants.instances["),
        ("global.account_access", "grants.account_access"),
    ] {
        if let Some(rest) = field.strip_prefix(of_request) {
            return format!("{of_document}{rest}").replace("].id", "].label");
        }
    }
    "grants".to_owned()
}
