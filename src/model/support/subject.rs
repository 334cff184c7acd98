//! What a ticket can be about. Garth keeps VPCs and instances itself; of the rest it knows only what
//! the provider's directory says.

use crate::model::entity::{Entity, EntityKind};
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::text::Line;

/// What an interface may call the VLAN it is on.
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
    /// Those named by an id, in the order of interface §4.3.
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

    /// The kind with this word, if there is one.
    pub fn with_word(word: &str) -> Option<Self> {
        let mut all = Self::WITH_ID.into_iter().chain([SubjectKind::Vlan]);
        all.find(|kind| kind.word() == word)
    }

    /// The attribute a ticket names it by.
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

    /// Those that other services keep, which the directory may name.
    pub fn parse_foreign(raw: &str) -> Result<Self, Reasons> {
        let foreign = |kind: &SubjectKind| !matches!(kind, SubjectKind::Linode | SubjectKind::Vpc);
        let mut kinds = Self::WITH_ID.into_iter().filter(foreign);
        let found = kinds.clone().find(|kind| kind.word() == raw);
        found.ok_or_else(|| {
            let words: Vec<_> = kinds.by_ref().map(SubjectKind::word).collect();
            let text = format!("Must be one of {}", words.join(", "));
            vec![Reason::new(Code::ChoiceInvalid, text)]
        })
    }

    /// The object of this kind with an ID and a label.
    pub fn entity(self, id: i64, label: String) -> Entity {
        let kind = EntityKind::Subject(self);
        Entity { kind, id, label }
    }

    /// The label of something nobody has named: `domain7`.
    pub fn made_up_label(self, id: i64) -> String {
        format!("{}{id}", self.word())
    }
}
