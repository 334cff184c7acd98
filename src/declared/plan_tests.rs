//! Applies plans to a model of an account, which refuses the steps that the rules would refuse.

use proptest::prelude::*;

use super::document::{
    Document, Grants, Instance, Interface, InterfaceIpv4, ObjectGrant, Range, Subnet, User, VERSION, Vpc,
    is_same,
};
use super::plan::{Plan, plan};
use super::read::read;
use super::step::{Change, Step};

/// An account. All lists are present.
#[derive(Clone, Debug)]
struct Model {
    vpcs: Vec<Vpc>,
    instances: Vec<Instance>,
    users: Vec<User>,
    /// Whether a step has deleted a network with interfaces.
    deletes_used_network: bool,
}

/// The item with a label. The label must have the exact letter case, because labels in a step are current labels.
fn find<'a, T>(items: &'a mut [T], label: &str, of: fn(&T) -> &str) -> &'a mut T {
    let found = items.iter_mut().find(|item| of(item) == label);
    found.unwrap_or_else(|| panic!("{label} does not exist"))
}

fn insert<T>(items: &mut Vec<T>, item: T, of: fn(&T) -> &str) {
    let is_taken = items.iter().any(|other| is_same(of(other), of(&item)));
    assert!(!is_taken, "{} exists", of(&item));
    items.push(item);
}

fn vpc_label(vpc: &Vpc) -> &str {
    &vpc.label
}

fn subnet_label(subnet: &Subnet) -> &str {
    &subnet.label
}

fn instance_label(instance: &Instance) -> &str {
    &instance.label
}

fn username(user: &User) -> &str {
    &user.username
}

impl Model {
    fn of(document: &Document) -> Self {
        let mut model = Self {
            vpcs: Vec::new(),
            instances: Vec::new(),
            users: Vec::new(),
            deletes_used_network: false,
        };
        let empty = model.document();
        let all = plan(&empty, document, false).expect("the document refers to existing objects");
        model.apply(&all);
        model
    }

    fn document(&self) -> Document {
        Document {
            version: VERSION,
            vpcs: Some(self.vpcs.clone()),
            instances: Some(self.instances.clone()),
            users: Some(self.users.clone()),
        }
    }

    fn apply(&mut self, plan: &Plan) {
        for Step { change, .. } in &plan.steps {
            self.run(change.clone());
        }
    }

