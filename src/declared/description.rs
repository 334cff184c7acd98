//! Steps as lines for people.

use std::fmt;

use super::step::Change;

/// A change of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeLine {
    pub action: Action,
    /// `vpc`, `subnet`, `instance` or `user`.
    pub kind: &'static str,
    /// The label or username; `VPC/SUBNET` for a subnet.
    pub name: String,
    /// The fields that an update changes.
    pub fields: Vec<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Create,
    Update,
    Delete,
}

impl Action {
    pub const fn word(self) -> &'static str {
        match self {
            Action::Create => "create",
            Action::Update => "update",
            Action::Delete => "delete",
        }
    }

    const fn sign(self) -> char {
        match self {
            Action::Create => '+',
            Action::Update => '~',
            Action::Delete => '-',
        }
    }
}

impl fmt::Display for ChangeLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.action.sign(), self.kind, self.name)?;
        match self.fields.is_empty() {
            true => Ok(()),
            false => write!(f, ": {}", self.fields.join(", ")),
        }
    }
}

/// The lines of a change. A VPC that is created or deleted has a line for each of its subnets, too.
pub fn describe(change: &Change) -> Vec<ChangeLine> {
    let line = |action, kind, name: &str| ChangeLine {
        action,
        kind,
        name: name.to_owned(),
        fields: Vec::new(),
    };
    let subnet = |action, vpc: &str, label: &str| line(action, "subnet", &format!("{vpc}/{label}"));
    let update = |kind, name: &str, fields: &[(&'static str, bool)]| ChangeLine {
        fields: fields
            .iter()
            .filter_map(|(name, is_changed)| is_changed.then_some(*name))
            .collect(),
        ..line(Action::Update, kind, name)
    };
    match change {
        Change::CreateVpc(vpc) => {
            let subnets = vpc.subnets.iter().flatten();
            let subnets = subnets.map(|new| subnet(Action::Create, &vpc.label, &new.label));
            std::iter::once(line(Action::Create, "vpc", &vpc.label))
                .chain(subnets)
                .collect()
        }
        Change::UpdateVpc { label, to } => {
            let fields = [
                ("label", to.label.is_some()),
                ("description", to.description.is_some()),
            ];
            vec![update("vpc", label, &fields)]
        }
        Change::DeleteVpc { label, subnets } => {
            let subnets = subnets
                .iter()
                .map(|deleted| subnet(Action::Delete, label, deleted));
            let vpc = std::iter::once(line(Action::Delete, "vpc", label));
            vpc.chain(subnets).collect()
        }
        Change::CreateSubnet { vpc, subnet: new } => vec![subnet(Action::Create, vpc, &new.label)],
        Change::RenameSubnet { vpc, label, .. } => {
            vec![update("subnet", &format!("{vpc}/{label}"), &[("label", true)])]
        }
        Change::DeleteSubnet { vpc, label } => vec![subnet(Action::Delete, vpc, label)],
        Change::CreateInstance(instance) => vec![line(Action::Create, "instance", &instance.label)],
        Change::UpdateInstance { label, to } => {
            let fields = [("label", to.label.is_some()), ("tags", to.tags.is_some())];
            vec![update("instance", label, &fields)]
        }
        Change::SetInterfaces { instance, .. } => vec![update("instance", instance, &[("interfaces", true)])],
        Change::DeleteInstance { label } => vec![line(Action::Delete, "instance", label)],
        Change::CreateUser(user) => vec![line(Action::Create, "user", &user.username)],
        Change::UpdateUser { username, to } => {
            let fields = [
                ("username", to.username.is_some()),
                ("email", to.email.is_some()),
                ("restricted", to.restricted.is_some()),
            ];
            vec![update("user", username, &fields)]
        }
        Change::SetGrants { username, .. } => vec![update("user", username, &[("grants", true)])],
        Change::DeleteUser { username } => vec![line(Action::Delete, "user", username)],
    }
}
