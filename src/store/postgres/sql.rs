//! What the store asks of a connection, in PostgreSQL's words.

use super::connection::{Connection, Rows};
use crate::model::id::AccountId;
use crate::store::error::StoreError;
use crate::store::sql::Sql;
use crate::store::value::{Row, Value};

impl Sql for Connection {
    fn query(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row<'static>>, StoreError> {
        Ok(held(self.perform(sql, args)?.0))
    }

    fn execute(&mut self, sql: &str, args: &[Value]) -> Result<u64, StoreError> {
        Ok(self.perform(sql, args)?.1)
    }

    fn send(&mut self, sql: &str, args: &[Value]) -> Option<Result<usize, StoreError>> {
        Some(self.send_ahead(sql, args))
    }

    fn receive(&mut self, number: usize) -> Result<Vec<Row<'static>>, StoreError> {
        self.answer_to(number).map(held)
    }

    fn execute_deferred(&mut self, sql: &str, args: &[Value]) -> Result<(), StoreError> {
        self.send_ahead(sql, args).map(drop)
    }

    fn match_condition(&self, argument: usize) -> String {
        format!("to_tsvector('simple', body) @@ to_tsquery('simple', ${argument})")
    }

    fn prefix_term(&self, word: &str) -> String {
        format!("'{word}':*")
    }

    fn last_generated_id(&mut self, table: &str) -> Result<i64, StoreError> {
        let sql = format!("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {table}_id_seq");
        let mut rows = self.query(&sql, &[])?;
        rows.first_mut().map_or(Ok(0), Row::take)
    }

    fn set_last_generated_id(&mut self, table: &str, number: i64) -> Result<(), StoreError> {
        let sql = format!("SELECT setval('{table}_id_seq', $1)");
        self.query(&sql, &[number.into()]).map(drop)
    }

    fn tables(&mut self) -> Result<Vec<String>, StoreError> {
        let sql =
            "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1";
        self.query(sql, &[])?.iter_mut().map(Row::take).collect()
    }

    /// An event's id comes from a sequence, which knows nothing of commits. So whoever is about to take one
    /// for an account waits until all who have taken one before are committed, and makes others wait.
    fn order_events(&mut self, account: AccountId) -> Result<(), StoreError> {
        self.wait_for_events_of(account);
        Ok(())
    }
}

fn held(rows: Rows) -> Vec<Row<'static>> {
    rows.into_iter().map(Row::held).collect()
}
