//! The result of a trace: the hops, the outcome, and the age of the reports that it is derived from.

use crate::model::host::OFFLINE_AFTER_SECONDS;
use crate::model::time::Time;

/// How old the reported state of a host is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReportAge {
    /// The label of the host.
    pub host: String,
    /// The time of its last report; `None` if its agent has not reported yet.
    pub last_seen: Option<Time>,
    pub seconds: i64,
}

impl ReportAge {
    pub fn new(host: &str, last_seen: Option<Time>, now: Time) -> Self {
        let seconds = last_seen.map_or(0, |last_seen| now.seconds() - last_seen.seconds());
        Self {
            host: host.to_owned(),
            last_seen,
            seconds: seconds.max(0),
        }
    }

    /// Whether the state of the host may be another one now.
    pub fn is_stale(&self) -> bool {
        self.last_seen.is_none() || self.seconds > OFFLINE_AFTER_SECONDS
    }

    pub fn text(&self) -> String {
        let host = &self.host;
        match (self.last_seen, self.seconds) {
            (None, _) => format!("{host} has not reported yet"),
            (Some(_), 1) => format!("{host} reported 1 second ago"),
            (Some(_), seconds @ ..120) => format!("{host} reported {seconds} seconds ago"),
            (Some(_), seconds @ ..7200) => format!("{host} reported {} minutes ago", seconds / 60),
            (Some(time), _) => format!("{host} reported last at {time} UTC"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Trace {
    pub hops: Vec<Hop>,
    pub outcome: Outcome,
    /// The reports of the hosts on the path, from which the state of their ports is known.
    pub reports: Vec<ReportAge>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// The instance or the host.
    pub place: String,
    pub action: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Delivered,
    /// The packet leaves the VPC. Garth does not know the networks outside.
    Leaves(String),
    Dropped(DropCause, String),
    /// A host does not report its current state.
    Uncertain(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropCause {
    NotRunning,
    NoPort,
    NoAddress,
    PortNotUp,
    NoCredential,
    NoKey,
    UnknownAddress,
    TargetNotRunning,
    TargetPortNotUp,
    OtherVpc,
    HostAddress,
    NoNat,
    NoPublicIpv6,
}

impl Outcome {
    pub const fn word(&self) -> &'static str {
        match self {
            Outcome::Delivered => "delivered",
            Outcome::Leaves(_) => "leaves_the_vpc",
            Outcome::Dropped(..) => "dropped",
            Outcome::Uncertain(_) => "uncertain",
        }
    }

    pub const fn cause(&self) -> Option<DropCause> {
        match self {
            Outcome::Dropped(cause, _) => Some(*cause),
            _ => None,
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Outcome::Delivered => None,
            Outcome::Leaves(reason) | Outcome::Dropped(_, reason) | Outcome::Uncertain(reason) => {
                Some(reason.as_str())
            }
        }
    }
}

impl DropCause {
    pub const fn word(self) -> &'static str {
        match self {
            DropCause::NotRunning => "not_running",
            DropCause::NoPort => "no_port",
            DropCause::NoAddress => "no_address",
            DropCause::PortNotUp => "port_not_up",
            DropCause::NoCredential => "no_credential",
            DropCause::NoKey => "no_key",
            DropCause::UnknownAddress => "unknown_address",
            DropCause::TargetNotRunning => "target_not_running",
            DropCause::TargetPortNotUp => "target_port_not_up",
            DropCause::OtherVpc => "other_vpc",
            DropCause::HostAddress => "host_address",
            DropCause::NoNat => "no_nat",
            DropCause::NoPublicIpv6 => "no_public_ipv6",
        }
    }
}
