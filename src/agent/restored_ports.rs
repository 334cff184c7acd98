//! The ports that the agent has restored from the stored state, before the server has answered.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

use super::server_link::FirstAnswer;
use crate::agent_protocol::HostState;

/// If the server then refuses the host, other hosts run these instances, and the ports are removed. Ports that existed
/// before the agent was started remain.
pub struct RestoredPorts {
    answer: Option<watch::Receiver<FirstAnswer>>,
    ports: Mutex<BTreeSet<i64>>,
}

impl RestoredPorts {
    /// `answer` is `None` without a server.
    pub fn new(answer: Option<watch::Receiver<FirstAnswer>>) -> Self {
        let ports = Mutex::default();
        Self { answer, ports }
    }

    fn has(&self, expected: FirstAnswer) -> bool {
        let answer = self.answer.as_ref();
        answer.is_some_and(|answer| *answer.borrow() == expected)
    }

    /// Adds ports that a pass has created.
    pub fn add(&self, created: &BTreeSet<i64>) {
        if !self.has(FirstAnswer::State) {
            let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
            ports.extend(created);
        }
    }

    /// The state without these ports if the server refuses the host, and the state itself otherwise.
    pub fn remove_if_refused(&self, state: Arc<HostState>) -> Arc<HostState> {
        let ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        if ports.is_empty() || !self.has(FirstAnswer::Refusal) {
            return state;
        }
        let mut rest = HostState::clone(&state);
        for vpc in &mut rest.vpcs {
            vpc.ports.retain(|port| !ports.contains(&port.interface_id));
        }
        rest.vpcs.retain(|vpc| !vpc.ports.is_empty());
        Arc::new(rest)
    }
}
