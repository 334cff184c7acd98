//! How many files this process may have open: each connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit to what the system allows at most; the limit that holds then.
pub fn raise_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let holds = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(cause) => {
            tracing::warn!(%cause, "could not raise the limit on open files");
            limit.current
        }
    };
    holds.unwrap_or(u64::MAX)
}
