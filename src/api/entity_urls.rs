//! URLs of the objects that events and tickets refer to. Instances are under `/v4/linode`, not `/v4/compute`,
//! because published clients compare the URLs.

use crate::model::entity::{Entity, EntityKind};
use crate::model::subject::SubjectKind;

pub fn of(entity: &Entity) -> String {
    let Entity { kind, id, label } = entity;
    match kind {
        EntityKind::Subject(kind) => of_subject(*kind, *id),
        EntityKind::Subnet(vpc) => format!("/v4/vpcs/{vpc}/subnets/{id}"),
        EntityKind::Config(instance) => format!("/v4/linode/instances/{instance}/configs/{id}"),
        EntityKind::Disk(instance) => format!("/v4/linode/instances/{instance}/disks/{id}"),
        EntityKind::SshKey => format!("/v4/profile/sshkeys/{id}"),
        EntityKind::Tag => format!("/v4/tags/{}", encode_segment(label)),
        EntityKind::Ticket => format!("/v4/support/tickets/{id}"),
        EntityKind::Token => format!("/v4/profile/tokens/{id}"),
        EntityKind::User => format!("/v4/account/users/{label}"),
    }
}

/// Encodes a label as a segment of a path.
fn encode_segment(label: &str) -> String {
    let form: String = form_urlencoded::byte_serialize(label.as_bytes()).collect();
    form.replace('+', "%20")
}

fn of_subject(kind: SubjectKind, id: i64) -> String {
    match kind {
        // The interface does not say which engine a database uses (decision 0014).
        SubjectKind::Database => format!("/v4/databases/mysql/instances/{id}"),
        SubjectKind::Domain => format!("/v4/domains/{id}"),
        SubjectKind::Firewall => format!("/v4/networking/firewalls/{id}"),
        SubjectKind::Linode => format!("/v4/linode/instances/{id}"),
        SubjectKind::LkeCluster => format!("/v4/lke/clusters/{id}"),
        SubjectKind::LongviewClient => format!("/v4/longview/clients/{id}"),
        SubjectKind::Nodebalancer => format!("/v4/nodebalancers/{id}"),
        SubjectKind::Volume => format!("/v4/volumes/{id}"),
        SubjectKind::Vpc => format!("/v4/vpcs/{id}"),
        SubjectKind::Vlan => "/v4/networking/vlans".to_owned(),
    }
}
