//! The result of a replay, as text and as JSON.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

/// Longer values are shortened in the text.
const MAX_SHOWN_CHARS: usize = 200;

#[derive(Debug, Default, Serialize)]
pub struct Report {
    pub exchanges: Vec<ComparedExchange>,
    pub summary: Summary,
}

#[derive(Debug, Serialize)]
pub struct ComparedExchange {
    pub sequence: u64,
    pub method: String,
    /// The recorded path.
    pub path: String,
    #[serde(flatten)]
    pub outcome: Outcome,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Outcome {
    Equal,
    Different { differences: Vec<Difference> },
    NotComparable { reason: String },
}

/// A field that differs. A value is missing if the response does not have the field.
#[derive(Debug, PartialEq, Serialize)]
pub struct Difference {
    pub path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub garth: Option<Value>,
}

#[derive(Debug, Default, Serialize)]
pub struct Summary {
    pub equal: usize,
    pub different: usize,
    pub not_comparable: usize,
}

impl Report {
    pub fn add(&mut self, exchange: ComparedExchange) {
        match exchange.outcome {
            Outcome::Equal => self.summary.equal += 1,
            Outcome::Different { .. } => self.summary.different += 1,
            Outcome::NotComparable { .. } => self.summary.not_comparable += 1,
        }
        self.exchanges.push(exchange);
    }

    /// All exchanges that are not equal, and the summary.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for exchange in &self.exchanges {
            exchange.write(&mut text);
        }
        let Summary {
            equal,
            different,
            not_comparable,
        } = self.summary;
        text + &format!("{equal} equal, {different} different, {not_comparable} not comparable")
    }
}

impl ComparedExchange {
    fn write(&self, text: &mut String) {
        let Self {
            sequence,
            method,
            path,
            outcome,
        } = self;
        // Writing to a string does not fail.
        let _ = match outcome {
            Outcome::Equal => Ok(()),
            Outcome::NotComparable { reason } => {
                writeln!(text, "{sequence} {method} {path}: not comparable: {reason}")
            }
            Outcome::Different { differences } => {
                let lines: String = differences.iter().map(Difference::line).collect();
                write!(text, "{sequence} {method} {path}: different\n{lines}")
            }
        };
    }
}

impl Difference {
    fn line(&self) -> String {
        let (recorded, garth) = (shown(self.recorded.as_ref()), shown(self.garth.as_ref()));
        format!("    {}: recorded {recorded}, Garth {garth}\n", self.path)
    }
}

fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "nothing".to_owned();
    };
    // JSON escapes control characters, which could change the terminal.
    let text = value.to_string();
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
