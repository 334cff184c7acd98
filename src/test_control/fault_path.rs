//! The paths of rules, in which `*` stands for one segment.

use super::faults::without_version;
use crate::api::operations::OPERATIONS;
use crate::console::PAGES;

/// Why no request can match a path; `None` if one can.
pub fn refusal(pattern: &str) -> Option<&'static str> {
    if pattern.contains(['?', '#']) {
        return Some("Must have no query: a rule applies to all queries of a path");
    }
    let has_part = |segment: &str| segment.contains('*') && segment != "*";
    if pattern.split('/').any(has_part) {
        return Some("* must be a whole segment, such as in /vpcs/*/subnets");
    }
    let operations = OPERATIONS.iter().map(|operation| operation.full_path());
    let mut paths = operations.chain(PAGES.iter().map(|page| page.path.to_owned()));
    match paths.any(|path| can_match(pattern, without_version(&path))) {
        true => None,
        false => Some("Must be a path of openapi.yaml without /v4, with * or an ID for each parameter"),
    }
}

/// Whether a path matches a pattern.
pub fn matches(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some("*"), Some(segment)) if !segment.is_empty() => {}
            (Some(expected), Some(segment)) if expected == segment => {}
            _ => return false,
        }
    }
}

/// Whether a request to a path with parameters such as `{vpcId}` can match a pattern.
fn can_match(pattern: &str, path: &str) -> bool {
    let (mut pattern, mut path) = (pattern.split('/'), path.split('/'));
    loop {
        match (pattern.next(), path.next()) {
            (None, None) => return true,
            (Some("*"), Some(segment)) if !segment.is_empty() => {}
            (Some(expected), Some(segment)) if expected == segment => {}
            (Some(value), Some(segment)) if !value.is_empty() && segment.starts_with('{') => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_one_segment() {
        for (pattern, path, expected) in [
            ("/vpcs", "/vpcs", true),
            ("/vpcs", "/vpcs/1", false),
            ("/vpcs/*", "/vpcs/1", true),
            ("/vpcs/*", "/vpcs", false),
            ("/vpcs/*", "/vpcs/1/subnets", false),
            ("/vpcs/*/subnets", "/vpcs/1/subnets", true),
            ("/*", "/vpcs", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn paths_that_no_request_can_have_are_refused() {
        for possible in [
            "/",
            "/*",
            "/vpcs",
            "/vpcs/7/subnets/*",
            "/login",
            "/oauth/token",
            "/healthz",
        ] {
            assert_eq!(refusal(possible), None, "{possible}");
        }
        for impossible in [
            "/vp*",
            "/vpcs?page=1",
            "/Vpcs",
            "/nothing",
            "/vpcs//subnets",
            "/vpcs/1/*/2/3",
        ] {
            assert!(refusal(impossible).is_some(), "{impossible}");
        }
    }
}