    fn run(&mut self, change: Change) {
        match change {
            Change::CreateVpc(mut vpc) => {
                vpc.description.get_or_insert_default();
                vpc.subnets.get_or_insert_default();
                insert(&mut self.vpcs, vpc, vpc_label);
            }
            Change::UpdateVpc { label, to } => {
                let vpc = find(&mut self.vpcs, &label, vpc_label);
                vpc.label = to.label.clone().unwrap_or(vpc.label.clone());
                vpc.description = to.description.or(vpc.description.take());
                self.rename_in_interfaces(&label, to.label);
            }
            Change::DeleteVpc { label, .. } => {
                let subnets = self.subnets(&label).clone();
                subnets
                    .iter()
                    .for_each(|subnet| self.note_use(&label, &subnet.label));
                self.vpcs.retain(|vpc| vpc.label != label);
                self.drop_grants(|grants| &mut grants.vpcs, &label);
            }
            Change::CreateSubnet { vpc, subnet } => {
                let is_taken = self.subnets(&vpc).iter().any(|other| other.ipv4 == subnet.ipv4);
                assert!(!is_taken, "{} overlaps", subnet.label);
                insert(self.subnets(&vpc), subnet, subnet_label);
            }
            Change::RenameSubnet { vpc, label, to } => {
                find(self.subnets(&vpc), &label, subnet_label).label = to;
            }
            Change::DeleteSubnet { vpc, label } => {
                self.note_use(&vpc, &label);
                find(self.subnets(&vpc), &label, subnet_label);
                self.subnets(&vpc).retain(|subnet| subnet.label != label);
            }
            Change::CreateInstance(mut instance) => {
                instance.tags.get_or_insert_default();
                instance.interfaces.get_or_insert_default();
                self.attach(instance.interfaces.as_mut());
                insert(&mut self.instances, instance, instance_label);
            }
            Change::UpdateInstance { label, to } => {
                let instance = find(&mut self.instances, &label, instance_label);
                instance.label = to.label.unwrap_or(instance.label.clone());
                instance.tags = to.tags.or(instance.tags.take());
            }
            Change::SetInterfaces {
                instance,
                mut interfaces,
            } => {
                self.attach(Some(&mut interfaces));
                find(&mut self.instances, &instance, instance_label).interfaces = Some(interfaces);
            }
            Change::DeleteInstance { label } => {
                find(&mut self.instances, &label, instance_label);
                self.instances.retain(|instance| instance.label != label);
                self.drop_grants(|grants| &mut grants.instances, &label);
            }
            Change::CreateUser(mut user) => {
                assert_eq!(user.grants, None);
                let restricted = *user.restricted.get_or_insert(true);
                user.grants = restricted.then(Grants::default);
                insert(&mut self.users, user, username);
            }
            Change::UpdateUser { username: name, to } => {
                let user = find(&mut self.users, &name, username);
                user.username = to.username.unwrap_or(user.username.clone());
                user.email = to.email.unwrap_or(user.email.clone());
                if let Some(restricted) = to.restricted {
                    assert_ne!(user.restricted, Some(restricted));
                    user.restricted = Some(restricted);
                    user.grants = restricted.then(Grants::default);
                }
            }
            Change::SetGrants {
                username: name,
                grants,
            } => {
                let (vpcs, instances) = (self.vpcs.clone(), self.instances.clone());
                for grant in &grants.vpcs {
                    assert!(vpcs.iter().any(|vpc| is_same(&vpc.label, &grant.label)));
                }
                for grant in &grants.instances {
                    assert!(instances.iter().any(|found| is_same(&found.label, &grant.label)));
                }
                let user = find(&mut self.users, &name, username);
                assert_eq!(user.restricted, Some(true));
                user.grants = Some(grants);
            }
            Change::DeleteUser { username: name } => {
                find(&mut self.users, &name, username);
                self.users.retain(|user| user.username != name);
            }
        }
    }

    fn subnets(&mut self, vpc: &str) -> &mut Vec<Subnet> {
        let vpc = find(&mut self.vpcs, vpc, vpc_label);
        vpc.subnets.get_or_insert_default()
    }

    fn note_use(&mut self, vpc: &str, subnet: &str) {
        let is_there =
            |label: &Option<String>, wanted: &str| label.as_ref().is_some_and(|label| is_same(label, wanted));
        for instance in &self.instances {
            let interfaces = instance.interfaces.iter().flatten();
            let mut uses =
                interfaces.filter(|used| is_there(&used.vpc, vpc) && is_there(&used.subnet, subnet));
            self.deletes_used_network |= uses.next().is_some();
        }
    }

    /// Checks that the subnets exist, and chooses missing addresses.
    fn attach(&mut self, interfaces: Option<&mut Vec<Interface>>) {
        for interface in interfaces.into_iter().flatten() {
            let (Some(vpc), Some(subnet)) = (&interface.vpc, &interface.subnet) else {
                continue;
            };
            let vpc = self.vpcs.iter().find(|found| is_same(&found.label, vpc));
            let subnets = vpc.expect("the VPC exists").subnets.iter().flatten();
            assert!(subnets.clone().any(|found| is_same(&found.label, subnet)));
            let ipv4 = interface.ipv4.get_or_insert_default();
            ipv4.vpc.get_or_insert_with(|| "10.0.0.2".to_owned());
        }
    }

    fn rename_in_interfaces(&mut self, from: &str, to: Option<String>) {
        let Some(to) = to else { return };
        let interfaces = self
            .instances
            .iter_mut()
            .flat_map(|one| one.interfaces.iter_mut().flatten());
        for interface in interfaces.filter(|interface| interface.vpc.as_deref() == Some(from)) {
            interface.vpc = Some(to.clone());
        }
    }

