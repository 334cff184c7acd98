//! Statements on a connection: each is prepared once and kept, with what it takes to fill it in.

use std::borrow::Cow;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, Statement, ToSql};

use crate::store::error::StoreError;
use crate::store::sql::Sql;
use crate::store::value::{Columns, Row, Value};

/// How many statements are kept. The texts of filters are without number: when there are too many, all are
/// forgotten, and those that are used all the time are soon there again.
const MOST: usize = 256;

/// A connection, as one who knows what was asked before.
pub struct Statements<'c> {
    connection: &'c Connection,
    /// Where the statement with a text is.
    places: HashMap<Box<str>, usize, RandomState>,
    prepared: Vec<Prepared<'c>>,
    /// Whether something may have been changed since this was last asked.
    changed: bool,
    /// Whether a constraint was violated since this was last asked.
    conflicted: bool,
}

struct Prepared<'c> {
    statement: Statement<'c>,
    /// The argument of each parameter.
    arguments: Vec<usize>,
    changes: bool,
    /// Whether the one column of its one row is the id of the row it has added.
    answers_id: bool,
}

impl<'c> Statements<'c> {
    pub fn on(connection: &'c Connection) -> Self {
        Self {
            connection,
            places: HashMap::default(),
            prepared: Vec::new(),
            changed: false,
            conflicted: false,
        }
    }

    /// Runs a statement that takes and gives nothing.
    pub fn run(&mut self, command: &str) -> Result<(), StoreError> {
        self.execute(command, &[]).map(drop)
    }

    /// Whether no transaction was begun, or it is over.
    pub fn is_at_rest(&self) -> bool {
        self.connection.is_autocommit()
    }

    /// Whether something may have been changed since this was last asked.
    pub fn have_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    /// Whether a constraint was violated since this was last asked.
    pub fn have_conflicted(&mut self) -> bool {
        std::mem::take(&mut self.conflicted)
    }

    fn failed(&mut self, cause: rusqlite::Error) -> StoreError {
        let cause = database(cause);
        self.conflicted |= matches!(cause, StoreError::Conflict(_));
        cause
    }

    /// The statement with this text and these arguments.
    fn filled(&mut self, sql: &str, args: &[Value]) -> Result<&mut Prepared<'c>, StoreError> {
        let place = match self.places.get(sql) {
            Some(place) => *place,
            None => self.prepare(sql)?,
        };
        let prepared = &mut self.prepared[place];
        self.changed |= prepared.changes;
        for (place, argument) in prepared.arguments.iter().enumerate() {
            let value = args.get(*argument).ok_or_else(|| {
                let number = argument + 1;
                StoreError::Unexpected(format!("no argument for ${number} in {sql}"))
            })?;
            let bound = prepared.statement.raw_bind_parameter(place + 1, value);
            bound.map_err(database)?;
        }
        Ok(prepared)
    }

    fn prepare(&mut self, sql: &str) -> Result<usize, StoreError> {
        let adding = without_answer(sql);
        let statement = self.connection.prepare(adding.unwrap_or(sql)).map_err(database)?;
        let arguments = (1..=statement.parameter_count())
            .map(|place| argument_of(&statement, place))
            .collect::<Result<_, _>>()?;
        if self.prepared.len() == MOST {
            self.places.clear();
            self.prepared.clear();
        }
        self.places.insert(sql.into(), self.prepared.len());
        self.prepared.push(Prepared {
            changes: !statement.readonly(),
            answers_id: adding.is_some(),
            statement,
            arguments,
        });
        Ok(self.prepared.len() - 1)
    }
}

/// The statement that adds a row and answers with its id, without the answer: SQLite tells the id of the last row anyway.
/// To answer, it first copies every page that it changes, and makes a table for the answer.
fn without_answer(sql: &str) -> Option<&str> {
    let adding = sql.strip_suffix("RETURNING id")?;
    let adds_one =
        adding.starts_with("INSERT INTO") && !adding.contains("SELECT") && !adding.contains("CONFLICT");
    adds_one.then_some(adding)
}

/// SQLite takes `$2` for a name and numbers names as they first appear; what comes where is in the names.
fn argument_of(statement: &Statement, place: usize) -> Result<usize, StoreError> {
    let name = statement.parameter_name(place).unwrap_or_default();
    let number = name.strip_prefix('$').and_then(|number| number.parse().ok());
    number
        .and_then(|number: usize| number.checked_sub(1))
        .ok_or_else(|| StoreError::Unexpected(format!("{name} is no parameter")))
}

impl Sql for Statements<'_> {
    fn query(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row<'static>>, StoreError> {
        let mut found = Vec::new();
        let mut hold = |row: &mut Row| {
            found.push(Row::held(row.rest()));
            Ok(())
        };
        self.for_each(sql, args, &mut hold)?;
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
            answers_id,
            ..
        } = self.filled(sql, args)?;
        if *answers_id {
            let added = statement.raw_execute();
            added.map_err(|cause| self.failed(cause))?;
            let id = Value::Int(connection.last_insert_rowid());
            return visit(&mut Row::held(vec![id]));
        }
        let mut rows = statement.raw_query();
        let ended = loop {
            match rows.next() {
                Ok(Some(row)) => visit(&mut Row::Passing(row, 0))?,
                Ok(None) => break Ok(()),
                Err(cause) => break Err(cause),
            }
        };
        drop(rows);
        ended.map_err(|cause| self.failed(cause))
    }

    fn execute(&mut self, sql: &str, args: &[Value]) -> Result<u64, StoreError> {
        let changed = self.filled(sql, args)?.statement.raw_execute();
        Ok(changed.map_err(|cause| self.failed(cause))? as u64)
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
            // A full-text index keeps itself in tables of its own.
            "SELECT name FROM sqlite_schema WHERE type = 'table'
                AND name NOT LIKE 'sqlite%' AND name NOT GLOB 'ticket_text_*' ORDER BY name";
        self.query(sql, &[])?.iter_mut().map(Row::take).collect()
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

pub fn database(cause: rusqlite::Error) -> StoreError {
    match cause.sqlite_error_code() {
        Some(ErrorCode::ConstraintViolation) => StoreError::Conflict(cause.to_string()),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull) => {
            StoreError::Unavailable(cause.to_string())
        }
        _ => StoreError::Database(Box::new(cause)),
    }
}
