//! The search index has the texts of all tickets, and no others.

use std::collections::BTreeMap;

use super::invariant::{Findings, Invariant};
use crate::store::error::StoreError;
use crate::store::search;
use crate::store::transfer::TableChecksum;
use crate::store::tx::ReadTx;
use crate::store::value::{Value, args};

pub const INVARIANTS: &[Invariant] = &[Invariant::function(
    "the search index matches the texts of tickets",
    check,
)];

/// The number and the checksum of the texts of each ticket.
type Texts = BTreeMap<i64, TableChecksum>;

fn check(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let mut expected = Texts::new();
    for sql in search::TEXTS {
        tx.for_each(sql, args![], |row| {
            let (_, ticket, text): (i64, i64, String) = (row.take()?, row.take()?, row.take()?);
            let words: Vec<_> = search::words(&text).collect();
            add(&mut expected, ticket, words.join(" "));
            Ok(())
        })?;
    }
    let mut indexed = Texts::new();
    tx.for_each("SELECT ticket, body FROM ticket_text", args![], |row| {
        let (ticket, body): (i64, String) = (row.take()?, row.take()?);
        add(&mut indexed, ticket, body);
        Ok(())
    })?;
    for (ticket, texts) in &expected {
        match indexed.get(ticket) {
            None => findings.add(format!("ticket {ticket}"), "is not in the search index"),
            Some(found) if found != texts => findings.add(
                format!("ticket {ticket}"),
                format!(
                    "has {} texts, but the search index has {} or other texts",
                    texts.rows, found.rows
                ),
            ),
            Some(_) => {}
        }
    }
    for ticket in indexed.keys().filter(|ticket| !expected.contains_key(ticket)) {
        findings.add(
            format!("ticket {ticket}"),
            "does not exist, but is in the search index",
        );
    }
    Ok(())
}

fn add(texts: &mut Texts, ticket: i64, body: String) {
    texts.entry(ticket).or_default().add(&[Value::from(body)]);
}
