//! What a client of a server that may die at any moment knows for sure: every change that was
//! acknowledged, and the one it was waiting for when the end came.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::client::Client;
use crate::connection::{number, text};

/// Everything one client has done, over all lives of the server.
pub struct Ledger {
    writer: usize,
    named: usize,
    vpcs: BTreeMap<i64, Known>,
    /// Asked for, but not acknowledged: it happened as a whole, or not at all.
    under_way: Option<Change>,
}

/// A VPC that was acknowledged, or found to have been made.
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

/// How often an action was done to a thing: `("vpc_create", 7)`.
pub type Counts = BTreeMap<(String, i64), usize>;

impl Ledger {
    pub fn new(writer: usize) -> Self {
        Self {
            writer,
            named: 0,
            vpcs: BTreeMap::new(),
            under_way: None,
        }
    }

    /// Makes one change at random; false if the server went away meanwhile.
    pub fn write(&mut self, client: &mut Client) -> bool {
        let change = self
            .under_way
            .insert(choose(self.writer, &mut self.named, &self.vpcs));
        let (method, path, body) = change.request();
        let Ok(reply) = client.try_send(method, &path, body.as_ref()) else {
            return false;
        };
        let answer = reply.ok();
        match self.under_way.take().expect("it was put there above") {
            Change::Create { label, subnets } => {
                let vpc = Vpc::read(&answer);
                assert!(
                    vpc.is(&label, &subnets),
                    "{vpc:?} was made, {label} was asked for"
                );
                self.learn(number(&answer["id"]), vpc);
            }
            Change::Rename { id, label } => self.rename(id, label),
            Change::Delete { id } => self.delete(id),
        }
        true
    }

    /// Finds out what became of the change that was under way.
    pub fn settle(&mut self, there: &BTreeMap<i64, Vpc>) {
        match self.under_way.take() {
            None => {}
            Some(Change::Create { label, subnets }) => {
                if let Some((id, vpc)) = there.iter().find(|(_, vpc)| vpc.label == label) {
                    assert!(vpc.is(&label, &subnets), "{vpc:?} was made by halves");
                    self.learn(*id, vpc.clone());
                }
            }
            Some(Change::Rename { id, label }) if there.get(&id).is_some_and(|vpc| vpc.label == label) => {
                self.rename(id, label);
            }
            Some(Change::Delete { id }) if !there.contains_key(&id) => self.delete(id),
            Some(Change::Rename { .. } | Change::Delete { .. }) => {}
        }
    }

    /// The VPCs that must be there, exactly like this.
    pub fn kept(&self) -> impl Iterator<Item = (i64, Vpc)> {
        let kept = self.vpcs.iter().filter(|(_, known)| !known.deleted);
        kept.map(|(id, known)| (*id, known.vpc.clone()))
    }

    /// The events that must be there, no more and no fewer (interface §6).
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

    fn learn(&mut self, id: i64, vpc: Vpc) {
        let known = Known {
            vpc,
            renamed: 0,
            deleted: false,
        };
        assert!(self.vpcs.insert(id, known).is_none(), "id {id} was given twice");
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

/// Something to do next; no writer gathers more VPCs than it can look through.
fn choose(writer: usize, named: &mut usize, vpcs: &BTreeMap<i64, Known>) -> Change {
    const MANY: usize = 40;
    *named += 1;
    let label = format!("writer-{writer}-{named}");
    let there = vpcs.iter().filter(|(_, known)| !known.deleted);
    let mine: Vec<i64> = there.map(|(id, _)| *id).collect();
    if dice(MANY) >= mine.len() {
        let subnets = (0..2 + dice(2)).map(|number| format!("part-{number}"));
        let subnets = subnets.collect();
        return Change::Create { label, subnets };
    }
    let id = mine[dice(mine.len())];
    match dice(2) {
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

    fn is(&self, label: &str, subnets: &[String]) -> bool {
        self.label == label && self.subnets.values().eq(subnets)
    }
}

/// A number below the given one.
#[expect(clippy::disallowed_methods, reason = "a race needs real chance")]
pub fn dice(sides: usize) -> usize {
    getrandom::u32().expect("the system has randomness") as usize % sides
}