    fn drop_grants(&mut self, of: fn(&mut Grants) -> &mut Vec<ObjectGrant>, label: &str) {
        for grants in self.users.iter_mut().filter_map(|user| user.grants.as_mut()) {
            of(grants).retain(|grant| !is_same(&grant.label, label));
        }
    }
}

/// A label in one of two spellings.
fn label(name: &'static str) -> impl Strategy<Value = String> {
    any::<bool>().prop_map(move |upper| {
        if upper {
            name.to_uppercase()
        } else {
            name.to_owned()
        }
    })
}

/// A subset of three items, each made from its number.
fn some_of<T: std::fmt::Debug + Clone + 'static>(
    make: impl Fn(usize) -> BoxedStrategy<T>,
) -> impl Strategy<Value = Vec<T>> {
    let items: Vec<_> = (0..3)
        .map(|at| proptest::option::weighted(0.7, make(at)))
        .collect();
    items.prop_map(|items| items.into_iter().flatten().collect())
}

/// A field that most documents have.
fn usually<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    proptest::option::weighted(0.9, value)
}

const NAMES: [&str; 3] = ["one", "two", "three"];

/// Fields that cannot be changed depend only on the label.
fn subnets() -> impl Strategy<Value = Option<Vec<Subnet>>> {
    let subnet = |at: usize| {
        let subnet = move |label| Subnet {
            label,
            ipv4: format!("10.0.{at}.0/24"),
            ipv6: None,
        };
        label(NAMES[at]).prop_map(subnet).boxed()
    };
    usually(some_of(subnet))
}

fn vpcs() -> impl Strategy<Value = Option<Vec<Vpc>>> {
    let vpc = |at: usize| {
        let description = proptest::option::of("[ab]?");
        let vpc = move |(label, description, subnets)| Vpc {
            label,
            region: "us-east".to_owned(),
            description,
            ipv6: (at == 0).then(|| {
                vec![Range {
                    range: "auto".to_owned(),
                }]
            }),
            subnets,
        };
        (label(NAMES[at]), description, subnets()).prop_map(vpc).boxed()
    };
    usually(some_of(vpc))
}

fn interface() -> impl Strategy<Value = Interface> {
    let subnet = (0..3_usize, 0..3_usize, any::<bool>());
    subnet.prop_map(|(vpc, subnet, is_fixed)| Interface {
        purpose: "vpc".to_owned(),
        vpc: Some(NAMES[vpc].to_owned()),
        subnet: Some(NAMES[subnet].to_owned()),
        ipv4: is_fixed.then(|| InterfaceIpv4 {
            vpc: Some("10.0.0.9".to_owned()),
            nat_1_1: None,
        }),
        ..Interface::default()
    })
}

fn instances() -> impl Strategy<Value = Option<Vec<Instance>>> {
    let instance = |at: usize| {
        let tags = proptest::option::of(proptest::collection::vec("[xyz]", 0..3));
        let interfaces = usually(proptest::collection::vec(interface(), 0..4));
        let instance = |(label, tags, interfaces)| Instance {
            label,
            region: "us-east".to_owned(),
            plan: "g6-nanode-1".to_owned(),
            image: None,
            tags,
            interfaces,
        };
        (label(NAMES[at]), tags, interfaces).prop_map(instance).boxed()
    };
    usually(some_of(instance))
}

