//! The prepared statements of a connection. Their number is bounded, because each combination of filters is a new
//! statement.

use std::collections::HashMap;

use tokio_postgres::Statement;

const MAX_STATEMENTS: usize = 256;

#[derive(Default)]
pub struct Statements {
    /// Each with the value of `uses` at its last use.
    known: HashMap<String, (Statement, u64)>,
    uses: u64,
}

impl Statements {
    pub fn find(&mut self, sql: &str) -> Option<Statement> {
        self.uses += 1;
        let (statement, used) = self.known.get_mut(sql)?;
        *used = self.uses;
        Some(statement.clone())
    }

    /// Adds a statement, and evicts the least recently used one if there are too many.
    pub fn insert(&mut self, sql: &str, statement: Statement) {
        if self.known.len() >= MAX_STATEMENTS {
            let oldest = self.known.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(sql, _)| sql.clone()) {
                self.known.remove(&oldest);
            }
        }
        self.known.insert(sql.to_owned(), (statement, self.uses));
    }
}
