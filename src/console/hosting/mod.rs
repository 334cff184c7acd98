//! Pages for the provider's hosts, and the ports of instances on them.

mod encryption;
pub mod host;
mod host_summary;
pub mod hosts;
pub mod port_table;

use crate::console::page::{Page, get, post};

const HOST: &str = "/hosts/{hostId}";

pub fn pages() -> Vec<Page> {
    vec![
        get("pageHosts", "/hosts", hosts::list).staff(),
        get("pageHostNew", "/hosts/new", hosts::new).staff(),
        post("sendHostNew", "/hosts/new", hosts::create).staff(),
        get("pageHost", HOST, host::view).staff(),
        post("sendHostDrain", "/hosts/{hostId}/drain", host::drain).staff(),
        post("sendHostUndrain", "/hosts/{hostId}/undrain", host::undrain).staff(),
        post(
            "sendHostJoinToken",
            "/hosts/{hostId}/join-token",
            host::join_token,
        )
        .staff(),
        post("sendHostRemove", "/hosts/{hostId}/remove", host::remove).staff(),
    ]
}