fn users() -> impl Strategy<Value = Option<Vec<User>>> {
    let user = |at: usize| {
        let grant = |at: usize| {
            let permissions = prop_oneof![Just("read_only"), Just("read_write")];
            let grant = |(label, permissions): (String, &str)| ObjectGrant {
                label,
                permissions: permissions.to_owned(),
            };
            (label(NAMES[at]), permissions).prop_map(grant).boxed()
        };
        let global = proptest::collection::vec(prop_oneof![Just("add_vpcs"), Just("add_linodes")], 0..3);
        let grants = (global, some_of(grant), some_of(grant)).prop_map(|(global, vpcs, instances)| Grants {
            account_access: None,
            global: global.into_iter().map(str::to_owned).collect(),
            vpcs,
            instances,
        });
        let restricted = proptest::option::of(any::<bool>());
        let parts = (
            label(NAMES[at]),
            "[ab]@x",
            restricted,
            proptest::option::of(grants),
        );
        let user = |(username, email, restricted, grants): (_, _, Option<bool>, Option<Grants>)| User {
            username,
            email,
            restricted,
            grants: grants.filter(|_| restricted != Some(false)),
        };
        parts.prop_map(user).boxed()
    };
    usually(some_of(user))
}

fn documents() -> impl Strategy<Value = Document> {
    let document = |(vpcs, instances, users)| Document {
        version: VERSION,
        vpcs,
        instances,
        users,
    };
    (vpcs(), instances(), users())
        .prop_map(document)
        .prop_map(consistent)
}

/// The document without interfaces and grants that refer to objects outside of it.
fn consistent(mut document: Document) -> Document {
    let vpcs = document.vpcs.clone().unwrap_or_default();
    let has_subnet = |vpc: &str, subnet: &str| {
        let mut vpcs = vpcs.iter().filter(|found| is_same(&found.label, vpc));
        let mut subnets = vpcs
            .find_map(|found| found.subnets.as_ref())
            .into_iter()
            .flatten();
        subnets.any(|found| is_same(&found.label, subnet))
    };
    for interfaces in document
        .instances
        .iter_mut()
        .flatten()
        .filter_map(|instance| instance.interfaces.as_mut())
    {
        interfaces.retain(|interface| match (&interface.vpc, &interface.subnet) {
            (Some(vpc), Some(subnet)) => has_subnet(vpc, subnet),
            _ => true,
        });
    }
    let instances = document.instances.clone().unwrap_or_default();
    for user in document.users.iter_mut().flatten() {
        if let Some(grants) = &mut user.grants {
            user.restricted = Some(true);
            grants
                .vpcs
                .retain(|grant| vpcs.iter().any(|vpc| is_same(&vpc.label, &grant.label)));
            grants
                .instances
                .retain(|grant| instances.iter().any(|found| is_same(&found.label, &grant.label)));
        }
    }
    document
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Every plan can be run, and after it, the same document has an empty plan.
    #[test]
    fn a_plan_makes_the_state_match_the_document(
        before in documents(), wanted in documents(), prune in any::<bool>()
    ) {
        let mut model = Model::of(&before);
        let first = plan(&model.document(), &wanted, prune).expect("the document is consistent");
        let before = model.clone();
        model.apply(&first);
        if model.deletes_used_network {
            // The rules refuse this, and only this document can cause it.
            prop_assert!(prune && keeps_use_of_deleted_network(&before, &wanted), "{:?}", first);
            return Ok(());
        }

        let second = plan(&model.document(), &wanted, prune);

        prop_assert_eq!(second.map(|plan| plan.steps), Ok(Vec::new()));
        if prune {
            let count = |list: Option<usize>, now: usize| list.is_none_or(|listed| listed == now);
            prop_assert!(count(wanted.vpcs.as_ref().map(Vec::len), model.vpcs.len()));
            prop_assert!(count(wanted.instances.as_ref().map(Vec::len), model.instances.len()));
            prop_assert!(count(wanted.users.as_ref().map(Vec::len), model.users.len()));
        }
    }
}

