//! A strict JSON parser: no duplicate keys, limited depth, array length and number of values (decision 0023).

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::model::input::Input;
use crate::model::reason::{Code, Reason};

const MAX_DEPTH: usize = 64;
/// The maximum number of items in an array.
const MAX_ITEMS: usize = 1_000;
/// The maximum number of values in a document. Scalars, arrays and objects count, at all levels.
const MAX_VALUES: usize = 10_000;
/// The maximum number of characters that an error quotes from the request.
const MAX_QUOTED_CHARS: usize = 64;
/// 2 to the power of 63. An `i64` is at least `-I64_LIMIT` and less than `I64_LIMIT`.
const I64_LIMIT: f64 = 9_223_372_036_854_775_808.0;

/// Parses a whole document. An error names the position.
pub fn parse(bytes: &[u8]) -> Result<Input, Reason> {
    let fault = Cell::new(Code::JsonInvalid);
    let values = Cell::new(0);
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let seed = Seed {
        depth: 0,
        fault: &fault,
        values: &values,
    };
    let parsed = seed
        .deserialize(&mut json)
        .and_then(|input| json.end().map(|()| input));
    parsed.map_err(|error| Reason::new(fault.get(), format!("Invalid JSON: {error}")))
}

/// Deserializes one value. All seeds of a document share the error code and the number of values.
#[derive(Clone, Copy)]
struct Seed<'a> {
    depth: usize,
    /// The code of the error, if parsing fails.
    fault: &'a Cell<Code>,
    /// The number of values read so far.
    values: &'a Cell<usize>,
}

impl Seed<'_> {
    /// The seed for the values inside an array or object.
    fn deeper<E: Error>(self) -> Result<Self, E> {
        if self.depth == MAX_DEPTH {
            self.fault.set(Code::JsonTooDeep);
            return Err(E::custom(format!("nested deeper than {MAX_DEPTH}")));
        }
        Ok(Self {
            depth: self.depth + 1,
            ..self
        })
    }

    fn too_many<E: Error>(self, message: String) -> E {
        self.fault.set(Code::JsonTooMany);
        E::custom(message)
    }
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Input;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Input, D::Error> {
        self.values.set(self.values.get() + 1);
        if self.values.get() > MAX_VALUES {
            return Err(self.too_many(format!("more than {MAX_VALUES} values")));
        }
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Input;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Input, E> {
        Ok(Input::Null)
    }

    fn visit_bool<E>(self, boolean: bool) -> Result<Input, E> {
        Ok(Input::Bool(boolean))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Input, E> {
        Ok(Input::Integer(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Input, E> {
        Ok(i64::try_from(number).map_or(Input::Number(number as f64), Input::Integer))
    }

    /// Accepts 193.0 as an integer, as JSON Schema and languages with one number type do.
    fn visit_f64<E>(self, number: f64) -> Result<Input, E> {
        let is_integer = number.fract() == 0.0 && (-I64_LIMIT..I64_LIMIT).contains(&number);
        Ok(match is_integer {
            true => Input::Integer(number as i64),
            false => Input::Number(number),
        })
    }

    fn visit_str<E>(self, text: &str) -> Result<Input, E> {
        Ok(Input::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Input, E> {
        Ok(Input::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Input, A::Error> {
        let seed = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(seed)? {
            if list.len() == MAX_ITEMS {
                return Err(self.too_many(format!("an array of more than {MAX_ITEMS} items")));
            }
            list.push(item);
        }
        Ok(Input::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Input, A::Error> {
        let seed = self.deeper()?;
        let mut object: Vec<(String, Input)> = Vec::new();
        let mut keys = std::collections::HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if !keys.insert(key.clone()) {
                self.fault.set(Code::JsonDuplicateKey);
                let key: String = key.chars().take(MAX_QUOTED_CHARS).collect();
                return Err(A::Error::custom(format!("key {key:?} appears twice")));
            }
            object.push((key, entries.next_value_seed(seed)?));
        }
        Ok(Input::Object(object))
    }
}

/// Serializes a document as JSON.
pub fn write(input: &Input) -> String {
    to_value(input).to_string()
}

fn to_value(input: &Input) -> Value {
    match input {
        Input::Null => Value::Null,
        Input::Bool(boolean) => Value::Bool(*boolean),
        Input::Integer(number) => Value::from(*number),
        Input::Number(number) => Value::from(*number),
        Input::Text(text) => Value::String(text.clone()),
        Input::List(items) => Value::Array(items.iter().map(to_value).collect()),
        Input::Object(entries) => {
            let entries = entries.iter().map(|(key, value)| (key.clone(), to_value(value)));
            Value::Object(entries.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_type_are_parsed() {
        let input = parse(br#"{"a": [1, -2, 1.5, 99999999999999999999, true, null, "x"]}"#).unwrap();
        let list = vec![
            Input::Integer(1),
            Input::Integer(-2),
            Input::Number(1.5),
            Input::Number(1e20),
            Input::Bool(true),
            Input::Null,
            Input::Text("x".to_owned()),
        ];
        assert_eq!(input, Input::Object(vec![("a".to_owned(), Input::List(list))]));
    }

    #[test]
    fn every_refusal_has_its_code_and_position() {
        let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
        for (raw, code, message) in [
            ("{", Code::JsonInvalid, "line 1 column 1"),
            ("{\"a\":1,}", Code::JsonInvalid, "line 1 column 8"),
            ("{\"a\":1} x", Code::JsonInvalid, "line 1 column 9"),
            ("{\"a\":1,\"a\":1}", Code::JsonDuplicateKey, "\"a\" appears twice"),
            ("{\"b\":{\"a\":1,\"a\":1}}", Code::JsonDuplicateKey, "column"),
            ("\"\\ud800\"", Code::JsonInvalid, "column"),
            (&deep, Code::JsonTooDeep, "deeper than 64"),
        ] {
            let reason = parse(raw.as_bytes()).unwrap_err();
            assert_eq!(reason.code, code, "{raw}");
            assert!(reason.text.contains(message), "{raw}: {}", reason.text);
        }
        let list = |items: usize| format!("[{}]", vec!["1"; items].join(","));
        let lists = |lists: usize| format!("[{}]", vec![list(99).as_str(); lists].join(","));
        for many in [list(1_001), lists(101)] {
            assert_eq!(parse(many.as_bytes()).unwrap_err().code, Code::JsonTooMany);
        }
        assert!(parse(list(1_000).as_bytes()).is_ok());
        assert!(parse(lists(99).as_bytes()).is_ok());
        let deepest = format!("{}{}", "[".repeat(64), "]".repeat(64));
        assert!(parse(deepest.as_bytes()).is_ok());
        assert!(parse(b"\"\xff\"").is_err());
    }
}
