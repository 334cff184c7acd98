//! Objects of events and tickets, and the directory of objects in other services.

use crate::model::id::{AccountId, InstanceId, VpcId};
use crate::model::subject::SubjectKind;

/// An object of an account in another service.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    pub account: AccountId,
    pub kind: SubjectKind,
    pub id: i64,
    pub label: String,
}

/// An object that an event or a ticket refers to. In an event, the label is the label at the time of the
/// event. In a ticket, it is the current label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entity {
    pub kind: EntityKind,
    pub id: i64,
    pub label: String,
}

/// The kind of an object. A nested object also has the ID of its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EntityKind {
    /// A kind that tickets can also refer to.
    Subject(SubjectKind),
    Subnet(VpcId),
    Config(InstanceId),
    Disk(InstanceId),
    SshKey,
    Tag,
    Ticket,
    Token,
    User,
}

impl EntityKind {
    /// The `type` of an entity.
    pub const fn word(self) -> &'static str {
        match self {
            EntityKind::Subject(kind) => kind.word(),
            EntityKind::Subnet(_) => "subnet",
            EntityKind::Config(_) => "linode_config",
            EntityKind::Disk(_) => "disk",
            EntityKind::SshKey => "user_ssh_key",
            EntityKind::Tag => "tag",
            EntityKind::Ticket => "ticket",
            EntityKind::Token => "token",
            EntityKind::User => "user",
        }
    }

    /// Parses a kind. `other` is the other object of the same event. For a subnet, it is the VPC; for a
    /// config or a disk, it is the instance.
    pub fn parse(word: &str, other: Option<(&str, i64)>) -> Option<Self> {
        let parent = |kind: SubjectKind| {
            let (_, id) = other.filter(|(word, _)| *word == kind.word())?;
            Some(id)
        };
        match word {
            "subnet" => Some(EntityKind::Subnet(VpcId(parent(SubjectKind::Vpc)?))),
            "linode_config" => Some(EntityKind::Config(InstanceId(parent(SubjectKind::Linode)?))),
            "disk" => Some(EntityKind::Disk(InstanceId(parent(SubjectKind::Linode)?))),
            "user_ssh_key" => Some(EntityKind::SshKey),
            "tag" => Some(EntityKind::Tag),
            "ticket" => Some(EntityKind::Ticket),
            "token" => Some(EntityKind::Token),
            "user" => Some(EntityKind::User),
            word => SubjectKind::with_word(word).map(EntityKind::Subject),
        }
    }
}
