//! One pass of the agent: observe, plan, execute, report.

use std::collections::BTreeSet;

use super::encryption::{EncryptedTunnels, Sessions};
use super::filters::{self, CLEAR_TEXT, DROP_REASONS, UNKNOWN_ENDPOINT};
use super::kernel::{Failures, Kernel, KernelError};
use super::kernel_state::{KernelState, LinkKind};
use super::layout::{HostOptions, layout};
use super::names::{self, Namespace, Prefix};
use super::plan::{Action, Step, plan};
use super::remains::Remains;
use super::state_folder::StateFolder;
use super::uplink_filter::NOT_PUBLIC;
use crate::agent_protocol::{
    DropCounters, EncryptionReport, HostState, HostWarning, PROTOCOL_VERSION, Port, PortReport, PortStatus,
    StatusReport, VpcState, WarningCode,
};

/// The result of a pass.
pub struct Pass {
    pub steps: usize,
    /// The ports whose link is new.
    pub created_ports: BTreeSet<i64>,
    pub report: StatusReport,
}

pub struct Agent {
    pub kernel: Kernel,
    pub options: HostOptions,
    pub tunnels: EncryptedTunnels,
}

impl Agent {
    /// The steps that a pass would run.
    pub fn plan(&self, state: &HostState) -> Result<Vec<Step>, KernelError> {
        self.plan_with(state, &self.tunnels.sessions(state))
    }

    fn plan_with(&self, state: &HostState, sessions: &Sessions) -> Result<Vec<Step>, KernelError> {
        let tunnels = self.tunnels.facts(state, sessions);
        let desired = layout(state, &self.options, &tunnels);
        Ok(plan(&desired, &self.kernel.observe(&desired)?))
    }

    /// Makes the kernel match the desired state, as far as it can.
    pub fn reconcile(&self, state: &HostState) -> Result<Pass, KernelError> {
        // Read once: the report must not contain sessions that the kernel does not use yet.
        let sessions = self.tunnels.sessions(state);
        let steps = self.plan_with(state, &sessions)?;
        // Before the links are deleted, so that the processes of old tunnels end without an error.
        let mut problems = self.tunnels.remove_others(state);
        let failures = self.kernel.execute(&steps);
        for ((namespace, link), reason) in &failures {
            let link = link.as_deref().unwrap_or_default();
            tracing::warn!(namespace = ?namespace, link, reason, "kernel step failed");
        }
        problems.extend(self.tunnels.update(state));
        let mut report = self.report(state, &sessions, &failures);
        report.warnings.extend(problems);
        Ok(Pass {
            steps: steps.len(),
            created_ports: steps.iter().filter_map(created_port).collect(),
            report,
        })
    }

    /// Removes everything that has the agent's mark. Returns the number of steps, and those that failed.
    pub fn purge(&self) -> Result<(usize, Failures), KernelError> {
        self.tunnels
            .remove()
            .map_err(|error| format!("tunnels: {error}"))?;
        let nothing = nothing();
        let observed = self.kernel.observe(&nothing)?;
        let steps = plan(&nothing, &observed);
        Ok((steps.len(), self.kernel.execute(&steps)))
    }

    /// Everything that has the agent's mark now.
    pub fn remains(&self, folder: &StateFolder) -> Remains {
        Remains::new(&self.options.prefix, self.kernel.observe(&nothing()), folder)
    }

    /// The report of a pass that could not read the kernel: nothing is known to work.
    pub fn failed_report(&self, state: &HostState, reason: &str) -> StatusReport {
        let failures: Failures = [((Namespace::Host, None), reason.to_owned())].into();
        self.report(state, &self.tunnels.sessions(state), &failures)
    }

