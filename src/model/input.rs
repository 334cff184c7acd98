//! Request data before validation.

/// A JSON document with unique keys and exact integers.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Null,
    Bool(bool),
    Integer(i64),
    /// Any other number: a fraction, or an integer outside the range of `i64`.
    Number(f64),
    Text(String),
    List(Vec<Input>),
    Object(Vec<(String, Input)>),
}

impl Input {
    /// The value of a key in an object; null counts as missing.
    pub fn get(&self, key: &str) -> Option<&Input> {
        let Input::Object(entries) = self else {
            return None;
        };
        let entry = entries.iter().find(|(name, _)| name == key);
        entry
            .map(|(_, value)| value)
            .filter(|value| **value != Input::Null)
    }
}
