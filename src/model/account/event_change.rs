//! The fields that an update changed, with their old and new values. They are stored with the event of the update.

/// The maximum number of fields that are stored, and the maximum length of a value.
const MAX_FIELDS: usize = 40;
const MAX_VALUE_CHARS: usize = 200;
/// The first word of the stored form. The number of omitted fields follows it.
const HEADER: &str = "changes";
/// The status of a ticket.
pub const STATUS: &str = "status";
/// A new reply to a ticket; the value is its ID.
pub const REPLY: &str = "reply";

/// The old and the new value of a field. An empty value means that the field was not set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldChange {
    pub field: String,
    pub before: String,
    pub after: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Changes {
    pub fields: Vec<FieldChange>,
    /// The number of further changed fields.
    pub omitted: usize,
}

impl Changes {
    /// Adds a field, if its value has changed.
    pub fn add(&mut self, field: impl Into<String>, before: impl ToString, after: impl ToString) {
        let (before, after) = (before.to_string(), after.to_string());
        if before == after {
            return;
        }
        if self.fields.len() == MAX_FIELDS {
            self.omitted += 1;
            return;
        }
        self.fields.push(FieldChange {
            field: field.into(),
            before: shortened(&before),
            after: shortened(&after),
        });
    }

    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The change of a field.
    pub fn of(&self, field: &str) -> Option<&FieldChange> {
        self.fields.iter().find(|change| change.field == field)
    }

    /// The stored form: a header, and a line for each field. `None` without changes.
    pub fn to_text(&self) -> Option<String> {
        if self.fields.is_empty() {
            return None;
        }
        let mut text = format!("{HEADER} {}", self.omitted);
        for change in &self.fields {
            let parts = [&change.field, &change.before, &change.after].map(|part| escaped(part));
            text += &format!("\n{}", parts.join("\t"));
        }
        Some(text)
    }

    /// Reads the stored form. Other texts have no changes: early versions stored a URL in the same column.
    pub fn from_text(text: &str) -> Self {
        let mut lines = text.split('\n');
        let header = lines.next().and_then(|line| line.split_once(' '));
        let Some(omitted) = header.and_then(|(word, omitted)| match word == HEADER {
            true => omitted.parse().ok(),
            false => None,
        }) else {
            return Self::default();
        };
        let read = |line: &str| {
            let mut parts = line.split('\t').map(unescaped);
            Some(FieldChange {
                field: parts.next()?,
                before: parts.next()?,
                after: parts.next()?,
            })
        };
        let fields = lines.filter_map(read).collect();
        Self { fields, omitted }
    }
}

fn shortened(value: &str) -> String {
    match value.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

/// A part of a line, without tabs and line breaks.
fn escaped(part: &str) -> String {
    part.replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\t', "\\t")
}

fn unescaped(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => {}
            },
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_stored_form_is_read_back(values in prop::collection::vec(("[a-z ]{1,9}", ".{0,30}", "(?s).{0,30}"), 0..5)) {
            let mut changes = Changes::default();
            for (field, before, after) in values {
                changes.add(field, before, after);
            }
            let text = changes.to_text().unwrap_or_default();
            prop_assert_eq!(Changes::from_text(&text), changes);
        }
    }

    #[test]
    fn long_values_and_lists_are_shortened_and_urls_are_no_changes() {
        let mut changes = Changes::default();
        changes.add("same", "a", "a");
        assert_eq!(changes.to_text(), None);
        changes.add("description", "é".repeat(201), "short");
        assert_eq!(changes.fields[0].before.chars().count(), 201);
        for number in 0..50 {
            changes.add(format!("field {number}"), "", number);
        }
        let read = Changes::from_text(&changes.to_text().expect("changes"));
        assert_eq!((read.fields.len(), read.omitted), (40, 11));
        for other in ["", "/v4/vpcs/1", "changes", "changes many\na\tb\tc"] {
            assert_eq!(Changes::from_text(other), Changes::default(), "{other}");
        }
    }
}
