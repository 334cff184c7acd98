//! VLANs. A VLAN exists while an interface has its label.

use crate::model::id::{AccountId, InstanceId};
use crate::model::time::Time;
use crate::store::error::StoreError;
use crate::store::list::Visibility;
use crate::store::tx::ReadTx;
use crate::store::value::args;

/// An interface on a VLAN.
pub struct VlanUse {
    pub region: String,
    pub label: String,
    pub instance: InstanceId,
    pub created: Time,
}

/// The VLAN interfaces of the account's visible instances, ordered by instance.
pub fn uses(tx: &mut ReadTx, account: AccountId, visibility: Visibility) -> Result<Vec<VlanUse>, StoreError> {
    let (condition, user) = match visibility {
        Visibility::All => ("", None),
        Visibility::GrantedTo(user) => (
            "AND i.id IN (SELECT g.entity FROM entity_grant g WHERE g.app_user = $2 AND g.kind = 'linode')",
            Some(user),
        ),
    };
    let sql = format!(
        "SELECT i.region, f.label, i.id, min(c.created) FROM instance i JOIN config c ON c.instance = i.id
         JOIN interface f ON f.config = c.id
         WHERE i.account = $1 AND f.purpose = 'vlan' AND f.label IS NOT NULL {condition}
         GROUP BY i.id, i.region, f.label ORDER BY i.id"
    );
    let mut arguments = args![account].to_vec();
    arguments.extend(user.map(Into::into));
    tx.read(&sql, &arguments, |row| {
        Ok(VlanUse {
            region: row.take()?,
            label: row.take()?,
            instance: row.take()?,
            created: row.take()?,
        })
    })
}
