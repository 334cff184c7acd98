//! Where people are led: the bar at the top, the first page after logging in, and the way back to the page they asked for.

use axum::http::uri::PathAndQuery;

use crate::web::operation::Audience;

/// What stands in the bar at the top, for each side. The first is where one lands.
pub const NAVIGATION: &[(Audience, &str, &str)] = &[
    (Audience::Tenants, "VPCs", "/vpcs"),
    (Audience::Tenants, "Tickets", "/tickets"),
    (Audience::Tenants, "Account", "/account"),
    (Audience::Staff, "Desk", "/desk"),
    (Audience::Staff, "Canned replies", "/desk/canned-replies"),
];

/// The first parts of the addresses of pages that need a session.
const SECTIONS: [&str; 6] = ["account", "desk", "events", "live", "tickets", "vpcs"];

/// The log-in page, with the way back to where somebody was.
pub fn log_in_at(back: Option<&str>) -> String {
    match back {
        None => "/login".to_owned(),
        Some(back) => {
            let mut query = form_urlencoded::Serializer::new(String::new());
            format!("/login?{}", query.append_pair("to", back).finish())
        }
    }
}

/// A way back after logging in: a path of one of our own pages, and nothing else.
pub fn local(raw: &str) -> Option<String> {
    let plain = raw.starts_with('/') && !raw.starts_with("//") && !raw.contains('\\');
    let path = PathAndQuery::try_from(raw).ok().filter(|_| plain)?;
    let section = path.path().split('/').nth(1).unwrap_or_default();
    (path.as_str() == raw && SECTIONS.contains(&section)).then(|| raw.to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::console::PAGES;

    #[test]
    fn the_sections_are_those_of_the_table() {
        let with_session = PAGES.iter().filter(|page| page.who != Audience::Public);
        let sections: BTreeSet<&str> = with_session
            .filter_map(|page| page.path.split('/').nth(1))
            .collect();
        assert_eq!(sections.into_iter().collect::<Vec<_>>(), SECTIONS);
    }

    #[test]
    fn the_way_back_is_a_path_of_ours_or_none() {
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
            assert_eq!(local(bad), None, "{bad:?}");
        }
        for good in ["/vpcs", "/vpcs/1/subnets/2?in=10.0.0.0/24", "/vpcs?q=%2F%2Fx"] {
            assert_eq!(local(good).as_deref(), Some(good));
        }
    }
}
