//! What commands print: words for people, JSON for programs.

use std::io::{ErrorKind, Write};

use anyhow::Context;
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

/// The result of a write to the terminal or a pipe. A reader that has closed the pipe, like `head`, has seen enough.
pub fn unless_closed(written: std::io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(cause) if cause.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("writing the output"),
    }
}

#[derive(Clone, Copy)]
pub struct Output {
    pub json: bool,
}

impl Output {
    pub fn text(self, text: &str) -> anyhow::Result<()> {
        unless_closed(writeln!(std::io::stdout(), "{text}"))
    }

    /// Something to know that is not what was asked for.
    pub fn aside(self, text: &str) -> anyhow::Result<()> {
        unless_closed(writeln!(std::io::stderr(), "{text}"))
    }

    /// One thing: as JSON, or as a sentence.
    pub fn one(self, view: &impl Serialize, sentence: &str) -> anyhow::Result<()> {
        match self.json {
            true => self.text(&serde_json::to_string_pretty(view)?),
            false => self.text(sentence),
        }
    }

    /// Several things: as JSON, or as a table.
    pub fn many<V: Serialize>(
        self,
        views: &[V],
        head: &[&str],
        row: impl Fn(&V) -> Vec<String>,
    ) -> anyhow::Result<()> {
        if self.json {
            return self.text(&serde_json::to_string_pretty(views)?);
        }
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic);
        table.set_header(head.iter().copied());
        for view in views {
            table.add_row(row(view));
        }
        self.text(&table.trim_fmt())
    }
}
