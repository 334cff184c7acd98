//! A connection with a cache of its prepared statements.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, Statement, ToSql};

use crate::store::diagnosis::Diagnosis;
use crate::store::error::StoreError;
use crate::store::sql::Sql;
use crate::store::value::{Columns, Row, Value};

/// The maximum number of cached statements. Each combination of filters is a new statement, so the cache can become
/// full. Then all statements are dropped. Frequent statements are soon prepared again.
const MAX_STATEMENTS: usize = 256;

pub struct Statements<'c> {
    connection: &'c Connection,
    /// The index of each statement in `prepared`, by its SQL.
    indexes: HashMap<Box<str>, usize, RandomState>,
    prepared: Vec<Prepared<'c>>,
    /// Whether a statement that can change data has run since `take_changed`.
    changed: bool,
    /// Whether a constraint was violated since `take_conflicted`.
    conflicted: bool,
}

struct Prepared<'c> {
    statement: Statement<'c>,
    /// For each parameter of the statement, the index of its argument.
    arguments: Vec<usize>,
    /// Whether the statement can change data.
    is_write: bool,
    /// Whether `RETURNING id` was removed from the statement. The result is then `last_insert_rowid`.
    returns_id: bool,
}

impl<'c> Statements<'c> {
    pub fn on(connection: &'c Connection) -> Self {
        Self {
            connection,
            indexes: HashMap::default(),
            prepared: Vec::new(),
            changed: false,
            conflicted: false,
        }
    }

    /// Runs a statement without arguments or result.
    pub fn run(&mut self, command: &str) -> Result<(), StoreError> {
        self.execute(command, &[]).map(drop)
    }

    /// Whether no transaction is open.
    pub fn is_autocommit(&self) -> bool {
        self.connection.is_autocommit()
    }

    /// Whether a statement that can change data has run since the last call.
    pub fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Whether a constraint was violated since the last call.
    pub fn take_conflicted(&mut self) -> bool {
        std::mem::take(&mut self.conflicted)
    }

    /// Records whether the error is a violated constraint, and converts it to an error of the store.
    fn record_error(&mut self, cause: rusqlite::Error) -> StoreError {
        let cause = database(cause);
        self.conflicted |= matches!(cause, StoreError::Conflict(_));
        cause
    }

    /// Prepares a statement, or takes it from the cache, and binds the arguments to it.
    fn bind(&mut self, sql: &str, args: &[Value]) -> Result<&mut Prepared<'c>, StoreError> {
        let index = match self.indexes.get(sql) {
            Some(index) => *index,
            None => self.prepare(sql)?,
        };
        let prepared = &mut self.prepared[index];
        self.changed |= prepared.is_write;
        for (parameter, argument) in prepared.arguments.iter().enumerate() {
            let value = args.get(*argument).ok_or_else(|| {
                let number = argument + 1;
                StoreError::Unexpected(format!("no argument for ${number} in {sql}"))
            })?;
            let bound = prepared.statement.raw_bind_parameter(parameter + 1, value);
            bound.map_err(database)?;
        }
        Ok(prepared)
    }

    fn prepare(&mut self, sql: &str) -> Result<usize, StoreError> {
        let insert = without_returning(sql);
        let statement = self.connection.prepare(insert.unwrap_or(sql)).map_err(database)?;
        let arguments = (1..=statement.parameter_count())
            .map(|parameter| argument_of(&statement, parameter))
            .collect::<Result<_, _>>()?;
        if self.prepared.len() == MAX_STATEMENTS {
            self.indexes.clear();
            self.prepared.clear();
        }
        self.indexes.insert(sql.into(), self.prepared.len());
        self.prepared.push(Prepared {
            is_write: !statement.readonly(),
            returns_id: insert.is_some(),
            statement,
            arguments,
        });
        Ok(self.prepared.len() - 1)
    }
}

/// Removes `RETURNING id` from an INSERT of one row. Returns `None` for other statements. `last_insert_rowid`
/// returns the same ID at a lower cost: for RETURNING, SQLite creates a temporary table for the result, and
/// copies each page before changing it.
fn without_returning(sql: &str) -> Option<&str> {
    let insert = sql.strip_suffix("RETURNING id")?;
    let inserts_one =
        insert.starts_with("INSERT INTO") && !insert.contains("SELECT") && !insert.contains("CONFLICT");
    inserts_one.then_some(insert)
}

/// The index of a parameter's argument. For SQLite, `$2` is only a name. SQLite numbers parameters in the
/// order in which their names first appear.
fn argument_of(statement: &Statement, parameter: usize) -> Result<usize, StoreError> {
    let name = statement.parameter_name(parameter).unwrap_or_default();
    let number = name.strip_prefix('$').and_then(|number| number.parse().ok());
    number
        .and_then(|number: usize| number.checked_sub(1))
        .ok_or_else(|| StoreError::Unexpected(format!("unknown SQL parameter {name}")))
}

