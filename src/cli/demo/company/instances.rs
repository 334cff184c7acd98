//! The instances of the demo.

use std::collections::HashMap;

use anyhow::Context;
use serde_json::{Value, json};

use super::networks::{NETWORKS, Subnets, region_of};
use crate::cli::demo::builder::{Actor, DemoBuilder};
use crate::model::id::InstanceId;
use crate::rules;

/// The instances: label, network, subnet, and additional interface fields as JSON.
const INSTANCES: [(&str, &str, &str, &str); 17] = [
    (
        "web-1",
        "production",
        "web",
        r#"{"ipv4": {"vpc": "10.10.0.10", "nat_1_1": "any"}}"#,
    ),
    (
        "web-2",
        "production",
        "web",
        r#"{"ipv4": {"vpc": "10.10.0.11", "nat_1_1": "any"}}"#,
    ),
    ("web-3", "production", "web", "{}"),
    ("app-1", "production", "app", "{}"),
    ("app-2", "production", "app", "{}"),
    ("db-1", "production", "data", r#"{"ipv4": {"vpc": "10.10.2.10"}}"#),
    ("db-2", "production", "data", r#"{"ipv4": {"vpc": "10.10.2.11"}}"#),
    ("cache-1", "production", "cache", "{}"),
    ("cache-2", "production", "cache", "{}"),
    ("cache-3", "production", "cache", "{}"),
    (
        "runner-1",
        "production",
        "batch",
        r#"{"ip_ranges": ["10.10.24.0/24"]}"#,
    ),
    ("staging-1", "staging", "all", "{}"),
    ("staging-db", "staging", "data", "{}"),
    (
        "till-gateway",
        "shops",
        "tills",
        r#"{"ip_ranges": ["172.16.8.0/22"]}"#,
    ),
    ("camera-recorder", "shops", "cameras", "{}"),
    ("warehouse-1", "analytics", "warehouse", "{}"),
    ("notebook-1", "analytics", "notebooks", "{}"),
];

pub async fn create(
    builder: &DemoBuilder,
    jonas: &Actor,
    subnets: &Subnets,
) -> anyhow::Result<HashMap<&'static str, InstanceId>> {
    let plan = builder
        .policy()
        .plans
        .iter()
        .find(|plan| !plan.retired)
        .context("the settings have no instance types")?
        .id
        .clone();
    let image = builder.policy().images.first().map(|image| image.id.clone());
    let mut created = HashMap::new();
    for (label, vpc, subnet, fields) in INSTANCES {
        let (_, id) = subnets[&(vpc.to_owned(), subnet.to_owned())];
        let network = NETWORKS.iter().find(|network| network.label == vpc);
        let region = network.map_or(0, |network| network.region);
        let mut interface: Value = serde_json::from_str(fields)?;
        interface["purpose"] = json!("vpc");
        interface["subnet_id"] = json!(id.0);
        interface["primary"] = json!(true);
        let mut body = json!({
            "label": label, "region": region_of(builder, region)?, "type": plan, "tags": [vpc], "booted": true,
            "interfaces": [interface],
        });
        if let Some(image) = &image {
            body["image"] = json!(image);
            body["root_pass"] = json!(builder.password().reveal());
        }
        let instance = builder.run(jonas, body, rules::instances::create).await?;
        created.insert(label, instance.id);
        builder.advance(1.7);
    }
    let stopped = created["staging-1"];
    builder
        .run(jonas, json!({}), move |tx, caller, request| {
            rules::power::shutdown(tx, caller, stopped, request)
        })
        .await?;
    let (instance, app) = (
        created["app-1"],
        subnets[&("production".to_owned(), "app".to_owned())].1,
    );
    let rescue = json!({"label": "rescue", "interfaces": [{"purpose": "public"}, {"purpose": "vpc", "subnet_id": app.0}]});
    builder
        .run(jonas, rescue, move |tx, caller, request| {
            rules::configs::create(tx, caller, instance, request)
        })
        .await?;
    Ok(created)
}
