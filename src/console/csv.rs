//! Lists as CSV files (RFC 4180).

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};

/// The maximum number of rows of a file.
pub const MAX_CSV_ROWS: usize = 10_000;

pub struct Csv(String);

impl Csv {
    pub fn new(header: &[&str]) -> Self {
        let mut csv = Self(String::new());
        csv.row(header);
        csv
    }

    pub fn row(&mut self, cells: &[&str]) {
        let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
        self.0 += &cells.join(",");
        self.0 += "\r\n";
    }

    /// The file as a download.
    pub fn respond(self, name: &str) -> Response {
        let disposition = format!("attachment; filename=\"{name}.csv\"");
        let disposition =
            HeaderValue::try_from(disposition).unwrap_or_else(|_| HeaderValue::from_static("attachment"));
        (
            [
                (
                    header::CONTENT_TYPE,
                    HeaderValue::from_static("text/csv; charset=utf-8"),
                ),
                (header::CONTENT_DISPOSITION, disposition),
                (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
            ],
            self.0,
        )
            .into_response()
    }
}

/// The attribute `hx-select-oob` of a search form and its list: the export link follows the search.
pub const EXPORT_LINK: &str = "#export";

/// The link to the CSV file of a list. Without a URL, the element is empty, so that a later search can fill it.
pub fn export_link(url: Option<&str>) -> Markup {
    html! { span #export { @if let Some(url) = url { a .button href=(url) download { "Export CSV" } } } }
}

/// A cell in quotes. A text that spreadsheet programs would run as a formula gets an apostrophe in front.
fn escape(cell: &str) -> String {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let guard = if is_formula { "'" } else { "" };
    format!("\"{guard}{}\"", cell.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_are_text() {
        let mut csv = Csv::new(&["label", "description"]);
        csv.row(&["a,b", "say \"hi\"\nthere"]);
        csv.row(&["=1+1", "-x"]);
        assert_eq!(
            csv.0,
            "\"label\",\"description\"\r\n\"a,b\",\"say \"\"hi\"\"\nthere\"\r\n\"'=1+1\",\"'-x\"\r\n"
        );
    }
}
