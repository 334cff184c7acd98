//! The statements a connection has prepared, up to a number: filters make texts without end.

use std::collections::HashMap;

use tokio_postgres::Statement;

const MOST: usize = 256;

#[derive(Default)]
pub struct Statements {
    /// With the time of their last use, counted in uses.
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

    /// Keeps a statement, for which the one that was used least lately may have to go.
    pub fn keep(&mut self, sql: &str, statement: Statement) {
        if self.known.len() >= MOST {
            let oldest = self.known.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(sql, _)| sql.clone()) {
                self.known.remove(&oldest);
            }
        }
        self.known.insert(sql.to_owned(), (statement, self.uses));
    }
}
