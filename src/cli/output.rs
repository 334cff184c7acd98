//! The output of commands: text or, with `--json`, JSON.

use std::io::{ErrorKind, Write};

use anyhow::Context;
use comfy_table::{ContentArrangement, Table, presets};
use serde::Serialize;

/// Ignores the error of a closed pipe: its reader, such as `head`, does not need more output.
pub fn unless_closed(written: std::io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(cause) if cause.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write the output"),
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

    /// Prints text that ends with a newline.
    pub fn bytes(self, text: &[u8]) -> anyhow::Result<()> {
        unless_closed(std::io::stdout().write_all(text))
    }

    /// Prints a hint to standard error.
    pub fn hint(self, text: &str) -> anyhow::Result<()> {
        unless_closed(writeln!(std::io::stderr(), "{text}"))
    }

    /// Prints one resource: as JSON, or as a message.
    pub fn one(self, view: &impl Serialize, message: &str) -> anyhow::Result<()> {
        match self.json {
            true => self.text(&serde_json::to_string_pretty(view)?),
            false => self.text(message),
        }
    }

    /// Prints several resources: as JSON, or as a table.
    pub fn many<V: Serialize>(
        self,
        views: &[V],
        header: &[&str],
        row: impl Fn(&V) -> Vec<String>,
    ) -> anyhow::Result<()> {
        if self.json {
            return self.text(&serde_json::to_string_pretty(views)?);
        }
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Dynamic);
        table.set_header(header.iter().copied());
        for view in views {
            table.add_row(row(view).iter().map(|cell| one_line(cell)));
        }
        self.text(&table.trim_fmt())
    }
}

/// A cell of a table. Stored text can contain line breaks and other control characters, which would break the table or
/// change the terminal.
fn one_line(cell: &str) -> String {
    let mut line = String::with_capacity(cell.len());
    for character in cell.chars() {
        match character.is_control() {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_in_a_cell_are_escaped() {
        assert_eq!(one_line("a\nb\u{1b}[31mé"), "a\\nb\\u{1b}[31mé");
    }
}