impl Sql for Statements<'_> {
    fn query(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row<'static>>, StoreError> {
        let mut found = Vec::new();
        let mut visit = |row: &mut Row| {
            found.push(Row::owned(row.rest()));
            Ok(())
        };
        self.for_each(sql, args, &mut visit)?;
        Ok(found)
    }

    fn for_each(
        &mut self,
        sql: &str,
        args: &[Value],
        visit: &mut dyn FnMut(&mut Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let connection = self.connection;
        let Prepared {
            statement,
            returns_id,
            ..
        } = self.bind(sql, args)?;
        if *returns_id {
            let inserted = statement.raw_execute();
            inserted.map_err(|cause| self.record_error(cause))?;
            let id = Value::Int(connection.last_insert_rowid());
            return visit(&mut Row::owned(vec![id]));
        }
        let mut rows = statement.raw_query();
        let ended = loop {
            match rows.next() {
                Ok(Some(row)) => visit(&mut Row::Borrowed(row, 0))?,
                Ok(None) => break Ok(()),
                Err(cause) => break Err(cause),
            }
        };
        drop(rows);
        ended.map_err(|cause| self.record_error(cause))
    }

    fn execute(&mut self, sql: &str, args: &[Value]) -> Result<u64, StoreError> {
        let changed = self.bind(sql, args)?.statement.raw_execute();
        Ok(changed.map_err(|cause| self.record_error(cause))? as u64)
    }

    fn match_condition(&self, argument: usize) -> String {
        format!("ticket_text MATCH ${argument}")
    }

    fn prefix_term(&self, word: &str) -> String {
        format!("\"{word}\"*")
    }

    fn last_generated_id(&mut self, table: &str) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = $1";
        let mut rows = self.query(sql, &[table.into()])?;
        rows.first_mut().map_or(Ok(0), Row::take)
    }

    fn set_last_generated_id(&mut self, table: &str, number: i64) -> Result<(), StoreError> {
        self.execute("DELETE FROM sqlite_sequence WHERE name = $1", &[table.into()])?;
        let sql = "INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)";
        self.execute(sql, &[table.into(), number.into()]).map(drop)
    }

    fn tables(&mut self) -> Result<Vec<String>, StoreError> {
        let sql =
            // Omits the internal tables of the full-text index.
            "SELECT name FROM sqlite_schema WHERE type = 'table'
                AND name NOT LIKE 'sqlite%' AND name NOT GLOB 'ticket_text_*' ORDER BY name";
        self.query(sql, &[])?.iter_mut().map(Row::take).collect()
    }

    fn indexes(&mut self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'index'";
        self.query(sql, &[])?.iter_mut().map(Row::take).collect()
    }

    fn diagnose(&mut self) -> Result<Vec<Diagnosis>, StoreError> {
        let mut rows = self.query("SELECT journal_mode FROM pragma_journal_mode", &[])?;
        let mode: String = rows.first_mut().map_or(Ok(String::new()), Row::take)?;
        let problem = || {
            Diagnosis::new(
                format!(
                    "the journal mode of the database file is {mode}, not wal: commands and the server block each other"
                ),
                "move the data folder to a local disk",
            )
        };
        Ok((mode != "wal").then(problem).into_iter().collect())
    }

    fn continues_after_failure(&self) -> bool {
        true
    }

    fn columns(&mut self, table: &str) -> Result<Vec<String>, StoreError> {
        let rows = self.query(
            "SELECT name FROM pragma_table_info($1) ORDER BY cid",
            &[table.into()],
        );
        rows?.iter_mut().map(Row::take).collect()
    }

    /// SQLite can store a value of any type in any column.
    fn mistyped_condition(&mut self, table: &str) -> Result<Option<String>, StoreError> {
        let columns = self.query("SELECT name, type FROM pragma_table_info($1)", &[table.into()])?;
        let condition = |mut column: Row<'static>| {
            let (name, declared): (String, String) = (column.take()?, column.take()?);
            let expected = if declared == "TEXT" { "text" } else { "integer" };
            Ok(format!("typeof({name}) NOT IN ('null', '{expected}')"))
        };
        let conditions: Result<Vec<_>, StoreError> = columns.into_iter().map(condition).collect();
        Ok(Some(conditions?.join(" OR ")))
    }
}

impl Columns for rusqlite::Row<'_> {
    fn column(&self, at: usize) -> Option<Value<'_>> {
        self.get_ref(at).ok().map(Value::from)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(number) => ValueRef::Integer(*number),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

impl<'a> From<ValueRef<'a>> for Value<'a> {
    fn from(value: ValueRef<'a>) -> Self {
        match value {
            ValueRef::Integer(number) => Value::Int(number),
            ValueRef::Text(bytes) => Value::Text(match std::str::from_utf8(bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => String::from_utf8_lossy(bytes),
            }),
            ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => Value::Null,
        }
    }
}

/// Converts an error of SQLite to an error of the store.
pub fn database(cause: rusqlite::Error) -> StoreError {
    match cause.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => StoreError::Conflict(cause.to_string()),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull) => {
            StoreError::Unavailable(cause.to_string())
        }
        _ => StoreError::Database(Box::new(cause)),
    }
}
