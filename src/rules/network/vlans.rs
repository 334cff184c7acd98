//! VLANs. A VLAN exists as long as an interface of a config has its label.

use std::collections::BTreeMap;

use crate::model::page::Paged;
use crate::model::vlan::Vlan;
use crate::rules::caller::Caller;
use crate::rules::error::Result;
use crate::rules::lists::ListRequest;
use crate::store::filter::{Field, Kind};
use crate::store::value::Value;
use crate::store::{self, ReadTx};

static FIELDS: [Field; 3] = [
    Field::new("label", Kind::Text, ""),
    Field::new("region", Kind::Text, ""),
    Field::new("created", Kind::Time, ""),
];

/// The VLANs of the instances that the caller can see, by region and label.
pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<Vlan>> {
    let query = list.read(tx.policy(), &FIELDS)?;
    let mut found: BTreeMap<(String, String), Vlan> = BTreeMap::new();
    for usage in store::vlans::uses(tx, caller.account, caller.visibility())? {
        let key = (usage.region.clone(), usage.label.clone());
        let vlan = found.entry(key).or_insert_with(|| Vlan {
            label: usage.label,
            region: usage.region,
            instances: Vec::new(),
            created: usage.created,
        });
        vlan.instances.push(usage.instance);
        vlan.created = vlan.created.min(usage.created);
    }
    let all: Vec<Vlan> = found.into_values().collect();
    Ok(query.select(&all, |vlan, name| match name {
        "label" => Value::from(vlan.label.as_str()),
        "region" => Value::from(vlan.region.as_str()),
        _ => Value::from(vlan.created),
    }))
}
