//! Kinds of objects that tickets can refer to. VPCs, VLANs and instances are Garth's own objects. All other
//! objects are entries in the provider's directory.

use crate::model::entity::{Entity, EntityKind};
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::text::Line;

/// The label of a VLAN on an interface.
pub type VlanLabel = Line<64>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubjectKind {
    Database,
    Domain,
    Firewall,
    Linode,
    LkeCluster,
    LongviewClient,
    Nodebalancer,
    Volume,
    Vpc,
    Vlan,
}

impl SubjectKind {
    /// The kinds with an ID, in the order of interface §4.3.
    pub const WITH_ID: [SubjectKind; 9] = [
        SubjectKind::Database,
        SubjectKind::Domain,
        SubjectKind::Firewall,
        SubjectKind::Linode,
        SubjectKind::LkeCluster,
        SubjectKind::LongviewClient,
        SubjectKind::Nodebalancer,
        SubjectKind::Volume,
        SubjectKind::Vpc,
    ];

    /// The `type` of an entity.
    pub const fn word(self) -> &'static str {
        match self {
            SubjectKind::Database => "database",
            SubjectKind::Domain => "domain",
            SubjectKind::Firewall => "firewall",
            SubjectKind::Linode => "linode",
            SubjectKind::LkeCluster => "lkecluster",
            SubjectKind::LongviewClient => "longview",
            SubjectKind::Nodebalancer => "nodebalancer",
            SubjectKind::Volume => "volume",
            SubjectKind::Vpc => "vpc",
            SubjectKind::Vlan => "vlan",
        }
    }

    /// Parses a kind.
    pub fn with_word(word: &str) -> Option<Self> {
        let mut all = Self::WITH_ID.into_iter().chain([SubjectKind::Vlan]);
        all.find(|kind| kind.word() == word)
    }

    /// The attribute of a ticket that contains the object's ID.
    pub const fn attribute(self) -> &'static str {
        match self {
            SubjectKind::Database => "database_id",
            SubjectKind::Domain => "domain_id",
            SubjectKind::Firewall => "firewall_id",
            SubjectKind::Linode => "linode_id",
            SubjectKind::LkeCluster => "lkecluster_id",
            SubjectKind::LongviewClient => "longviewclient_id",
            SubjectKind::Nodebalancer => "nodebalancer_id",
            SubjectKind::Volume => "volume_id",
            SubjectKind::Vpc => "vpc_id",
            SubjectKind::Vlan => "vlan",
        }
    }

    /// Parses the kind of an object in another service. The directory contains only objects of these kinds.
    pub fn parse_foreign(raw: &str) -> Result<Self, Reasons> {
        let is_foreign = |kind: &SubjectKind| !matches!(kind, SubjectKind::Linode | SubjectKind::Vpc);
        let mut kinds = Self::WITH_ID.into_iter().filter(is_foreign);
        let found = kinds.clone().find(|kind| kind.word() == raw);
        found.ok_or_else(|| {
            let words: Vec<_> = kinds.by_ref().map(SubjectKind::word).collect();
            vec![Reason::not_one_of(Code::ChoiceInvalid, &words)]
        })
    }

    /// An entity of this kind.
    pub fn entity(self, id: i64, label: String) -> Entity {
        let kind = EntityKind::Subject(self);
        Entity { kind, id, label }
    }

    /// The label for an object without a label, such as `domain7`.
    pub fn default_label(self, id: i64) -> String {
        format!("{}{id}", self.word())
    }
}
