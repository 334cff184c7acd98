//! The raw values of header fields.

use mail_parser::Message;

/// The values of all fields with this name, from the top, with their line breaks.
pub fn raw_values<'a>(message: &'a Message, name: &'a str) -> impl Iterator<Item = &'a str> {
    let fields = message.headers_raw();
    let named = fields.filter(move |(field, _)| field.eq_ignore_ascii_case(name));
    named.map(|(_, value)| value.trim())
}

pub fn raw_value<'a>(message: &'a Message, name: &'a str) -> Option<&'a str> {
    raw_values(message, name).next()
}

pub fn has_field(message: &Message, name: &str) -> bool {
    raw_values(message, name).next().is_some()
}
