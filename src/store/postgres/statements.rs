//! A cache of a connection's prepared statements. Its size is bounded, because each combination of filters is a new
//! statement.

use std::collections::HashMap;

use tokio_postgres::Statement;

const MAX_STATEMENTS: usize = 256;

#[derive(Default)]
pub struct Statements {
    /// The statements by their SQL, each with the value of `uses` at its last use.
    cached: HashMap<String, (Statement, u64)>,
    uses: u64,
}

impl Statements {
    pub fn find(&mut self, sql: &str) -> Option<Statement> {
        self.uses += 1;
        let (statement, used) = self.cached.get_mut(sql)?;
        *used = self.uses;
        Some(statement.clone())
    }

    /// Adds a statement. If there are too many, evicts the least recently used one.
    pub fn insert(&mut self, sql: &str, statement: Statement) {
        if self.cached.len() >= MAX_STATEMENTS {
            let oldest = self.cached.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(sql, _)| sql.clone()) {
                self.cached.remove(&oldest);
            }
        }
        self.cached.insert(sql.to_owned(), (statement, self.uses));
    }
}
