//! Reads and writes the rows of a store without Garth's code.

use std::collections::BTreeMap;

use garth::store::Database;
use rusqlite::types::Value as Cell;
use serde_json::{Value, json};

use crate::engine::Home;

pub type Row = BTreeMap<String, Value>;
/// All rows of all tables, by table name.
pub type Content = BTreeMap<String, Vec<Row>>;

pub fn sorted<T: serde::Serialize>(rows: impl IntoIterator<Item = T>) -> Vec<String> {
    let text = |row| serde_json::to_string(&row).expect("JSON");
    let mut rows: Vec<String> = rows.into_iter().map(text).collect();
    rows.sort();
    rows
}

impl Home {
    /// Runs statements without Garth's code.
    pub async fn run(&self, sql: &str) {
        match self.database() {
            None => embedded(self).execute_batch(sql).expect("the rows are valid"),
            Some(database) => {
                let client = connect(&database).await;
                client.batch_execute(sql).await.expect("the rows are valid");
                client
                    .batch_execute(ADVANCE_SEQUENCES)
                    .await
                    .expect("the sequences can be advanced");
            }
        }
    }

    /// Runs statements that violate constraints.
    pub async fn damage(&self, sql: &str) {
        self.discard();
        match self.database() {
            None => {
                let sql = format!("PRAGMA foreign_keys = OFF; {sql}");
                let written = embedded(self).execute_batch(&sql);
                written.expect("the statements are valid");
            }
            Some(database) => {
                let sql = format!("SET session_replication_role = replica; {sql}");
                let client = connect(&database).await;
                client
                    .batch_execute(&sql)
                    .await
                    .expect("the statements are valid");
            }
        }
    }

    pub async fn content(&self) -> Content {
        match self.database() {
            None => embedded_content(&embedded(self)),
            Some(database) => {
                let reader = self.reader.get_or_init(|| connect(&database)).await;
                shared_content(reader).await
            }
        }
    }
}

/// Advances the sequences, so that new keys follow the inserted keys.
const ADVANCE_SEQUENCES: &str = "DO $$ DECLARE t text; last bigint; BEGIN
    FOR t IN SELECT table_name FROM information_schema.columns
            WHERE table_schema = 'public' AND column_name = 'id' AND is_identity = 'YES' LOOP
        EXECUTE format('SELECT max(id) FROM %I', t) INTO last;
        IF last IS NOT NULL THEN PERFORM setval(pg_get_serial_sequence(t, 'id'), last); END IF;
    END LOOP; END $$";

fn embedded(home: &Home) -> rusqlite::Connection {
    rusqlite::Connection::open(home.folder.join("garth.db")).expect("the file exists")
}

fn embedded_content(connection: &rusqlite::Connection) -> Content {
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table'
        AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND name NOT LIKE 'ticket!_text!_%' ESCAPE '!'";
    let mut tables = connection.prepare(tables).expect("SQL");
    let tables = tables.query_map([], |row| row.get(0)).expect("tables");
    let tables: Vec<String> = tables.collect::<Result<_, _>>().expect("names");
    let rows = |table: String| {
        let mut all = connection
            .prepare(&format!("SELECT * FROM {table}"))
            .expect("SQL");
        let columns: Vec<String> = all.column_names().map(str::to_owned).collect();
        let read = |row: &rusqlite::Row<'_>| {
            let cell = |(at, column): (usize, &String)| Ok((column.clone(), json_of(row.get(at)?)));
            columns.iter().enumerate().map(cell).collect()
        };
        let rows = all.query_map([], read).expect("rows");
        (table, rows.collect::<Result<_, _>>().expect("rows"))
    };
    tables.into_iter().map(rows).collect()
}

fn json_of(cell: Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => json!(number),
        Cell::Text(text) => json!(text),
        other => panic!("no column is {other:?}"),
    }
}

async fn connect(database: &Database) -> tokio_postgres::Client {
    let connected = tokio_postgres::connect(database.url.reveal(), tokio_postgres::NoTls).await;
    let (client, wire) = connected.expect("the server accepts connections");
    tokio::spawn(wire);
    client
}

async fn shared_content(client: &tokio_postgres::Client) -> Content {
    let tables = "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public'";
    let tables = client.query(tables, &[]).await.expect("tables");
    let tables: Vec<String> = tables.iter().map(|row| row.get(0)).collect();
    let all = |table: &String| format!("SELECT '{table}', CAST(to_jsonb(t) AS TEXT) FROM {table} t");
    let sql = tables.iter().map(all).collect::<Vec<_>>().join(" UNION ALL ");
    let rows = client.query(&sql, &[]).await.expect("rows");
    let mut content: Content = tables.into_iter().map(|table| (table, Vec::new())).collect();
    for row in rows {
        let (table, row): (String, String) = (row.get(0), row.get(1));
        let row = serde_json::from_str(&row).expect("an object");
        content.entry(table).or_default().push(row);
    }
    content
}
