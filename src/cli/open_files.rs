//! The limit on open files, which bounds the number of connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to the hard limit; returns the limit that applies.
pub fn raise_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let applied = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(cause) => {
            tracing::warn!(error = %cause, "open file limit not raised");
            limit.current
        }
    };
    applied.unwrap_or(u64::MAX)
}
