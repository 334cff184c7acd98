//! The JSON form of a problem of a host: an object, or only the text from an agent that sends no codes.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use crate::model::host_warning::{HostWarning, WarningCode};

#[derive(Serialize)]
struct Sent<'a> {
    code: &'static str,
    #[serde(skip_serializing_if = "<[i64]>::is_empty")]
    ids: &'a [i64],
    text: &'a str,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Received {
    Text(String),
    Coded {
        code: String,
        #[serde(default)]
        ids: Vec<i64>,
        text: String,
    },
}

impl Serialize for HostWarning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (code, ids, text) = (self.code.word(), &self.ids[..], &self.text[..]);
        Sent { code, ids, text }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HostWarning {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Received::deserialize(deserializer)? {
            Received::Text(text) => Self::new(WarningCode::Other, text),
            Received::Coded { code, ids, text } => Self {
                code: WarningCode::parse(&code),
                ids,
                text,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_an_object_or_a_text() {
        let read = |text: &str| serde_json::from_str::<HostWarning>(text).unwrap();
        let warning = HostWarning {
            code: WarningCode::NoSession,
            ids: vec![3],
            text: "no session".to_owned(),
        };
        let json = r#"{"code":"no_session","ids":[3],"text":"no session"}"#;
        assert_eq!(serde_json::to_string(&warning).unwrap(), json);
        assert_eq!(read(json), warning);
        let other = HostWarning::new(WarningCode::Other, "a text");
        assert_eq!(read(r#""a text""#), other);
        assert_eq!(read(r#"{"code":"of a newer agent","text":"a text"}"#), other);
    }
}
