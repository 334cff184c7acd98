//! The tenant of a lab: a VPC with two subnets, and an instance in each subnet for each host.

use std::net::IpAddr;

use anyhow::{Context, anyhow};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::agent::http_client::HttpClient;

const REGION: &str = "us-east";
/// The subnets, with the names of their instances.
const SUBNETS: [(&str, &str, &str); 2] = [("front", "10.0.1.0/24", "web"), ("back", "10.0.2.0/24", "db")];

pub struct Instance {
    pub id: i64,
    pub label: String,
    pub addresses: Vec<IpAddr>,
}

/// The API of the server of the lab, as its tenant.
pub struct Tenant {
    client: HttpClient,
    token: String,
}

impl Tenant {
    pub fn new(server: &str, token: String) -> anyhow::Result<Self> {
        let client = HttpClient::new(server, None).map_err(|error| anyhow!(error))?;
        Ok(Self { client, token })
    }

    /// Creates the VPC and boots the instances. Returns the ID of the VPC.
    pub async fn create(&self, hosts: u8) -> anyhow::Result<i64> {
        let subnets = SUBNETS
            .map(|(label, range, _)| json!({"label": label, "ipv4": range, "ipv6": [{"range": "auto"}]}));
        let vpc = json!({"label": "demo", "region": REGION, "ipv6": [{"range": "/52"}], "subnets": subnets});
        let vpc = self.post("/vpcs", &vpc).await?;
        for (at, (_, _, name)) in SUBNETS.iter().enumerate() {
            let subnet = &vpc["subnets"][at]["id"];
            let interface =
                json!({"purpose": "vpc", "subnet_id": subnet, "ipv6": {"slaac": [{"range": "auto"}]}});
            for number in 1..=hosts {
                let instance = json!({"label": format!("{name}-{number}"), "region": REGION, "type": "g6-nanode-1",
                    "booted": true, "interfaces": [interface]});
                self.post("/linode/instances", &instance).await?;
            }
        }
        vpc["id"].as_i64().context("a VPC has an ID")
    }

    pub async fn are_running(&self) -> anyhow::Result<bool> {
        let instances = self.list("/linode/instances").await?;
        Ok(instances.iter().all(|instance| instance["status"] == "running"))
    }

    /// The instances with their addresses in the VPC.
    pub async fn instances(&self, vpc: i64) -> anyhow::Result<Vec<Instance>> {
        let ipv4 = self.list(&format!("/vpcs/{vpc}/ips")).await?;
        let ipv6 = self.list(&format!("/vpcs/{vpc}/ipv6s")).await?;
        let mut found = Vec::new();
        for instance in self.list("/linode/instances").await? {
            let of_instance = |row: &&Value| row["linode_id"] == instance["id"];
            let addresses = ipv4.iter().filter(of_instance).map(|row| &row["address"]);
            let networks = ipv6.iter().filter(of_instance).map(|row| &row["ipv6_addresses"]);
            let slaac = networks.flat_map(|networks| networks.as_array().into_iter().flatten());
            let addresses = addresses.chain(slaac.map(|network| &network["slaac_address"]));
            found.push(Instance {
                id: instance["id"].as_i64().unwrap_or_default(),
                label: instance["label"].as_str().unwrap_or_default().to_owned(),
                addresses: addresses
                    .filter_map(|address| address.as_str()?.parse().ok())
                    .collect(),
            });
        }
        Ok(found)
    }

    /// The ID of the instance with a label.
    pub async fn instance_id(&self, label: &str) -> anyhow::Result<Option<i64>> {
        let instances = self.list("/linode/instances").await?;
        let found = instances.iter().find(|instance| instance["label"] == label);
        Ok(found.and_then(|instance| instance["id"].as_i64()))
    }

    async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let (url, body) = (format!("/v4{path}"), body.to_string().into_bytes());
        let sent = self.client.post(&url, Some(&self.token), body);
        let response = sent.await.map_err(|error| anyhow!("POST {path}: {error}"))?;
        Ok(serde_json::from_slice(&response)?)
    }

    async fn list(&self, path: &str) -> anyhow::Result<Vec<Value>> {
        let path = format!("/v4{path}?page_size=500");
        let response = self.client.get(&path, &self.token).await;
        let response = response.map_err(|error| anyhow!("GET {path}: {error}"))?;
        let body = response.into_body().collect().await?.to_bytes();
        let mut list: Value = serde_json::from_slice(&body)?;
        serde_json::from_value(list["data"].take()).context("a list")
    }
}
