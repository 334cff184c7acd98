//! The errors of the store. Callers do not cause them, and do not see their texts.

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A queue has reached its maximum length.
    #[error("the store's queue is full")]
    Full,
    /// The database is unreachable, locked or busy. A retry may succeed.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// The store has stopped permanently, because a write may not have reached the disk.
    #[error("the store has stopped")]
    Stopped,
    /// The job panicked, and its changes were rolled back.
    #[error("the work panicked")]
    Panicked,
    /// A change that the rules accepted violates a constraint of the schema.
    #[error("a constraint was violated: {0}")]
    Conflict(String),
    /// The database returned a result that does not match the schema.
    #[error("unexpected data in the store: {0}")]
    Unexpected(String),
    /// A column has a value that no build writes, because the row was damaged or edited by hand.
    #[error("corrupt row: table {table}, row {row}, column {column} is not a {expected}")]
    Corrupt {
        /// The first table in the statement, or "unknown".
        table: String,
        /// The value of the row's first column, or "unknown". In most statements, the first column is the ID.
        row: String,
        /// The number of the column in the statement, from 1.
        column: usize,
        /// The type that the column should have.
        expected: &'static str,
    },
    /// The database cannot be used as a store.
    #[error("{0}")]
    Schema(String),
    /// The store lacks migrations of this build, and must not be changed.
    #[error("{0}")]
    OlderSchema(String),
    /// The store has migrations that differ from this build, or that are too new for it.
    #[error("{0}")]
    OtherSchema(String),
    /// A restore into the store has not finished.
    #[error("{0}")]
    UnfinishedRestore(String),
    #[error("the database failed: {0}")]
    Database(Box<dyn std::error::Error + Send + Sync>),
    #[error("{0}: {1}")]
    Files(String, std::io::Error),
}

impl StoreError {
    /// Adds the name of the statement's table to `Corrupt`.
    pub(super) fn of_statement(mut self, sql: &str) -> Self {
        if let StoreError::Corrupt { table, .. } = &mut self
            && let Some((_, from)) = sql.split_once("FROM ")
        {
            *table = from.split_whitespace().next().unwrap_or_default().to_owned();
        }
        self
    }
}
