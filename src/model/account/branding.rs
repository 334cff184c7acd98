//! The provider's brand, which the console shows instead of Garth's.

use super::accent_color::AccentColor;
use super::brand_image::{ImageRef, ImageSlot};
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::text::{Line, Prose};
use crate::model::time::Time;

pub type BrandName = Line<64>;
/// Plain text.
pub type FooterText = Prose<500>;
pub type LinkLabel = Line<64>;

pub const MAX_SUPPORT_LINKS: usize = 5;
const DEFAULT_NAME: &str = "Garth";
const MAX_URL_BYTES: usize = 2000;

/// The brand of the installation. A part that is not set has the default of Garth.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Branding {
    pub name: Option<BrandName>,
    pub accent_color: Option<AccentColor>,
    pub footer: Option<FooterText>,
    pub support_links: SupportLinks,
    pub logo: Option<ImageRef>,
    pub favicon: Option<ImageRef>,
    /// `None` if nothing is set.
    pub updated: Option<Time>,
}

impl Branding {
    /// The name of the service, for titles and headers.
    pub fn name(&self) -> &str {
        self.name.as_ref().map_or(DEFAULT_NAME, BrandName::as_str)
    }

    pub fn image(&self, slot: ImageSlot) -> Option<&ImageRef> {
        match slot {
            ImageSlot::Logo => self.logo.as_ref(),
            ImageSlot::Favicon => self.favicon.as_ref(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SupportLink {
    pub label: LinkLabel,
    pub url: LinkUrl,
}

/// The links of the footer, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct SupportLinks(pub Vec<SupportLink>);

impl SupportLinks {
    /// One line for each link: the URL, a space and the label. A URL has no spaces, and a label has no line breaks.
    pub fn to_lines(&self) -> String {
        let line = |link: &SupportLink| format!("{} {}\n", link.url.as_str(), link.label.as_str());
        self.0.iter().map(line).collect()
    }

    /// The links from a database row, if they are valid.
    pub fn from_lines(lines: &str) -> Option<Self> {
        let link = |line: &str| {
            let (url, label) = line.split_once(' ')?;
            Some(SupportLink {
                label: LinkLabel::checked(label.to_owned())?,
                url: LinkUrl::parse(url).ok()?,
            })
        };
        lines.lines().map(link).collect::<Option<_>>().map(Self)
    }
}

/// The target of a link: `https:` or `mailto:`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LinkUrl(String);

impl LinkUrl {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let is_plain = raw
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte));
        let is_complete = match (raw.strip_prefix("https://"), raw.strip_prefix("mailto:")) {
            (Some(rest), _) => {
                let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
                // A user in a URL hides the host from the reader.
                host.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '[')
                    && !host.contains('@')
            }
            (None, Some(address)) => {
                let address = address.split('?').next().unwrap_or_default();
                address
                    .split_once('@')
                    .is_some_and(|(user, host)| !user.is_empty() && !host.is_empty() && !host.contains('@'))
            }
            (None, None) => false,
        };
        match is_plain && is_complete && raw.len() <= MAX_URL_BYTES {
            true => Ok(Self(raw.to_owned())),
            false => {
                let text = format!(
                    "Must be a URL of at most {MAX_URL_BYTES} bytes that begins with https:// or mailto:, without spaces"
                );
                Err(vec![Reason::new(Code::LinkInvalid, text)])
            }
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_https_or_mailto() {
        for accepted in [
            "https://status.harbor.example",
            "https://harbor.example:8443/help?a=1#top",
            "https://[2001:db8::1]/",
            "mailto:help@harbor.example",
            "mailto:help@harbor.example?subject=Help",
        ] {
            assert!(LinkUrl::parse(accepted).is_ok(), "{accepted}");
        }
        for refused in [
            "",
            "http://harbor.example",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            " https://harbor.example",
            "https://harbor.example/a b",
            "https://harbor.example/\n",
            "https://",
            "https:///path",
            "https://harbor.example@attacker.example/",
            "https://harbor.example/\"onclick=",
            "//harbor.example",
            "data:text/html,x",
            "mailto:",
            "mailto:help",
            "ftp://harbor.example",
            "https://härbor.example",
        ] {
            assert!(LinkUrl::parse(refused).is_err(), "{refused}");
        }
        assert!(LinkUrl::parse(&format!("https://a/{}", "x".repeat(MAX_URL_BYTES))).is_err());
    }

    #[test]
    fn stored_links_are_read_again() {
        let link = |label: &str, url: &str| SupportLink {
            label: LinkLabel::parse(label).unwrap(),
            url: LinkUrl::parse(url).unwrap(),
        };
        let links = SupportLinks(vec![
            link("Write to us", "mailto:help@harbor.example"),
            link("Status\tpage", "https://status.harbor.example"),
        ]);
        assert_eq!(SupportLinks::from_lines(&links.to_lines()), Some(links));
        assert_eq!(SupportLinks::from_lines(""), Some(SupportLinks::default()));
        assert_eq!(SupportLinks::from_lines("javascript:x Label\n"), None);
    }
}
