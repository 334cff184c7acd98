//! Pages for the provider's hosts, and the ports of instances on them.

mod encryption;
pub mod host;
mod host_summary;
pub mod hosts;
pub mod port_table;

use crate::console::page::{Page, get, post};
use crate::model::staff_role::StaffRole;

const HOST: &str = "/hosts/{hostId}";

pub fn pages() -> Vec<Page> {
    vec![
        get("pageHosts", "/hosts", hosts::list).staff(),
        get("pageHostNew", "/hosts/new", hosts::new).role(StaffRole::Operator),
        post("sendHostNew", "/hosts/new", hosts::create).role(StaffRole::Operator),
        get("pageHost", HOST, host::view).staff(),
        post("sendHostDrain", "/hosts/{hostId}/drain", host::drain).role(StaffRole::Operator),
        post("sendHostUndrain", "/hosts/{hostId}/undrain", host::undrain).role(StaffRole::Operator),
        post(
            "sendHostJoinToken",
            "/hosts/{hostId}/join-token",
            host::join_token,
        )
        .role(StaffRole::Operator),
        post("sendHostRemove", "/hosts/{hostId}/remove", host::remove).role(StaffRole::Operator),
    ]
}
