//! What can go wrong in the store. None of it is the caller's fault, and none of it is shown.

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// More work is waiting than will be taken on.
    #[error("the store's queue is full")]
    Full,
    /// The database cannot be reached or is held by someone else; later it may work.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// A write may not have reached the disk: the store has stopped for good.
    #[error("the store has stopped")]
    Stopped,
    /// The work itself broke down; its changes were undone.
    #[error("the work panicked")]
    Panicked,
    /// A constraint of the schema said no to what the rules let through.
    #[error("a constraint was violated: {0}")]
    Conflict(String),
    /// The database did not answer as the schema says.
    #[error("unexpected data in the store: {0}")]
    Unexpected(String),
    /// A column holds what no build has written there: the row was damaged or changed by hand.
    #[error("corrupt row: table {table}, row {row}, column {column} is not a {wanted}")]
    Corrupt {
        /// The table that the statement reads first, if the statement is known.
        table: String,
        /// The first column, which is the ID in most statements.
        row: String,
        /// Counted from 1, in the order of the statement.
        column: usize,
        /// The type that it should be read as.
        wanted: &'static str,
    },
    #[error("{0}")]
    Schema(String),
    #[error("the database failed: {0}")]
    Database(Box<dyn std::error::Error + Send + Sync>),
    #[error("{0}: {1}")]
    Files(String, std::io::Error),
}

impl StoreError {
    /// Adds the table to an error about a row.
    pub(super) fn of_statement(mut self, sql: &str) -> Self {
        if let StoreError::Corrupt { table, .. } = &mut self
            && let Some((_, from)) = sql.split_once("FROM ")
        {
            *table = from.split_whitespace().next().unwrap_or_default().to_owned();
        }
        self
    }
}
