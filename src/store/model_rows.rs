//! How to read all rows of a table as objects of the model, for `garth check`.

use super::error::StoreError;
use super::value::Row;

pub struct ModelRows {
    /// The table, and the tables that are joined with it.
    from: &'static str,
    columns: &'static str,
    read: fn(&mut Row) -> Result<(), StoreError>,
}

impl ModelRows {
    pub const fn new(
        from: &'static str,
        columns: &'static str,
        read: fn(&mut Row) -> Result<(), StoreError>,
    ) -> Self {
        Self { from, columns, read }
    }

    pub fn query(&self) -> String {
        format!("SELECT {} FROM {}", self.columns, self.from)
    }

    pub fn read(&self, row: &mut Row) -> Result<(), StoreError> {
        (self.read)(row)
    }

    pub fn table(&self) -> &'static str {
        self.from.split(' ').next().unwrap_or(self.from)
    }

    /// The text of a column in the statement, by its number from 1.
    pub fn column(&self, number: usize) -> &'static str {
        let mut depth = 0;
        let is_separator = |character: char| {
            match character {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0 && character == ','
        };
        let columns = self.columns.split(is_separator);
        let column = columns
            .map(str::trim)
            .nth(number.saturating_sub(1))
            .unwrap_or("unknown");
        // Without the alias of the table, as in `s.label`.
        match column.split_once('.') {
            Some((alias, name)) if alias.len() == 1 => name,
            _ => column,
        }
    }
}
