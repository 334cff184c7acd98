//! Reads the fields of a document, and collects all errors with their paths.

use serde_json::{Map, Value};

use super::fault::Fault;

/// The errors so far.
#[derive(Default)]
pub struct Reader {
    pub faults: Vec<Fault>,
}

/// An object of the document.
pub struct Object<'a> {
    /// Empty for the document itself.
    path: String,
    entries: &'a Map<String, Value>,
}

impl Object<'_> {
    /// The path of a field.
    pub fn path(&self, name: &str) -> String {
        match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        }
    }

    /// The value of a field; null counts as missing.
    fn get(&self, name: &str) -> Option<&Value> {
        self.entries.get(name).filter(|value| !value.is_null())
    }
}

impl Reader {
    pub fn refuse(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.faults.push(Fault::new(path, text));
    }

    /// An object that has only these keys. Refuses other keys.
    pub fn object<'a>(&mut self, path: String, value: &'a Value, known: &[&str]) -> Option<Object<'a>> {
        let Value::Object(entries) = value else {
            self.refuse(
                path,
                format!("must be an object with the keys {}", known.join(", ")),
            );
            return None;
        };
        let object = Object { path, entries };
        for key in entries.keys().filter(|key| !known.contains(&key.as_str())) {
            let advice = match nearest(key, known) {
                Some(nearest) => format!("did you mean {nearest}?"),
                None => format!("the keys here are {}", known.join(", ")),
            };
            self.refuse(object.path(key), format!("unknown key; {advice}"));
        }
        Some(object)
    }

    pub fn text(&mut self, object: &Object, name: &str) -> Option<String> {
        match object.get(name)? {
            Value::String(text) => Some(text.clone()),
            value => {
                self.refuse(object.path(name), must_be_string(value));
                None
            }
        }
    }

    /// A text that must be present. Empty after an error.
    pub fn required_text(&mut self, object: &Object, name: &str) -> String {
        if object.get(name).is_none() {
            self.refuse(object.path(name), "is required");
        }
        self.text(object, name).unwrap_or_default()
    }

    pub fn integer(&mut self, object: &Object, name: &str) -> Option<i64> {
        let value = object.get(name)?;
        if value.as_i64().is_none() {
            self.refuse(object.path(name), "must be an integer");
        }
        value.as_i64()
    }

    pub fn boolean(&mut self, object: &Object, name: &str) -> Option<bool> {
        let value = object.get(name)?;
        if value.as_bool().is_none() {
            self.refuse(object.path(name), "must be true or false");
        }
        value.as_bool()
    }

    /// A list of strings.
    pub fn texts(&mut self, object: &Object, name: &str) -> Option<Vec<String>> {
        self.list(object, name, |reader, path, value| match value {
            Value::String(text) => Some(text.clone()),
            value => {
                reader.refuse(path, must_be_string(value));
                None
            }
        })
    }

    /// A nested object.
    pub fn within<T>(
        &mut self,
        object: &Object,
        name: &str,
        read: impl FnOnce(&mut Self, String, &Value) -> Option<T>,
    ) -> Option<T> {
        let value = object.get(name)?;
        read(self, object.path(name), value)
    }

    /// A list. `read` gets the path of each item. After an error, the list is incomplete.
    pub fn list<T>(
        &mut self,
        object: &Object,
        name: &str,
        mut read: impl FnMut(&mut Self, String, &Value) -> Option<T>,
    ) -> Option<Vec<T>> {
        let path = object.path(name);
        let Value::Array(items) = object.get(name)? else {
            self.refuse(path, "must be a list");
            return None;
        };
        let items = items.iter().enumerate();
        Some(
            items
                .filter_map(|(at, item)| read(self, format!("{path}[{at}]"), item))
                .collect(),
        )
    }
}

fn must_be_string(value: &Value) -> String {
    match value {
        Value::Number(_) | Value::Bool(_) => format!("must be a string: write \"{value}\""),
        _ => "must be a string".to_owned(),
    }
}

/// The known key that is most similar to an unknown one, if any is similar.
fn nearest<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    let distances = known.iter().map(|known| (distance(key, known), *known));
    let (distance, nearest) = distances.min()?;
    (distance * 2 <= nearest.len().max(4)).then_some(nearest)
}

/// The number of letters to insert, delete or replace to get from one word to the other (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    // A key can be long, but only its beginning matters.
    for (at, letter) in from.to_lowercase().chars().take(64).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, other) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_suggested_only_if_it_is_similar() {
        let known = ["label", "region", "description", "ipv6", "subnets"];
        for (key, expected) in [
            ("lable", Some("label")),
            ("subnet", Some("subnets")),
            ("Region", Some("region")),
            ("descripton", Some("description")),
            ("ipv4", Some("ipv6")),
            ("password", None),
            ("", None),
        ] {
            assert_eq!(nearest(key, &known), expected, "{key}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
