//! Invariants, and the objects that violate them.

use crate::store::error::StoreError;
use crate::store::tx::ReadTx;
use crate::store::value::{Value, args};

/// A condition that every store must meet.
pub struct Invariant {
    /// The condition, such as "subnets of a VPC do not overlap".
    pub name: &'static str,
    find: Find,
}

/// How to find the objects that violate an invariant.
enum Find {
    /// A query that returns the name of each object and its problem.
    Query(&'static str),
    Function(fn(&mut ReadTx, &mut Findings) -> Result<(), StoreError>),
}

/// An object that violates an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub invariant: &'static str,
    /// The object, such as "subnet 12".
    pub object: String,
    pub problem: String,
}

/// The findings of one invariant.
pub struct Findings {
    invariant: &'static str,
    found: Vec<Finding>,
    /// The number of findings above the maximum.
    omitted: u64,
}

/// The maximum number of findings that are reported for an invariant.
const MAX_FINDINGS: usize = 100;

impl Invariant {
    /// Finds the objects that violate the invariant.
    pub fn check(&self, tx: &mut ReadTx) -> Result<Vec<Finding>, StoreError> {
        let mut findings = Findings {
            invariant: self.name,
            found: Vec::new(),
            omitted: 0,
        };
        match self.find {
            Find::Query(sql) => findings.add_rows(tx, sql, args![])?,
            Find::Function(find) => find(tx, &mut findings)?,
        }
        Ok(findings.finish())
    }

    pub(super) const fn query(name: &'static str, sql: &'static str) -> Self {
        Self {
            name,
            find: Find::Query(sql),
        }
    }

    pub(super) const fn function(
        name: &'static str,
        find: fn(&mut ReadTx, &mut Findings) -> Result<(), StoreError>,
    ) -> Self {
        Self {
            name,
            find: Find::Function(find),
        }
    }
}

impl Findings {
    pub(super) fn add(&mut self, object: impl Into<String>, problem: impl Into<String>) {
        if self.found.len() == MAX_FINDINGS {
            self.omitted += 1;
            return;
        }
        self.found.push(Finding {
            invariant: self.invariant,
            object: object.into(),
            problem: problem.into(),
        });
    }

    /// Adds a finding for an object that cannot be read. Returns the error if the transaction cannot continue after it.
    pub(super) fn add_failure(
        &mut self,
        tx: &ReadTx,
        object: impl Into<String>,
        result: Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        match result {
            Err(StoreError::Database(cause)) if tx.continues_after_failure() => {
                self.add(object, format!("cannot be read: {cause}"));
                Ok(())
            }
            result => result,
        }
    }

    /// Adds the rows of a query: the object and its problem.
    pub(super) fn add_rows(&mut self, tx: &mut ReadTx, sql: &str, args: &[Value]) -> Result<(), StoreError> {
        tx.for_each(sql, args, |row| {
            self.add(row.take::<String>()?, row.take::<String>()?);
            Ok(())
        })
    }

    fn finish(mut self) -> Vec<Finding> {
        if self.omitted > 0 {
            self.found.push(Finding {
                invariant: self.invariant,
                object: "others".to_owned(),
                problem: format!("{} more findings are not listed", self.omitted),
            });
        }
        self.found
    }
}
