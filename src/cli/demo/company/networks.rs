//! The VPCs and subnets of the demo.

use std::collections::HashMap;

use anyhow::ensure;
use serde_json::{Value, json};

use crate::cli::demo::builder::{Actor, DemoBuilder};
use crate::model::id::{SubnetId, VpcId};
use crate::model::region::Region;
use crate::rules;

pub struct Network {
    pub label: &'static str,
    /// Index of the region among those that the demo uses.
    pub region: usize,
    description: &'static str,
    /// Label and range of each subnet.
    subnets: &'static [(&'static str, &'static str)],
}

pub const NETWORKS: [Network; 4] = [
    Network {
        label: "production",
        region: 0,
        description: "Web shop and roastery planning. Changes only with a ticket.",
        subnets: &[
            ("web", "10.10.0.0/24"),
            ("app", "10.10.1.0/25"),
            ("data", "10.10.2.0/26"),
            ("cache", "10.10.2.64/29"),
            ("batch", "10.10.16.0/20"),
        ],
    },
    Network {
        label: "staging",
        region: 0,
        description: "A smaller copy of production, for testing.",
        subnets: &[("all", "10.20.0.0/22"), ("data", "10.20.4.0/29")],
    },
    Network {
        label: "shops",
        region: 1,
        description: "Tills and cameras of the eleven shops, behind one gateway each.",
        subnets: &[
            ("tills", "172.16.0.0/20"),
            ("cameras", "172.16.32.0/23"),
            ("guests", "172.16.64.0/26"),
        ],
    },
    Network {
        label: "analytics",
        region: 2,
        description: "",
        subnets: &[("warehouse", "192.168.0.0/25"), ("notebooks", "192.168.1.0/27")],
    },
];

pub type Subnets = HashMap<(String, String), (VpcId, SubnetId)>;

pub async fn create(builder: &DemoBuilder, mara: &Actor) -> anyhow::Result<Subnets> {
    let mut created = HashMap::new();
    for Network {
        label,
        region,
        description,
        subnets,
    } in NETWORKS
    {
        let subnets: Vec<Value> = subnets
            .iter()
            .map(|(label, range)| json!({"label": label, "ipv4": range}))
            .collect();
        let body = json!({
            "label": label, "region": region_of(builder, region)?, "description": description, "subnets": subnets,
        });
        let vpc = builder.run(mara, body, rules::vpcs::create).await?;
        for subnet in &vpc.subnets {
            let key = (label.to_owned(), subnet.label.as_str().to_owned());
            created.insert(key, (vpc.id, subnet.id));
        }
        builder.advance(3.5);
    }
    Ok(created)
}

/// The ID of the demo's region with this index. If the provider has too few regions, several indexes share a region.
pub fn region_of(builder: &DemoBuilder, index: usize) -> anyhow::Result<String> {
    let is_usable = |region: &&Region| region.offers(Region::VPCS) && region.offers(Region::LINODES);
    let policy = builder.policy();
    let mut regions: Vec<_> = policy.regions.iter().filter(is_usable).collect();
    ensure!(
        !regions.is_empty(),
        "no region has the capabilities for both VPCs and instances"
    );
    // Prefer three regions on different continents.
    let is_preferred = |region: &&Region| ["eu-central", "us-east", "ap-south"].contains(&region.id.as_str());
    regions.sort_by_key(|region| !is_preferred(region));
    Ok(regions[index % regions.len()].id.clone())
}
