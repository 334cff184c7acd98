//! The author of a message, and whether the provider's mail server has verified the author's domain.
//!
//! The verdict is in the header fields `Authentication-Results` (RFC 8601) with the name of the provider's mail
//! server, which must remove such fields from the messages that it receives.

use mail_parser::Message;

use super::header_fields::raw_values;
use crate::model::received_mail::MailSender;

/// The author, if `From` has exactly one address.
pub fn sender_of(message: &Message, authserv_id: &str) -> Option<MailSender> {
    if raw_values(message, "From").count() != 1 {
        return None;
    }
    let from = message.from()?;
    let mut addresses = from.iter();
    let address = addresses.next()?.address()?.trim().to_lowercase();
    if addresses.next().is_some() {
        return None;
    }
    let (local, domain) = address.rsplit_once('@')?;
    let is_plain =
        |text: &str| !text.is_empty() && !text.chars().any(|c| c.is_whitespace() || c.is_control());
    if !is_plain(local) || !is_plain(domain) || address.chars().count() > 254 {
        return None;
    }
    let is_verified = is_verified(message, authserv_id, domain);
    Some(MailSender { address, is_verified })
}

/// Whether DMARC passed, or DKIM or SPF passed for the domain of the author, and DMARC did not fail. Of several results
/// of one method, the topmost counts, because servers add their fields at the top.
fn is_verified(message: &Message, authserv_id: &str, domain: &str) -> bool {
    const METHODS: [&str; 3] = ["dmarc", "dkim", "spf"];
    if authserv_id.is_empty() {
        return false;
    }
    let mut decided = [false; METHODS.len()];
    let mut has_passed = false;
    for value in raw_values(message, "Authentication-Results") {
        let clean = without_comments(value);
        let mut parts = clean.split(';');
        let server = parts.next().unwrap_or_default().split_whitespace().next();
        if !server.is_some_and(|server| server.eq_ignore_ascii_case(authserv_id)) {
            continue;
        }
        let results: Vec<MethodResult> = parts.filter_map(MethodResult::parse).collect();
        for (method, decided) in METHODS.iter().zip(&mut decided) {
            let of_method: Vec<_> = results.iter().filter(|result| result.method == *method).collect();
            if *decided || of_method.is_empty() {
                continue;
            }
            *decided = true;
            // A message can have several DKIM signatures: one that is valid and aligned is enough.
            let passes = of_method.iter().any(|result| result.passes_for(domain));
            // The owner of the domain can require stricter alignment than this function.
            let fails = *method == "dmarc" && of_method.iter().any(|result| result.result == "fail");
            if fails && !passes {
                return false;
            }
            has_passed |= passes;
        }
    }
    has_passed
}

struct MethodResult {
    method: String,
    result: String,
    /// Such as `header.d` with its value.
    properties: Vec<(String, String)>,
}

impl MethodResult {
    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace().filter_map(|word| word.split_once('='));
        let lower = |(name, value): (&str, &str)| {
            (
                name.to_ascii_lowercase(),
                value.trim_matches('"').to_ascii_lowercase(),
            )
        };
        let (method, result) = lower(words.next()?);
        Some(Self {
            method: method.split('/').next().unwrap_or_default().to_owned(),
            result,
            properties: words.map(lower).collect(),
        })
    }

    fn passes_for(&self, domain: &str) -> bool {
        let names: &[&str] = match self.method.as_str() {
            "dmarc" => &["header.from"],
            // `header.i` names a user of the signing domain, and can be a domain below it.
            "dkim" if self.has("header.d") => &["header.d"],
            "dkim" => &["header.i"],
            _ => &["smtp.mailfrom", "smtp.mail", "envelope-from"],
        };
        let values = self
            .properties
            .iter()
            .filter(|(name, _)| names.contains(&name.as_str()));
        let mut domains = values.map(|(_, value)| value.rsplit('@').next().unwrap_or_default());
        self.result == "pass" && domains.any(|passed| is_aligned(domain, passed))
    }

    fn has(&self, property: &str) -> bool {
        self.properties.iter().any(|(name, _)| name == property)
    }
}

