//! Full-text search of tickets.
//!
//! The index stores each text as lower-case words separated by spaces, so that both engines split it into the same
//! words.

use super::error::StoreError;
use super::tx::{ReadTx, WriteTx};
use super::value::{Value, args};
use crate::model::id::TicketId;

/// Adds the words of these texts to the index of a ticket.
pub fn add(tx: &mut WriteTx, ticket: TicketId, texts: &[&str]) -> Result<(), StoreError> {
    let words: Vec<String> = texts.iter().flat_map(|text| words(text)).collect();
    let sql = "INSERT INTO ticket_text (ticket, body) VALUES ($1, $2)";
    tx.execute_deferred(sql, args![ticket, words.join(" ")])?;
    Ok(())
}

/// Queries for all texts in the index: the ID of the row, the ticket and the text.
pub const TEXTS: [&str; 3] = [
    "SELECT id, id, summary || ' ' || description FROM ticket",
    "SELECT id, ticket, description FROM reply",
    "SELECT id, ticket, description FROM note",
];

/// Rebuilds the whole index.
pub fn rebuild(tx: &mut WriteTx) -> Result<(), StoreError> {
    const ROWS_PER_QUERY: i64 = 500;
    tx.execute("DELETE FROM ticket_text", args![])?;
    for texts in TEXTS {
        let sql = format!("{texts} WHERE id > $1 ORDER BY id LIMIT $2");
        let mut last = 0_i64;
        loop {
            let rows = tx.all(&sql, args![last, ROWS_PER_QUERY])?;
            if rows.is_empty() {
                break;
            }
            for mut row in rows {
                last = row.take()?;
                let (ticket, text): (TicketId, String) = (row.take()?, row.take()?);
                add(tx, ticket, &[&text])?;
            }
        }
    }
    Ok(())
}

/// The condition that the ticket `t` contains all of these words, or has tags that contain them. A word also matches
/// longer words: `net` finds `network`. Words have only letters and digits, so they need no escapes in LIKE.
pub fn condition(tx: &ReadTx, words: &[String]) -> (String, Vec<Value<'static>>) {
    let dialect = tx.dialect();
    let mut condition = "1 = 1".to_owned();
    let mut args = Vec::new();
    for word in words {
        args.push(Value::from(dialect.prefix_term(word)));
        let matches = dialect.match_condition(args.len());
        args.push(Value::from(format!("%{word}%")));
        let tagged = format!("SELECT ticket FROM ticket_tag WHERE label LIKE ${}", args.len());
        condition += &format!(" AND t.id IN (SELECT ticket FROM ticket_text WHERE {matches} UNION {tagged})");
    }
    (condition, args)
}

/// The words of a text: sequences of letters and digits, in lower case, truncated to a length that both engines index.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    const MAX_WORD_CHARS: usize = 255;
    // Each character is converted separately, because the conversion of a whole word depends on positions:
    // the Greek sigma has another lower-case form at the end of a word.
    let lower_case = |word: &str| {
        let chars = word.chars().take(MAX_WORD_CHARS);
        chars.flat_map(char::to_lowercase).collect()
    };
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(lower_case)
}
