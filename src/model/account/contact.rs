//! The contact details of an account, which its users enter.

use crate::model::reason::{Code, Reason, Reasons};
use crate::model::text::OptionalLine;

/// All fields can be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Contact {
    pub first_name: OptionalLine<50>,
    pub last_name: OptionalLine<50>,
    pub address_1: OptionalLine<64>,
    pub address_2: OptionalLine<64>,
    pub city: OptionalLine<24>,
    pub state: OptionalLine<24>,
    pub zip: OptionalLine<16>,
    pub country: Country,
    pub phone: OptionalLine<32>,
    pub tax_id: OptionalLine<100>,
}

/// A country code of two letters, or an empty text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Country(String);

impl Country {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        Self::checked(raw.to_owned()).ok_or_else(|| {
            let text = "Must be a country code of two letters, such as US, or empty";
            vec![Reason::new(Code::ChoiceInvalid, text)]
        })
    }

    /// The code from a database row, if it is valid.
    pub fn checked(raw: String) -> Option<Self> {
        let is_code = raw.len() == 2 && raw.bytes().all(|byte| byte.is_ascii_alphabetic());
        (raw.is_empty() || is_code).then_some(Self(raw))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
