//! Operations on hosts for staff, and operations for the agents of hosts.

pub mod agent;
pub mod encryption;
pub mod hosts;
pub mod traces;

use crate::api::handlers::{change, change_at, done, list, view_at};
use crate::model::id::HostId;
use crate::rules::agent::Staff;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::store::WriteTx;
use crate::web::operation::{Operation, delete, get, handler, post, put};

const HOSTS: &str = "/hosts";
const HOST: &str = "/hosts/{hostId}";
const ENCRYPTION: &str = "/hosts/encryption/{regionId}";

/// The operations for the provider's staff.
pub fn operations() -> Vec<Operation> {
    vec![
        get(
            "getHosts",
            HOSTS,
            list(
                |tx, _: &Staff, list| rules::hosts::list(tx, list).map(|page| (page, tx.now())),
                hosts::page,
            ),
        )
        .on_hosts()
        .list(),
        post(
            "createHost",
            HOSTS,
            change(
                |tx, _: &Staff, request| rules::hosts::create(tx, request).map(|host| (host, tx.now())),
                hosts::one,
            ),
        )
        .on_hosts(),
        get(
            "getHost",
            HOST,
            view_at(
                |tx, _: &Staff, id| {
                    let host = rules::hosts::view(tx, id)?;
                    Ok((host, rules::ports::of_host(tx, id)?, tx.now()))
                },
                hosts::details,
            ),
        )
        .on_hosts(),
        put(
            "updateHost",
            HOST,
            change_at(at_now(rules::hosts::update), hosts::one),
        )
        .on_hosts(),
        delete(
            "deleteHost",
            HOST,
            change_at(
                |tx, _: &Staff, id, request| rules::hosts::delete(tx, id, request),
                done,
            ),
        )
        .on_hosts(),
        post(
            "createHostJoinToken",
            "/hosts/{hostId}/join-token",
            change_at(
                |tx, _: &Staff, id, request| rules::hosts::create_join_token(tx, id, request),
                hosts::join_token,
            ),
        )
        .on_hosts(),
        post(
            "drainHost",
            "/hosts/{hostId}/drain",
            change_at(at_now(rules::hosts::drain), hosts::one),
        )
        .on_hosts(),
        post(
            "undrainHost",
            "/hosts/{hostId}/undrain",
            change_at(at_now(rules::hosts::undrain), hosts::one),
        )
        .on_hosts(),
        get(
            "getRegionEncryption",
            ENCRYPTION,
            view_at(
                |tx, _: &Staff, region: String| rules::encryption::view(tx, &region),
                encryption::one,
            ),
        )
        .on_hosts(),
        put(
            "updateRegionEncryption",
            ENCRYPTION,
            change_at(
                |tx, _: &Staff, region: String, request| rules::encryption::update(tx, &region, request),
                encryption::one,
            ),
        )
        .on_hosts(),
        get(
            "getTrace",
            "/hosts/trace/{computeId}/{targetAddress}",
            view_at(|tx, _: &Staff, at| rules::traces::view(tx, &at), traces::one),
        )
        .on_hosts(),
    ]
}

/// The operations for agents (decision 0031).
pub fn agent_operations() -> Vec<Operation> {
    vec![
        post("joinAgent", "/agent/join", handler(agent::join)).public(),
        get("streamAgentState", "/agent/state", handler(agent::state)).for_agents(),
        post("reportAgentStatus", "/agent/status", handler(agent::status)).for_agents(),
    ]
}

/// Adapts a rule that changes a host. The status of a host depends on the current time.
fn at_now(
    rule: fn(&mut WriteTx, HostId, &Request) -> Result<crate::model::host::Host>,
) -> impl Fn(&mut WriteTx, &Staff, HostId, &Request) -> Result<hosts::HostNow> + Copy {
    move |tx, _, id, request| rule(tx, id, request).map(|host| (host, tx.now()))
}
