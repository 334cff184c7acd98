//! Rows as lines of JSON: an array of integers, texts and nulls for each row.

use std::borrow::Cow;
use std::io::Write;

use anyhow::{anyhow, ensure};
use serde_json::Value as Json;

use crate::store::transfer::RowValues;
use crate::store::value::Value;

/// Appends a row and a line feed.
pub fn write(row: &RowValues, lines: &mut Vec<u8>) -> std::io::Result<()> {
    lines.push(b'[');
    for (at, value) in row.iter().enumerate() {
        if at > 0 {
            lines.push(b',');
        }
        match value {
            Value::Null => lines.extend_from_slice(b"null"),
            Value::Int(number) => write!(lines, "{number}")?,
            Value::Text(text) => serde_json::to_writer(&mut *lines, text)?,
        }
    }
    lines.extend_from_slice(b"]\n");
    Ok(())
}

/// Parses the rows of a table with this number of columns.
pub fn parse(lines: &[u8], columns: usize) -> anyhow::Result<Vec<RowValues>> {
    let lines = lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| parse_row(line, columns)).collect()
}

fn parse_row(line: &[u8], columns: usize) -> anyhow::Result<RowValues> {
    let values: Vec<Json> = serde_json::from_slice(line)?;
    ensure!(
        values.len() == columns,
        "a row has {} values instead of {columns}",
        values.len()
    );
    values.into_iter().map(parse_value).collect()
}

fn parse_value(value: Json) -> anyhow::Result<Value<'static>> {
    match value {
        Json::Null => Ok(Value::Null),
        Json::String(text) => Ok(Value::Text(Cow::Owned(text))),
        Json::Number(number) => match number.as_i64() {
            Some(number) => Ok(Value::Int(number)),
            None => Err(anyhow!("{number} is not an integer of 64 bits")),
        },
        _ => Err(anyhow!("a value is neither an integer, nor a text, nor null")),
    }
}
