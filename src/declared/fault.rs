//! Errors about a place in a document.

use std::fmt;

/// An error, and the path of the field that it is about, such as `vpcs[2].subnets[0].ipv4`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Empty for the whole document.
    pub path: String,
    pub text: String,
}

impl Fault {
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.text),
            path => write!(f, "{path}: {}", self.text),
        }
    }
}
