//! The client of a log-in, as security notices describe it.

/// Parts of `User-Agent` and the families of browsers. Most browsers also name others, so that the order matters.
const FAMILIES: [(&str, &str); 8] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Safari/", "Safari"),
];

/// The client of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Empty if the provider does not record addresses.
    pub address: String,
    pub browser: Option<&'static str>,
}

impl Client {
    pub fn new(address: String, user_agent: &str) -> Self {
        let family = FAMILIES.iter().find(|(part, _)| user_agent.contains(part));
        Self {
            address,
            browser: family.map(|(_, family)| *family),
        }
    }

    /// The address and the browser; empty if both are unknown.
    pub fn description(&self) -> String {
        let parts = [self.address.as_str(), self.browser.unwrap_or_default()];
        let known: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        known.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_family_of_a_browser_is_recognized_and_no_other_text_is_used() {
        let described = |user_agent: &str| Client::new("192.0.2.1".to_owned(), user_agent).description();
        let webkit = "Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko)";
        for (user_agent, family) in [
            (
                "Mozilla/5.0 (X11; rv:140.0) Gecko/20100101 Firefox/140.0",
                "Firefox",
            ),
            (&format!("{webkit} Chrome/140.0 Safari/537.36"), "Chrome"),
            (&format!("{webkit} Chrome/140.0 Safari/537.36 Edg/140.0"), "Edge"),
            (&format!("{webkit} Chrome/140.0 Safari/537.36 OPR/120.0"), "Opera"),
            (&format!("{webkit} Version/18.0 Safari/605.1"), "Safari"),
        ] {
            assert_eq!(described(user_agent), format!("192.0.2.1, {family}"));
        }
        assert_eq!(described("<b>curl</b>"), "192.0.2.1");
        assert_eq!(Client::new(String::new(), "").description(), "");
    }
}
