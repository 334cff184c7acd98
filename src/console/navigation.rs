//! The entries of the navigation bar, the first page after log-in, and the return to the requested page.

use axum::http::uri::PathAndQuery;

use crate::web::operation::Audience;

/// The entries of the navigation bar: audience, label and path. The first entry for each audience is the
/// landing page after log-in.
pub const NAVIGATION: &[(Audience, &str, &str)] = &[
    (Audience::Tenants, "Home", "/home"),
    (Audience::Tenants, "VPCs", "/vpcs"),
    (Audience::Tenants, "Instances", "/instances"),
    (Audience::Tenants, "Tickets", "/tickets"),
    (Audience::Tenants, "Account", "/account"),
    (Audience::Staff, "Home", "/desk/home"),
    (Audience::Staff, "Desk", "/desk"),
    (Audience::Staff, "Canned replies", "/desk/canned-replies"),
    (Audience::Staff, "Hosts", "/hosts"),
    (Audience::Staff, "Provider", "/provider"),
];

/// The first path segments of the pages that need a session.
const SECTIONS: [&str; 11] = [
    "account",
    "desk",
    "events",
    "home",
    "hosts",
    "instances",
    "live",
    "provider",
    "search",
    "tickets",
    "vpcs",
];

/// The URL of the log-in page, with the URL to return to.
pub fn log_in_url(return_to: Option<&str>) -> String {
    match return_to {
        None => "/login".to_owned(),
        Some(return_to) => {
            let mut query = form_urlencoded::Serializer::new(String::new());
            format!("/login?{}", query.append_pair("to", return_to).finish())
        }
    }
}

/// The URL to return to after log-in. Returns `None` if it is not the path of a page that needs a session.
pub fn local_page(raw: &str) -> Option<String> {
    let is_local = raw.starts_with('/') && !raw.starts_with("//") && !raw.contains('\\');
    let path = PathAndQuery::try_from(raw).ok().filter(|_| is_local)?;
    let section = path.path().split('/').nth(1).unwrap_or_default();
    (path.as_str() == raw && SECTIONS.contains(&section)).then(|| raw.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::console::PAGES;

    #[test]
    fn sections_match_the_table_of_pages() {
        let with_session = PAGES.iter().filter(|page| page.audience != Audience::Public);
        let sections: BTreeSet<&str> = with_session
            .filter_map(|page| page.path.split('/').nth(1))
            .collect();
        assert_eq!(sections.into_iter().collect::<Vec<_>>(), SECTIONS);
    }

    #[test]
    fn only_paths_of_pages_are_accepted_as_return_url() {
        for bad in [
            "",
            "vpcs",
            "//evil.example/vpcs",
            "/\\evil.example",
            "/vpcs\\..\\x",
            "https://evil.example/vpcs",
            "/login",
            "/logout",
            "/v4/vpcs",
            "/oauth/authorize",
            "/console/x",
            "/",
            "/vpcs\r\nSet-Cookie: x=y",
            "/vpcs#x",
        ] {
            assert_eq!(local_page(bad), None, "{bad:?}");
        }
        for good in ["/vpcs", "/vpcs/1/subnets/2?in=10.0.0.0/24", "/vpcs?q=%2F%2Fx"] {
            assert_eq!(local_page(good).as_deref(), Some(good));
        }
    }
}
