//! The parts of a host that both its page and the list show.

use maud::{Markup, html};

use crate::console::layout::age;
use crate::console::usage::used_meter;
use crate::model::host::{AgentStatus, Host};
use crate::model::time::Time;
use crate::rules::addresses::Usage;

/// The label and the URL of the list of hosts.
pub const LIST: (&str, &str) = ("Hosts", "/hosts");

/// A host that is draining can be offline, too.
pub fn status_tags(host: &Host, now: Time) -> Markup {
    let agent = host.agent_status(now);
    html! {
        @if host.is_draining { span .tag.free { "Draining" } " " }
        @match agent {
            AgentStatus::New => {
                span .tag.free { "New" } " "
                span .quiet.small {
                    @if host.has_credential { "waiting for the first report of the agent" }
                    @else { "waiting for the agent to join" }
                }
            },
            AgentStatus::Online => @if !host.is_draining { span .tag.on { "Online" } },
            AgentStatus::Offline => span .tag.bad { "Offline" },
            AgentStatus::Revoked => { span .tag.bad { "Offline" } " " span .tag.bad { "Credential revoked" } },
        }
    }
}

/// The number of instances, and the capacity.
pub fn load(host: &Host) -> Markup {
    used_meter(Usage {
        used: host.instances.unsigned_abs(),
        all: host.capacity.get().unsigned_abs(),
    })
}

pub fn last_report(host: &Host, now: Time) -> Markup {
    html! {
        @match &host.report {
            Some(report) => (age(report.last_seen, now)),
            None => span .quiet { "Never" },
        }
    }
}
