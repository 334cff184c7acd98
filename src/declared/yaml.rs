//! Writes JSON values as YAML, in block style. The same value always has the same text.

use serde_json::Value;

/// The YAML text of an object or list.
pub fn to_yaml(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, 0);
    text
}

/// Writes a value that begins at the start of a line, or after `- `.
fn write(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for (at, (key, value)) in entries.iter().enumerate() {
                if at > 0 {
                    text.push_str(&" ".repeat(indent));
                }
                text.push_str(&scalar_text(key));
                text.push(':');
                write_after_key(text, value, indent);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push_str(&" ".repeat(indent));
                }
                text.push_str("- ");
                write(text, item, indent + 2);
            }
        }
        other => {
            text.push_str(&inline(other));
            text.push('\n');
        }
    }
}

fn write_after_key(text: &mut String, value: &Value, indent: usize) {
    let is_block = match value {
        Value::Object(entries) => !entries.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if is_block {
        text.push('\n');
        text.push_str(&" ".repeat(indent + 2));
        write(text, value, indent + 2);
    } else {
        text.push(' ');
        text.push_str(&inline(value));
        text.push('\n');
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => scalar_text(text),
        other => other.to_string(),
    }
}

/// A string, in double quotes unless every YAML parser reads it as a string without them. JSON strings are valid in
/// YAML.
fn scalar_text(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@');
    let starts_with_letter = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let reserved = [
        "null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf",
    ];
    let is_reserved = reserved.iter().any(|word| word.eq_ignore_ascii_case(text));
    match starts_with_letter && text.chars().all(is_plain) && !is_reserved {
        true => text.to_owned(),
        false => Value::String(text.to_owned()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn strings_that_look_like_other_values_are_quoted() {
        let value = json!({
            "label": "core", "description": "a: b # c\nd", "tags": ["no", "1e3", "eu-1", ""], "ipv4": "10.0.0.0/24",
            "subnets": [], "nested": [{"a": 1, "b": {"c": true}}, [["x"]]],
        });
        let text = "label: core\ndescription: \"a: b # c\\nd\"\ntags:\n  - \"no\"\n  - \"1e3\"\n  - eu-1\n  - \"\"\n\
                    ipv4: \"10.0.0.0/24\"\nsubnets: []\nnested:\n  - a: 1\n    b:\n      c: true\n  - - - x\n";
        assert_eq!(to_yaml(&value), text);
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[ -~é漢😀\t\n:#'\"]{0,12}".prop_map(Value::from),
            "(yes|No|null|0x1f|1_000|12:30|~|=|<<|e1|\\.5)".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            let key = "[a-z #:]{1,6}";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(key, inner, 0..4)
                    .prop_map(|entries| Value::from(entries.into_iter().collect::<Map<_, _>>())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_parser_reads_the_value_that_was_written(value in values()) {
            let value = json!({"value": value});
            let text = to_yaml(&value);
            let read: Value = serde_saphyr::from_str(&text).map_err(|error| {
                TestCaseError::fail(format!("{error}: {text}"))
            })?;
            prop_assert_eq!(read, value, "{}", text);
        }
    }
}