    fn report(&self, state: &HostState, sessions: &Sessions, failures: &Failures) -> StatusReport {
        let mut ports = Vec::new();
        for vpc in &state.vpcs {
            let counters = self.kernel.counters(Namespace::Vpc(vpc.id));
            let traffic = self.kernel.traffic(Namespace::Vpc(vpc.id));
            for port in &vpc.ports {
                let reason = failure_of(vpc, port, failures);
                let count = |reason: &str| {
                    let name = filters::counter(port.interface_id, reason);
                    counters.get(&name).copied().unwrap_or_default()
                };
                let [
                    mac,
                    ip,
                    arp,
                    neighbor_discovery,
                    dhcp,
                    router_advertisement,
                    protocol,
                ] = DROP_REASONS.map(count);
                ports.push(PortReport {
                    interface_id: port.interface_id,
                    status: if reason.is_some() {
                        PortStatus::Error
                    } else {
                        PortStatus::Up
                    },
                    reason,
                    traffic: traffic
                        .get(&names::port(port.interface_id))
                        .copied()
                        .unwrap_or_default(),
                    drops: DropCounters {
                        mac,
                        ip,
                        arp,
                        neighbor_discovery,
                        dhcp,
                        router_advertisement,
                        protocol,
                    },
                });
            }
        }
        let host_failures = failures
            .iter()
            .filter(|((namespace, _), _)| *namespace == Namespace::Host);
        let is_applied = host_failures.clone().next().is_none();
        let host_counters = self.kernel.counters(Namespace::Host);
        let count = |name: &str| host_counters.get(name).copied().unwrap_or_default();
        let facts = self.kernel.host_facts(state.underlay.address);
        let failed = |((_, link), reason): (&(Namespace, Option<String>), &String)| {
            let code = code_of_failure(&self.options.prefix, link.as_deref());
            HostWarning::new(code, reason.as_str())
        };
        let mut warnings: Vec<HostWarning> = host_failures.map(failed).collect();
        warnings.extend(facts.warnings(state));
        let encryption = self
            .tunnels
            .report(state, sessions, is_applied, count(CLEAR_TEXT));
        warnings.extend(encryption.as_ref().and_then(|report| no_sessions(state, report)));
        StatusReport {
            protocol: PROTOCOL_VERSION,
            applied_revision: state.revision,
            agent_version: env!("CARGO_PKG_VERSION").to_owned(),
            // The connection to the server adds it.
            agent_run: None,
            underlay_mtu: facts.underlay_mtu(),
            encryption,
            ports,
            warnings,
            unknown_endpoint_packets: count(UNKNOWN_ENDPOINT),
            not_public_packets: count(NOT_PUBLIC),
        }
    }
}

/// A host without objects of the agent.
fn nothing() -> KernelState {
    KernelState {
        namespaces: [(Namespace::Host, Default::default())].into(),
    }
}

/// The part of the host that does not work, by the link whose step failed. `None` is the namespace of the host.
fn code_of_failure(prefix: &Prefix, link: Option<&str>) -> WarningCode {
    match link {
        None => WarningCode::HostFilterFailed,
        Some(link) if prefix.is_tunnel(link) => WarningCode::EncryptedTunnelFailed,
        Some(link) if prefix.is_uplink(link) => WarningCode::UplinkFailed,
        Some(_) => WarningCode::Other,
    }
}

/// A warning about hosts that cannot be reached, because packets to them are dropped.
fn no_sessions(state: &HostState, report: &EncryptionReport) -> Option<HostWarning> {
    let unreachable = &report.unreachable_peers;
    let hosts: Vec<_> = unreachable.iter().map(i64::to_string).collect();
    let peers = state.underlay.encryption.as_ref();
    let is_isolated = peers.is_some_and(|encryption| encryption.peers.len() == unreachable.len());
    (!unreachable.is_empty()).then(|| HostWarning {
        code: match is_isolated {
            true => WarningCode::NoSessions,
            false => WarningCode::NoSession,
        },
        ids: unreachable.clone(),
        text: format!(
            "no encrypted session with the hosts with these IDs: {}. Check UDP ports 51820 to 51827 between the hosts",
            hosts.join(", ")
        ),
    })
}

/// The port whose link a step creates. The step of a pair may be that of its other end.
fn created_port(step: &Step) -> Option<i64> {
    let Action::AddLink { name, link, .. } = &step.action else {
        return None;
    };
    let peer = match &link.kind {
        LinkKind::Pair { peer } => names::interface_of(&peer.1),
        _ => None,
    };
    names::interface_of(name).or(peer)
}

/// Why a port does not work: the first failure of its link, its subnet or one of its namespaces.
fn failure_of(vpc: &VpcState, port: &Port, failures: &Failures) -> Option<String> {
    if !vpc.subnets.iter().any(|subnet| subnet.id == port.subnet_id) {
        return Some(format!("the desired state has no subnet {}", port.subnet_id));
    }
    let at = Namespace::Vpc(vpc.id);
    let instance = Namespace::Instance(port.instance_id);
    let places = [
        (at, None),
        (instance, None),
        (at, Some(names::port(port.interface_id))),
        (instance, Some(format!("eth{}", port.index))),
        (at, Some(names::tunnel(port.subnet_id))),
        (at, Some(names::bridge(port.subnet_id))),
    ];
    // Without its own filter, the host would accept tunnel packets from any address.
    let host_filter = failures.get(&(Namespace::Host, None));
    places
        .iter()
        .find_map(|place| failures.get(place))
        .or(host_filter)
        .cloned()
}
