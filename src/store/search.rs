//! Finding tickets by the words in them.
//!
//! Texts are kept as plain words, in small letters with a blank between them, so that what counts as a
//! word is the same in every engine.

use super::error::StoreError;
use super::tx::{ReadTx, WriteTx};
use super::value::{Value, args};
use crate::model::id::TicketId;

/// Makes a ticket findable by the words of these texts.
pub fn add(tx: &mut WriteTx, ticket: TicketId, texts: &[&str]) -> Result<(), StoreError> {
    let words: Vec<String> = texts.iter().flat_map(|text| words(text)).collect();
    let sql = "INSERT INTO ticket_text (ticket, body) VALUES ($1, $2)";
    tx.execute_deferred(sql, args![ticket, words.join(" ")])?;
    Ok(())
}

/// Makes every ticket findable again, by what is in it.
pub fn rebuild(tx: &mut WriteTx) -> Result<(), StoreError> {
    const FEW: i64 = 500;
    tx.execute("DELETE FROM ticket_text", args![])?;
    for texts in [
        "SELECT id, id, summary || ' ' || description FROM ticket",
        "SELECT id, ticket, description FROM reply",
        "SELECT id, ticket, description FROM note",
    ] {
        let sql = format!("{texts} WHERE id > $1 ORDER BY id LIMIT $2");
        let mut last = 0_i64;
        loop {
            let rows = tx.all(&sql, args![last, FEW])?;
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

/// The condition that a ticket `t` has all these words, or words that begin so, somewhere.
pub fn condition(tx: &ReadTx, words: &[String]) -> (String, Vec<Value<'static>>) {
    let dialect = tx.dialect();
    let mut condition = "1 = 1".to_owned();
    let mut args = Vec::new();
    for word in words {
        args.push(Value::from(dialect.prefix_term(word)));
        let matches = dialect.match_condition(args.len());
        condition += &format!(" AND t.id IN (SELECT ticket FROM ticket_text WHERE {matches})");
    }
    (condition, args)
}

/// The words of a text: runs of letters and digits, of which an engine need not keep more than these.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    const LONGEST: usize = 255;
    // Letter by letter: what a letter is in small must not depend on what follows it.
    let small = |word: &str| word.chars().take(LONGEST).flat_map(char::to_lowercase).collect();
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(small)
}
