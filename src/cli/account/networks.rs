//! `garth account vpcs` and `garth account instances`.

use anyhow::Context;
use serde::Serialize;

use crate::cli::output::Output;
use crate::cli::store_args::OpenStore;
use crate::model::id::AccountId;
use crate::model::instance::Instance;
use crate::model::interface::write_address;
use crate::model::page::Paged;
use crate::model::vpc::Vpc;
use crate::model::vpc_ip::VpcIp;
use crate::rules::account_networks;
use crate::rules::lists::ListRequest;

#[derive(Serialize)]
struct VpcRow {
    id: i64,
    label: String,
    region: String,
    ipv6: Option<String>,
    subnets: Vec<SubnetRow>,
    updated: String,
}

#[derive(Serialize)]
struct SubnetRow {
    id: i64,
    label: String,
    ipv4: String,
    ipv6: Option<String>,
}

impl From<Vpc> for VpcRow {
    fn from(vpc: Vpc) -> Self {
        let subnets = vpc.subnets.iter().map(|subnet| SubnetRow {
            id: subnet.id.0,
            label: subnet.label.as_str().to_owned(),
            ipv4: subnet.ipv4.to_string(),
            ipv6: subnet.ipv6.map(|range| range.to_string()),
        });
        Self {
            id: vpc.id.0,
            label: vpc.label.as_str().to_owned(),
            region: vpc.region.0.clone(),
            ipv6: vpc.ipv6.map(|range| range.to_string()),
            subnets: subnets.collect(),
            updated: vpc.updated.to_string(),
        }
    }
}

#[derive(Serialize)]
struct InstanceRow {
    id: i64,
    label: String,
    status: &'static str,
    region: String,
    #[serde(rename = "type")]
    plan: String,
    ipv4: Vec<String>,
    /// The addresses and routed ranges in VPCs.
    vpc_ipv4: Vec<String>,
}

impl InstanceRow {
    fn new(instance: &Instance, ips: &[VpcIp]) -> Self {
        let own = ips.iter().filter(|ip| ip.instance == instance.id);
        let written = |ip: &VpcIp| {
            let range = ip.range.map(|range| range.to_string());
            ip.address.map(write_address).or(range)
        };
        Self {
            id: instance.id.0,
            label: instance.label.as_str().to_owned(),
            status: instance.status.word(),
            region: instance.region.clone(),
            plan: instance.plan.clone(),
            ipv4: instance.addresses().map(write_address).collect(),
            vpc_ipv4: own.filter_map(written).collect(),
        }
    }
}

pub fn list_request(page: u32) -> ListRequest {
    ListRequest::default().at_page_in_url(&page.to_string())
}

/// Says on standard error that there are more pages.
pub fn hint_at_pages<T>(output: Output, found: &Paged<T>) -> anyhow::Result<()> {
    let (page, pages) = (found.page.number, found.pages());
    match pages {
        1 => Ok(()),
        _ => output.hint(&format!("page {page} of {pages}; --page shows another one")),
    }
}

pub async fn vpcs(store: &OpenStore, output: Output, id: i64, page: u32) -> anyhow::Result<()> {
    let found = store
        .read(move |tx| account_networks::vpcs(tx, AccountId(id), &list_request(page)))
        .await;
    let found = found.with_context(|| format!("account {id}"))?;
    hint_at_pages(output, &found)?;
    let rows: Vec<_> = found.items.into_iter().map(VpcRow::from).collect();
    output.many(&rows, &["ID", "LABEL", "REGION", "SUBNETS"], |row| {
        let subnet = |subnet: &SubnetRow| format!("{} {}", subnet.label, subnet.ipv4);
        let subnets: Vec<_> = row.subnets.iter().map(subnet).collect();
        vec![
            row.id.to_string(),
            row.label.clone(),
            row.region.clone(),
            subnets.join(", "),
        ]
    })
}

pub async fn instances(store: &OpenStore, output: Output, id: i64, page: u32) -> anyhow::Result<()> {
    let found = store
        .read(move |tx| {
            let instances = account_networks::instances(tx, AccountId(id), &list_request(page))?;
            let ips = account_networks::addresses_of(tx, AccountId(id), &instances.items)?;
            Ok((instances, ips))
        })
        .await;
    let (instances, ips) = found.with_context(|| format!("account {id}"))?;
    hint_at_pages(output, &instances)?;
    let rows: Vec<_> = instances
        .items
        .iter()
        .map(|instance| InstanceRow::new(instance, &ips))
        .collect();
    let header = ["ID", "LABEL", "STATUS", "REGION", "TYPE", "ADDRESSES", "IN VPCS"];
    output.many(&rows, &header, |row| {
        vec![
            row.id.to_string(),
            row.label.clone(),
            row.status.to_owned(),
            row.region.clone(),
            row.plan.clone(),
            row.ipv4.join(", "),
            row.vpc_ipv4.join(", "),
        ]
    })
}
