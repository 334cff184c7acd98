//! Limits and clock of the machine.

use rustix::process::{Resource, getrlimit};

use super::advice::Advice;
use crate::cli::settings::Settings;
use crate::store::context::Clock;
use crate::web::connections::MaxConnections;

/// A clock before this time is wrong: 2026-01-01, in microseconds since 1970.
const EARLIEST_TIME: i64 = 1_767_225_600_000_000;

pub fn examine(settings: &Settings) -> Vec<Advice> {
    [examine_open_files(settings), examine_clock()]
        .into_iter()
        .flatten()
        .collect()
}

/// The server raises its limit to the hard limit at the start.
fn examine_open_files(settings: &Settings) -> Option<Advice> {
    let hard_limit = getrlimit(Resource::Nofile).maximum?;
    let default = MaxConnections::default();
    let requested = MaxConnections {
        total: settings
            .limits
            .connections
            .map_or(default.total, |set| set as usize),
        ..default
    };
    let possible = requested.within(hard_limit);
    (possible.total < requested.total).then(|| {
        Advice::new(
            "open files",
            format!(
                "the limit of {hard_limit} open files allows {} connections, not {}",
                possible.total, requested.total
            ),
            "raise the hard limit (systemd: LimitNOFILE=65536), or lower limits.connections",
        )
    })
}

fn examine_clock() -> Option<Advice> {
    let is_plausible = Clock::System.now().micros() >= EARLIEST_TIME;
    (!is_plausible).then(|| {
        Advice::new(
            "clock",
            "the clock of this machine is years behind",
            "set the clock, and synchronize it with NTP",
        )
    })
}
