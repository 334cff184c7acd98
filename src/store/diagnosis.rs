//! Problems of the database that an operator can fix, for `garth doctor`.

/// A problem of the database's configuration, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    pub problem: String,
    pub fix: String,
}

impl Diagnosis {
    pub(super) fn new(problem: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            fix: fix.into(),
        }
    }
}