/// Whether an instance keeps an interface, because the document does not mention it, in a network that it does not list.
fn keeps_use_of_deleted_network(before: &Model, wanted: &Document) -> bool {
    let Some(vpcs) = &wanted.vpcs else { return false };
    let instances = before.instances.iter().filter(|instance| {
        let listed = wanted.instances.as_ref().map(|listed| {
            let mut listed = listed.iter();
            listed.find(|wanted| is_same(&wanted.label, &instance.label))
        });
        match listed {
            // The instance is not deleted.
            None => true,
            Some(None) => false,
            Some(Some(listed)) => listed.interfaces.is_none(),
        }
    });
    let mut interfaces = instances.flat_map(|instance| instance.interfaces.iter().flatten());
    interfaces.any(|interface| {
        let is =
            |label: &Option<String>, other: &str| label.as_deref().is_some_and(|label| is_same(label, other));
        let vpc = vpcs.iter().find(|vpc| is(&interface.vpc, &vpc.label));
        let lists_subnet =
            |subnets: &Vec<Subnet>| subnets.iter().any(|subnet| is(&interface.subnet, &subnet.label));
        match vpc {
            None => true,
            Some(vpc) => vpc.subnets.as_ref().is_some_and(|subnets| !lists_subnet(subnets)),
        }
    })
}

fn document(text: &str) -> Document {
    read(text).expect("the document is valid")
}

#[test]
fn networks_that_instances_leave_are_deleted_after_the_instances_have_moved() {
    let old = document(
        "{vpcs: [{label: a, region: r, subnets: [{label: s, ipv4: 10.0.0.0/24}, {label: u, ipv4: 10.0.1.0/24}]}],
          instances: [{label: i, region: r, type: t, interfaces: [{purpose: vpc, vpc: a, subnet: s}]}]}",
    );
    let new = document(
        "{vpcs: [{label: a, region: r, subnets: [{label: w, ipv4: 10.0.1.0/24}]}],
          instances: [{label: i, region: r, type: t, interfaces: [{purpose: vpc, vpc: a, subnet: w}]}]}",
    );
    let mut model = Model::of(&old);

    let steps = plan(&model.document(), &new, true).expect("the difference can be removed");

    let names: Vec<_> = steps
        .steps
        .iter()
        .map(|step| match &step.change {
            Change::DeleteSubnet { label, .. } => format!("delete {label}"),
            Change::CreateSubnet { subnet, .. } => format!("create {}", subnet.label),
            Change::SetInterfaces { .. } => "move".to_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(names, ["delete u", "create w", "move", "delete s"]);
    model.apply(&steps);
}

#[test]
fn differences_that_cannot_be_removed_are_all_listed() {
    let old = document(
        "{vpcs: [{label: a, region: r, ipv6: [{range: 'fd00::/52'}], subnets: [{label: s, ipv4: 10.0.0.0/24}]}],
          instances: [{label: i, region: r, type: t, image: x}], users: [{username: u, email: e, restricted: false}]}",
    );
    let new = document(
        "{vpcs: [{label: A, region: q, ipv6: [], subnets: [{label: s, ipv4: 10.0.1.0/24}]}],
          instances: [{label: i, region: r, type: v, image: y, interfaces: [
            {purpose: vpc, vpc: b, subnet: s}, {purpose: vpc, vpc: a, subnet: t}]}],
          users: [{username: u, email: e, grants: {vpcs: [{label: c, permissions: read_only}]}}]}",
    );
    let faults = plan(&Model::of(&old).document(), &new, false).expect_err("the differences remain");
    let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
    let advice = |kind: &str| format!("and cannot be changed; use another label, or delete the {kind} first");
    assert_eq!(
        faults,
        [
            "instances[0].interfaces[0].vpc: no VPC has the label b".to_owned(),
            "instances[0].interfaces[1].subnet: the VPC a has no subnet with the label t".to_owned(),
            format!("instances[0].type: is t {}", advice("instance")),
            format!("instances[0].image: is x {}", advice("instance")),
            format!("vpcs[0].region: is r {}", advice("VPC")),
            format!("vpcs[0].ipv6: is fd00::/52 {}", advice("VPC")),
            format!("vpcs[0].subnets[0].ipv4: is 10.0.0.0/24 {}", advice("subnet")),
            "users[0].grants.vpcs[0].label: no VPC has the label c".to_owned(),
            "users[0].grants: an unrestricted user has no grants: remove them, or set restricted: true"
                .to_owned(),
        ]
    );
}
