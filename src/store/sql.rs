//! The interface of an engine's connection.

use super::diagnosis::Diagnosis;
use super::error::StoreError;
use super::value::{Row, Value};
use crate::model::id::AccountId;

pub trait Sql {
    fn query(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row<'static>>, StoreError>;
    fn execute(&mut self, sql: &str, args: &[Value]) -> Result<u64, StoreError>;

    /// Calls `visit` with each row. SQLite passes each row without copying it.
    fn for_each(
        &mut self,
        sql: &str,
        args: &[Value],
        visit: &mut dyn FnMut(&mut Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.query(sql, args)?.iter_mut().try_for_each(visit)
    }

    /// Pipelines a query: sends it together with the next query, in one round trip. Returns the number of the
    /// query, for `receive`. Returns `None` if the engine does not pipeline, because it uses no network.
    fn send(&mut self, _sql: &str, _args: &[Value]) -> Option<Result<usize, StoreError>> {
        None
    }

    /// The rows of a pipelined query.
    fn receive(&mut self, number: usize) -> Result<Vec<Row<'static>>, StoreError> {
        Err(StoreError::Unexpected(format!(
            "unknown pipelined query {number}"
        )))
    }

    /// Runs a statement without waiting for its result. If the statement fails, the transaction fails.
    fn execute_deferred(&mut self, sql: &str, args: &[Value]) -> Result<(), StoreError> {
        self.execute(sql, args).map(drop)
    }

    /// The condition that a row of `ticket_text` matches a full-text term. `argument` is the number of the
    /// argument that has the term.
    fn match_condition(&self, argument: usize) -> String;
    /// The full-text term that matches words with this prefix.
    fn prefix_term(&self, word: &str) -> String;

    /// The last ID that the table has generated, even if its row was deleted.
    fn last_generated_id(&mut self, table: &str) -> Result<i64, StoreError>;
    fn set_last_generated_id(&mut self, table: &str, number: i64) -> Result<(), StoreError>;
    /// The names of all tables, in alphabetical order.
    fn tables(&mut self) -> Result<Vec<String>, StoreError>;
    /// The names of all indexes.
    fn indexes(&mut self) -> Result<Vec<String>, StoreError>;

    /// The names of a table's columns, in order.
    fn columns(&mut self, table: &str) -> Result<Vec<String>, StoreError>;

    /// The condition that selects the rows with a mistyped value: its type differs from the type of its
    /// column. `None` if the engine enforces types.
    fn mistyped_condition(&mut self, _table: &str) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    /// Whether the transaction can run further statements after one has failed.
    fn continues_after_failure(&self) -> bool {
        false
    }

    /// Lets the statements of this transaction run for a long time. An engine without timeouts does nothing.
    fn allow_long_statements(&mut self) {}

    /// Problems of the database's configuration.
    fn diagnose(&mut self) -> Result<Vec<Diagnosis>, StoreError>;

    /// Ensures that the account's event IDs increase in commit order. An engine with a single writer does
    /// nothing.
    fn order_events(&mut self, _account: AccountId) -> Result<(), StoreError> {
        Ok(())
    }
}
