//! The parts of a host that both its page and the list show.

use maud::{Markup, html};

use crate::console::layout::age;
use crate::console::usage::used_meter;
use crate::model::host::{Host, HostStatus};
use crate::model::time::Time;
use crate::rules::addresses::Usage;

/// The label and the URL of the list of hosts.
pub const LIST: (&str, &str) = ("Hosts", "/hosts");

pub fn status_tag(status: HostStatus) -> Markup {
    html! {
        @match status {
            HostStatus::New => span .tag.new { "New" },
            HostStatus::Online => span .tag.on { "Online" },
            HostStatus::Offline => span .tag.bad { "Offline" },
            HostStatus::Draining => span .tag.free { "Draining" },
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
