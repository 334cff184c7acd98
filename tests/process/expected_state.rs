//! The state that a client expects after the server was killed: all acknowledged changes, and possibly the
//! pending change.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::Client;
use crate::connection::{number, text};

/// The changes of one client, across restarts of the server.
pub struct ExpectedState {
    writer: usize,
    labels_used: usize,
    vpcs: BTreeMap<i64, Known>,
    /// A change that was sent, but not acknowledged. The server has made the whole change, or no part of it.
    pending: Option<Change>,
}

/// A VPC that was acknowledged, or found in the store.
struct Known {
    vpc: Vpc,
    renamed: usize,
    deleted: bool,
}

/// A VPC as the store shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Vpc {
    pub label: String,
    pub subnets: BTreeMap<i64, String>,
}

enum Change {
    Create { label: String, subnets: Vec<String> },
    Rename { id: i64, label: String },
    Delete { id: i64 },
}

/// The number of events for each action and object: `("vpc_create", 7)`.
pub type Counts = BTreeMap<(String, i64), usize>;

impl ExpectedState {
    pub fn new(writer: usize) -> Self {
        Self {
            writer,
            labels_used: 0,
            vpcs: BTreeMap::new(),
            pending: None,
        }
    }

    /// Makes one random change. Returns false if the server was killed meanwhile.
    pub fn write(&mut self, client: &mut Client) -> bool {
        let change = self
            .pending
            .insert(choose(self.writer, &mut self.labels_used, &self.vpcs));
        let (method, path, body) = change.request();
        let Ok(reply) = client.try_send(method, &path, body.as_ref()) else {
            return false;
        };
        let created = reply.ok();
        match self.pending.take().expect("the change was stored above") {
            Change::Create { label, subnets } => {
                let vpc = Vpc::read(&created);
                assert!(
                    vpc.matches(&label, &subnets),
                    "{vpc:?} was created instead of {label}"
                );
                self.add(number(&created["id"]), vpc);
            }
            Change::Rename { id, label } => self.rename(id, label),
            Change::Delete { id } => self.delete(id),
        }
        true
    }

    /// Finds out whether the pending change was made.
    pub fn reconcile(&mut self, stored: &BTreeMap<i64, Vpc>) {
        match self.pending.take() {
            None => {}
            Some(Change::Create { label, subnets }) => {
                if let Some((id, vpc)) = stored.iter().find(|(_, vpc)| vpc.label == label) {
                    assert!(vpc.matches(&label, &subnets), "{vpc:?} is a partial write");
                    self.add(*id, vpc.clone());
                }
            }
            Some(Change::Rename { id, label }) if stored.get(&id).is_some_and(|vpc| vpc.label == label) => {
                self.rename(id, label);
            }
            Some(Change::Delete { id }) if !stored.contains_key(&id) => self.delete(id),
            Some(Change::Rename { .. } | Change::Delete { .. }) => {}
        }
    }

    /// The VPCs that the store must have.
    pub fn vpcs(&self) -> impl Iterator<Item = (i64, Vpc)> {
        let existing = self.vpcs.iter().filter(|(_, known)| !known.deleted);
        existing.map(|(id, known)| (*id, known.vpc.clone()))
    }

    /// The exact events that the store must have (interface §6).
    pub fn events(&self) -> Counts {
        let mut counts = Counts::new();
        for (id, known) in &self.vpcs {
            let deletes = usize::from(known.deleted);
            for (action, count) in [
                ("vpc_create", 1),
                ("vpc_update", known.renamed),
                ("vpc_delete", deletes),
            ] {
                counts.insert((action.to_owned(), *id), count);
            }
            for subnet in known.vpc.subnets.keys() {
                counts.insert(("subnet_create".to_owned(), *subnet), 1);
                counts.insert(("subnet_delete".to_owned(), *subnet), deletes);
            }
        }
        counts.retain(|_, count| *count > 0);
        counts
    }

    fn add(&mut self, id: i64, vpc: Vpc) {
        let known = Known {
            vpc,
            renamed: 0,
            deleted: false,
        };
        assert!(self.vpcs.insert(id, known).is_none(), "ID {id} was used twice");
    }

    fn rename(&mut self, id: i64, label: String) {
        let known = self.vpcs.get_mut(&id).expect("only known VPCs are renamed");
        known.vpc.label = label;
        known.renamed += 1;
    }

    fn delete(&mut self, id: i64) {
        let known = self.vpcs.get_mut(&id).expect("only known VPCs are deleted");
        known.deleted = true;
    }
}

/// The next random change. A writer has about `MAX_VPCS` VPCs at most.
fn choose(writer: usize, labels_used: &mut usize, vpcs: &BTreeMap<i64, Known>) -> Change {
    const MAX_VPCS: usize = 40;
    *labels_used += 1;
    let label = format!("writer-{writer}-{labels_used}");
    let existing = vpcs.iter().filter(|(_, known)| !known.deleted);
    let mine: Vec<i64> = existing.map(|(id, _)| *id).collect();
    if random_below(MAX_VPCS) >= mine.len() {
        let subnets = (0..2 + random_below(2)).map(|number| format!("part-{number}"));
        let subnets = subnets.collect();
        return Change::Create { label, subnets };
    }
    let id = mine[random_below(mine.len())];
    match random_below(2) {
        0 => Change::Rename { id, label },
        _ => Change::Delete { id },
    }
}

impl Change {
    fn request(&self) -> (&'static str, String, Option<Value>) {
        match self {
            Change::Create { label, subnets } => {
                let subnet = |(at, label)| json!({"label": label, "ipv4": format!("10.0.{at}.0/24")});
                let subnets: Vec<_> = subnets.iter().enumerate().map(subnet).collect();
                let body = json!({"label": label, "region": "us-east", "subnets": subnets});
                ("POST", "/v4/vpcs".to_owned(), Some(body))
            }
            Change::Rename { id, label } => ("PUT", format!("/v4/vpcs/{id}"), Some(json!({"label": label}))),
            Change::Delete { id } => ("DELETE", format!("/v4/vpcs/{id}"), None),
        }
    }
}

impl Vpc {
    pub fn read(vpc: &Value) -> Self {
        let subnets = vpc["subnets"].as_array().expect("subnets are a list");
        let subnet = |subnet: &Value| (number(&subnet["id"]), text(&subnet["label"]));
        Self {
            label: text(&vpc["label"]),
            subnets: subnets.iter().map(subnet).collect(),
        }
    }

    fn matches(&self, label: &str, subnets: &[String]) -> bool {
        self.label == label && self.subnets.values().eq(subnets)
    }
}

/// A random number below the limit.
#[expect(clippy::disallowed_methods, reason = "a race needs real randomness")]
pub fn random_below(limit: usize) -> usize {
    getrandom::u32().expect("the system provides randomness") as usize % limit
}
