//! The percent-encoding of the segments of paths.

/// A segment of a path without percent-encoding.
pub fn decoded(segment: &str) -> String {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let encoded = after
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match encoded {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A segment of a path with percent-encoding.
pub fn encoded(segment: &str) -> String {
    let mut encoded = String::new();
    for byte in segment.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => encoded.push(char::from(byte)),
            false => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoded_segment_is_decoded_to_the_same_text() {
        for text in ["", "core", "linode/debian12", "<secret 1>", "ä%41", "100%"] {
            assert_eq!(decoded(&encoded(text)), text);
        }
        assert_eq!(decoded("a%2Fb%"), "a/b%");
    }
}
