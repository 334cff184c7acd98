//! A problem and its fix.

use serde::Serialize;

/// A problem of the installation, and how to fix it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// What the problem is about, such as "data folder".
    pub area: &'static str,
    pub problem: String,
    pub fix: String,
}

impl Advice {
    pub fn new(area: &'static str, problem: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            area,
            problem: problem.into(),
            fix: fix.into(),
        }
    }
}
