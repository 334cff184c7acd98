//! Reads the tables of the built-in regions, plans and images.
//!
//! The tables are text files that are part of the binary. Each line is a row, with `|` between the columns.

/// The rows of a table. Lines that begin with `#` are comments.
pub fn rows<const N: usize>(table: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let columns: Vec<_> = line.split('|').map(str::trim).collect();
        columns
            .try_into()
            .expect("every row of a built-in table has all columns")
    })
}

/// The value of a column that can be empty. An empty column has the text `-`.
pub fn optional(column: &'static str) -> Option<&'static str> {
    Some(column).filter(|column| *column != "-")
}

pub fn number(column: &str) -> i64 {
    column.parse().expect("the numbers of a built-in table are valid")
}