/// Whether the verified domain is the author's domain, or one above it.
fn is_aligned(domain: &str, verified: &str) -> bool {
    let verified = verified.trim_end_matches('.');
    let parent = domain
        .strip_suffix(verified)
        .and_then(|prefix| prefix.strip_suffix('.'));
    verified.contains('.') && (domain == verified || parent.is_some_and(|prefix| !prefix.is_empty()))
}

/// A header value without its comments, which are in parentheses.
fn without_comments(value: &str) -> String {
    let mut clean = String::with_capacity(value.len());
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    for c in value.chars() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' if depth == 0 => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth = depth.saturating_sub(1),
            // A semicolon in a quoted text does not separate results.
            ';' if is_quoted => {}
            _ if depth == 0 => clean.push(c),
            _ => {}
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use mail_parser::MessageParser;

    use super::*;

    fn verified(headers: &str) -> Option<bool> {
        let raw = format!("{headers}\r\n\r\nHello\r\n");
        let message = MessageParser::default().parse(raw.as_bytes()).expect("a message");
        sender_of(&message, "mx.example.net").map(|sender| sender.is_verified)
    }

    #[test]
    fn only_the_providers_server_can_verify_the_authors_domain() {
        let from = "From: Ada <Ada@example.com>";
        for (results, expected) in [
            (
                "mx.example.net; dmarc=pass (p=none) header.from=example.com",
                true,
            ),
            (
                "MX.example.net 1; dkim=fail header.d=example.com; dkim=pass header.d=Example.com",
                true,
            ),
            ("mx.example.net; spf=pass smtp.mailfrom=bounce@example.com", true),
            ("mx.example.net; dkim=pass header.i=@example.com", true),
            (
                "mx.example.net; dkim=pass header.d=example.com header.i=@mail.example.com",
                true,
            ),
            (
                "mx.example.net; dkim=pass header.d=example.org header.i=@example.com",
                false,
            ),
            (
                "mx.example.net; dkim=pass header.d=example.com; spf=pass smtp.mailfrom=a@example.com; \
                 dmarc=fail header.from=example.com",
                false,
            ),
            (
                "mx.example.net; dmarc=none header.from=example.com; dkim=pass header.d=example.com",
                true,
            ),
            ("mx.example.net; none", false),
            ("mx.example.net; dmarc=fail header.from=example.com", false),
            ("mx.example.net; dmarc=pass header.from=example.org", false),
            ("mx.example.net; dkim=pass header.d=com", false),
            ("mx.example.net; dkim=pass header.d=ample.com", false),
            ("mx.example.net; spf=pass smtp.mailfrom=a@evil.example.com", false),
            ("mx.example.net; x=\"; dmarc=pass header.from=example.com", false),
            ("mx.example.net (; dmarc=pass header.from=example.com)", false),
            ("mx.example.org; dmarc=pass header.from=example.com", false),
            ("", false),
        ] {
            let headers = format!("Authentication-Results: {results}\r\n{from}");
            assert_eq!(verified(&headers), Some(expected), "{results}");
        }
        let topmost = format!(
            "Authentication-Results: mx.example.net; dmarc=fail header.from=example.com\r\n\
             Authentication-Results: mx.example.net; dmarc=pass header.from=example.com\r\n{from}"
        );
        assert_eq!(verified(&topmost), Some(false));
        let separate = format!(
            "Authentication-Results: mx.example.net; dkim=pass header.d=example.com\r\n\
             Authentication-Results: mx.example.net; dmarc=fail header.from=example.com\r\n{from}"
        );
        assert_eq!(verified(&separate), Some(false));
    }

    #[test]
    fn a_message_without_exactly_one_author_has_no_sender() {
        for headers in [
            "Subject: x",
            "From: a@example.com, b@example.com",
            "From: a@example.com\r\nFrom: b@example.com",
            "From: nobody",
            "From: <>",
        ] {
            assert_eq!(verified(headers), None, "{headers}");
        }
    }
}
