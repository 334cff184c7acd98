//! The addresses and ranges of interfaces as CSV files.

use axum::extract::State;

use crate::console::csv::{Csv, MAX_CSV_ROWS};
use crate::console::error_page::PageResult;
use crate::model::id::VpcId;
use crate::model::interface::write_address;
use crate::model::vpc_ip::{VpcIp, VpcIpv6};
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

const HEADER: [&str; 10] = [
    "address",
    "family",
    "kind",
    "vpc_id",
    "subnet_id",
    "instance_id",
    "config_id",
    "interface_id",
    "active",
    "nat_1_1",
];

/// The addresses of all VPCs.
pub async fn export_all(State(app): State<App>, caller: Caller) -> PageResult {
    let csv = app.read(caller, |tx, caller| addresses(tx, caller, None)).await?;
    Ok(csv.respond("addresses"))
}

/// The addresses of one VPC.
pub async fn export_vpc(State(app): State<App>, caller: Caller, At(id): At<VpcId>) -> PageResult {
    let csv = app
        .read(caller, move |tx, caller| addresses(tx, caller, Some(id)))
        .await?;
    Ok(csv.respond(&format!("vpc-{id}-addresses")))
}

/// The IPv4 addresses and ranges, then the IPv6 networks, each up to the maximum number of rows.
fn addresses(tx: &mut ReadTx, caller: &Caller, vpc: Option<VpcId>) -> rules::Result<Csv> {
    let mut csv = Csv::new(&HEADER);
    for page in 1.. {
        let list = ListRequest::full_page().at(page);
        let found = match vpc {
            Some(vpc) => rules::vpc_ips::of_vpc(tx, caller, vpc, &list)?,
            None => rules::vpc_ips::list(tx, caller, &list)?,
        };
        found.items.iter().for_each(|ip| ipv4_row(&mut csv, ip));
        if page >= found.pages() || page * found.page.size >= MAX_CSV_ROWS as i64 {
            break;
        }
    }
    for page in 1.. {
        let list = ListRequest::full_page().at(page);
        let found = match vpc {
            Some(vpc) => rules::vpc_ips::ipv6_of_vpc(tx, caller, vpc, &list)?,
            None => rules::vpc_ips::list_ipv6(tx, caller, &list)?,
        };
        found.items.iter().for_each(|ip| ipv6_row(&mut csv, ip));
        if page >= found.pages() || page * found.page.size >= MAX_CSV_ROWS as i64 {
            break;
        }
    }
    Ok(csv)
}

fn ipv4_row(csv: &mut Csv, ip: &VpcIp) {
    let (address, kind) = match (ip.address, ip.range) {
        (Some(address), _) => (write_address(address), "address"),
        (None, Some(range)) => (range.to_string(), "range"),
        (None, None) => return,
    };
    csv.row(&[
        &address,
        "ipv4",
        kind,
        &ip.vpc.to_string(),
        &ip.subnet.to_string(),
        &ip.instance.to_string(),
        &ip.config.to_string(),
        &ip.interface.to_string(),
        &ip.active.to_string(),
        &ip.nat_1_1.map(write_address).unwrap_or_default(),
    ]);
}

fn ipv6_row(csv: &mut Csv, ip: &VpcIpv6) {
    csv.row(&[
        &ip.range.to_string(),
        "ipv6",
        if ip.is_slaac { "slaac" } else { "range" },
        &ip.vpc.to_string(),
        &ip.subnet.to_string(),
        &ip.instance.to_string(),
        &ip.config.to_string(),
        &ip.interface.to_string(),
        &ip.active.to_string(),
        "",
    ]);
}
