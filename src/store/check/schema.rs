//! Invariants of the schema and of all tables.

use super::invariant::{Findings, Invariant};
use crate::store::error::StoreError;
use crate::store::migrate::{Migration, Schema, checksum_of};
use crate::store::tables::TABLES;
use crate::store::transfer;
use crate::store::tx::ReadTx;
use crate::store::value::args;

pub const INVARIANTS: &[Invariant] = &[
    Invariant::function("applied migrations match this build", check_migrations),
    Invariant::function("the indexes of the schema exist", check_indexes),
    Invariant::function(
        "every row can be read and has values of the right types",
        check_rows,
    ),
    Invariant::function("ID sequences are not behind the IDs in use", check_sequences),
];

fn check_migrations(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let schema = Schema::current();
    let sql = "SELECT number, name, checksum FROM migration ORDER BY number";
    let applied = tx.read(sql, args![], |row| {
        Ok((row.take::<i64>()?, row.take::<String>()?, row.take::<String>()?))
    })?;
    for (number, name, checksum) in &applied {
        match schema.migrations().iter().find(|known| known.number == *number) {
            Some(known) if checksum_of(known) != *checksum => {
                findings.add(format!("migration {number}"), "differs from this build");
            }
            Some(known) if known.name != name => findings.add(
                format!("migration {number}"),
                format!(
                    "is recorded as \"{name}\", but this build calls it \"{}\"",
                    known.name
                ),
            ),
            Some(_) => {}
            None => findings.add(format!("migration {number}"), "does not exist in this build"),
        }
    }
    for known in schema.migrations() {
        if !applied.iter().any(|(number, ..)| *number == known.number) {
            findings.add(format!("migration {}", known.number), "was not applied");
        }
    }
    Ok(())
}

fn check_indexes(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let existing = tx.indexes()?;
    for name in expected_indexes(Schema::current().migrations()) {
        if !existing.iter().any(|index| index == name) {
            findings.add(format!("index {name}"), "is missing");
        }
    }
    Ok(())
}

/// The indexes that the migrations create and do not drop again.
fn expected_indexes(migrations: &[Migration]) -> Vec<&'static str> {
    // The name of each index and its table.
    let mut indexes: Vec<(&str, &str)> = Vec::new();
    for statement in migrations.iter().flat_map(|migration| migration.sql.split(';')) {
        let words: Vec<_> = statement
            .lines()
            .filter(|line| !line.starts_with("--"))
            .flat_map(str::split_whitespace)
            .collect();
        match words[..] {
            ["CREATE", "INDEX", name, "ON", table, ..]
            | ["CREATE", "UNIQUE", "INDEX", name, "ON", table, ..] => {
                indexes.push((name, table));
            }
            ["DROP", "INDEX", name] => indexes.retain(|(index, _)| *index != name),
            ["DROP", "TABLE", dropped] => indexes.retain(|(_, table)| *table != dropped),
            _ => {}
        }
    }
    indexes.into_iter().map(|(name, _)| name).collect()
}

/// Reads every value of every table.
fn check_rows(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let existing = tx.tables()?;
    for table in TABLES {
        if !existing.iter().any(|name| name == table.name) {
            findings.add(format!("table {}", table.name), "is missing");
            continue;
        }
        if let Err(cause) = transfer::each_batch(tx, table, |_| Ok::<_, StoreError>(())) {
            findings.add(format!("table {}", table.name), cause.to_string());
        }
        if let Some(condition) = tx.mistyped_condition(table.name)? {
            let name = table.name;
            let sql = format!(
                "SELECT 'table {name}', count(*) || ' rows have a value whose type differs from the type of its column'
                 FROM {name} WHERE {condition} HAVING count(*) > 0"
            );
            // The findings have an unreadable table already.
            match findings.add_rows(tx, &sql, args![]) {
                Err(StoreError::Database(_)) if tx.continues_after_failure() => {}
                result => result?,
            }
        }
    }
    Ok(())
}

fn check_sequences(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    for table in TABLES.iter().filter(|table| table.has_sequence) {
        let checked = check_sequence(tx, table.name, findings);
        findings.add_failure(tx, format!("table {}", table.name), checked)?;
    }
    Ok(())
}

fn check_sequence(tx: &mut ReadTx, table: &str, findings: &mut Findings) -> Result<(), StoreError> {
    let sql = format!("SELECT coalesce(max(id), 0) FROM {table}");
    let highest: i64 = tx.one(&sql, args![])?.take()?;
    let last = tx.last_generated_id(table)?;
    if last < highest {
        let problem = format!("the ID sequence is at {last}, but ID {highest} exists");
        findings.add(format!("table {table}"), problem);
    }
    Ok(())
}
