//! The Linux kernel: reads the agent's objects, and runs steps.

mod commands;
mod execute;
mod observe;
mod process;
mod rules_record;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use super::host_facts::HostFacts;
use super::kernel_state::KernelState;
use super::names::{Namespace, Prefix};
use super::plan::Step;

pub use commands::command_of;
pub use execute::Failures;
pub use process::{KernelError, LinkIdentity, inside, namespace_names};
pub(in crate::agent) use process::{reason, run};
use rules_record::RulesRecord;

/// The kernel of this machine, as far as the agent uses it.
pub struct Kernel {
    prefix: Prefix,
    /// The file with the digests of nftables listings.
    record_file: PathBuf,
}

impl Kernel {
    pub fn new(prefix: Prefix, record_file: PathBuf) -> Self {
        Self { prefix, record_file }
    }

    /// Reads the objects of the agent. Settings are read only where `desired` has them.
    pub fn observe(&self, desired: &KernelState) -> Result<KernelState, KernelError> {
        let record = RulesRecord::read(&self.record_file);
        observe::observe(&self.prefix, desired, &record)
    }

    /// Runs steps in their order. A failed step does not stop the others, except in a namespace without filters.
    pub fn execute(&self, steps: &[Step]) -> Failures {
        let mut record = RulesRecord::read(&self.record_file);
        let failures = execute::execute(&self.prefix, steps, &mut record);
        if let Err(error) = record.write(&self.record_file) {
            // Without the record, the next pass writes the same rules again.
            tracing::warn!(error = %error, "record of rules not written");
        }
        failures
    }

    /// The packets of all named counters of a namespace.
    pub fn counters(&self, namespace: Namespace) -> BTreeMap<String, u64> {
        observe::counters(&self.prefix, namespace)
    }

    /// The conditions that the agent does not set, on a host with this underlay address.
    pub fn host_facts(&self, address: IpAddr) -> HostFacts {
        let (forwards_ipv4, forwards_ipv6) = observe::forwarding(&self.prefix);
        HostFacts {
            underlay: observe::link_with(&self.prefix, address),
            forwards_ipv4,
            forwards_ipv6,
        }
    }

    pub fn traffic(&self, namespace: Namespace) -> BTreeMap<String, crate::agent_protocol::TrafficCounters> {
        observe::traffic(&self.prefix, namespace)
    }
}
