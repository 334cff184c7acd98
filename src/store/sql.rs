//! What an engine's connection must do.

use super::error::StoreError;
use super::value::{Row, Value};
use crate::model::id::AccountId;

pub trait Sql {
    fn query(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row<'static>>, StoreError>;
    fn execute(&mut self, sql: &str, args: &[Value]) -> Result<u64, StoreError>;

    /// Shows each row of an answer to somebody; an engine that is near does so while it reads them.
    fn each(
        &mut self,
        sql: &str,
        args: &[Value],
        see: &mut dyn FnMut(&mut Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.query(sql, args)?.iter_mut().try_for_each(see)
    }

    /// Sends a question whose answer is wanted later, and gives it a number, if the engine is far away: together
    /// with what is asked next it costs one wait.
    fn send(&mut self, _sql: &str, _args: &[Value]) -> Option<Result<usize, StoreError>> {
        None
    }

    /// The answer to what was sent.
    fn receive(&mut self, number: usize) -> Result<Vec<Row<'static>>, StoreError> {
        Err(StoreError::Unexpected(format!("nothing was sent as {number}")))
    }

    /// Runs a statement without waiting for its result: if it fails, so does the transaction.
    fn later(&mut self, sql: &str, args: &[Value]) -> Result<(), StoreError> {
        self.execute(sql, args).map(drop)
    }

    /// The condition that a row of `ticket_text` has what an argument asks for.
    fn matches(&self, argument: usize) -> String;
    /// That argument, for a word that begins like this one.
    fn beginning(&self, word: &str) -> String;

    /// The last number that a table's key has given out, if only to a row that is gone.
    fn last_number(&mut self, table: &str) -> Result<i64, StoreError>;
    fn set_last_number(&mut self, table: &str, number: i64) -> Result<(), StoreError>;
    /// The tables that are there, by name.
    fn tables(&mut self) -> Result<Vec<String>, StoreError>;

    /// Makes sure that the account's events get their ids in the order in which they are committed. An
    /// engine with a single writer need do nothing.
    fn order_events(&mut self, _account: AccountId) -> Result<(), StoreError> {
        Ok(())
    }
}
