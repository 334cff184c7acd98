//! Invariants of the schema and of all tables.

use super::invariant::{Findings, Invariant};
use crate::store::copy;
use crate::store::error::StoreError;
use crate::store::migrate::{Schema, TABLES, checksum_of};
use crate::store::tx::ReadTx;
use crate::store::value::args;

pub const INVARIANTS: &[Invariant] = &[
    Invariant::function("applied migrations match this build", check_migrations),
    Invariant::function(
        "every row can be read and has values of the right types",
        check_rows,
    ),
    Invariant::function("ID sequences are not behind the IDs in use", check_sequences),
];

fn check_migrations(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let schema = Schema::current();
    let rows = tx.all("SELECT number, checksum FROM migration ORDER BY number", args![])?;
    let mut applied = Vec::new();
    for mut row in rows {
        applied.push((row.take::<i64>()?, row.take::<String>()?));
    }
    for (number, checksum) in &applied {
        match schema.migrations().iter().find(|known| known.number == *number) {
            Some(known) if checksum_of(known) == *checksum => {}
            Some(_) => findings.add(format!("migration {number}"), "differs from this build"),
            None => findings.add(format!("migration {number}"), "does not exist in this build"),
        }
    }
    for known in schema.migrations() {
        if !applied.iter().any(|(number, _)| *number == known.number) {
            findings.add(format!("migration {}", known.number), "was not applied");
        }
    }
    Ok(())
}

/// Reads every value of every table.
fn check_rows(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let existing = tx.tables()?;
    for table in TABLES {
        if !existing.iter().any(|name| name == table.name) {
            findings.add(format!("table {}", table.name), "is missing");
            continue;
        }
        if let Err(cause) = copy::each_batch(tx, table, |_| Ok(())) {
            findings.add(format!("table {}", table.name), cause.to_string());
        }
        if let Some(condition) = tx.mistyped_condition(table.name)? {
            let name = table.name;
            let sql = format!(
                "SELECT 'table {name}', count(*) || ' rows have a value whose type differs from the type of its column'
                 FROM {name} WHERE {condition} HAVING count(*) > 0"
            );
            findings.add_rows(tx, &sql, args![])?;
        }
    }
    Ok(())
}

fn check_sequences(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    for table in TABLES.iter().filter(|table| table.has_sequence) {
        let sql = format!("SELECT coalesce(max(id), 0) FROM {}", table.name);
        let highest: i64 = tx.one(&sql, args![])?.take()?;
        let last = tx.last_generated_id(table.name)?;
        if last < highest {
            let problem = format!("the ID sequence is at {last}, but ID {highest} exists");
            findings.add(format!("table {}", table.name), problem);
        }
    }
    Ok(())
}
