//! The store's SQL interface on a PostgreSQL connection.

use super::connection::{Connection, Rows};
use super::diagnosis;
use crate::model::id::AccountId;
use crate::store::diagnosis::Diagnosis;
use crate::store::error::StoreError;
use crate::store::sql::Sql;
use crate::store::value::{Row, Value};

impl Sql for Connection {
    fn query(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row<'static>>, StoreError> {
        Ok(owned(self.run_statement(sql, args)?.0))
    }

    fn execute(&mut self, sql: &str, args: &[Value]) -> Result<u64, StoreError> {
        Ok(self.run_statement(sql, args)?.1)
    }

    fn send(&mut self, sql: &str, args: &[Value]) -> Option<Result<usize, StoreError>> {
        Some(self.pipeline_statement(sql, args))
    }

    fn receive(&mut self, number: usize) -> Result<Vec<Row<'static>>, StoreError> {
        self.receive_rows(number).map(owned)
    }

    fn execute_deferred(&mut self, sql: &str, args: &[Value]) -> Result<(), StoreError> {
        self.pipeline_statement(sql, args).map(drop)
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
        // A sequence cannot have the value 0: it then begins again.
        let number_type = "CAST($1 AS BIGINT)";
        let sql = format!("SELECT setval('{table}_id_seq', greatest({number_type}, 1), {number_type} > 0)");
        self.query(&sql, &[number.into()]).map(drop)
    }

    fn tables(&mut self) -> Result<Vec<String>, StoreError> {
        let sql =
            "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1";
        self.query(sql, &[])?.iter_mut().map(Row::take).collect()
    }

    fn indexes(&mut self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT CAST(indexname AS TEXT) FROM pg_indexes WHERE schemaname = current_schema()";
        self.query(sql, &[])?.iter_mut().map(Row::take).collect()
    }

    fn allow_long_statements(&mut self) {
        self.extend_timeouts();
    }

    fn diagnose(&mut self) -> Result<Vec<Diagnosis>, StoreError> {
        diagnosis::find(self)
    }

    fn columns(&mut self, table: &str) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT CAST(attname AS TEXT) FROM pg_attribute
            WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum";
        self.query(sql, &[table.into()])?
            .iter_mut()
            .map(Row::take)
            .collect()
    }

    /// Event IDs come from a sequence, so their order can differ from the order of the commits. Therefore a transaction
    /// locks the account before it takes an ID, and holds the lock until the commit.
    fn order_events(&mut self, account: AccountId) -> Result<(), StoreError> {
        self.lock_events(account);
        Ok(())
    }
}

fn owned(rows: Rows) -> Vec<Row<'static>> {
    rows.into_iter().map(Row::owned).collect()
}
