//! One path for each operation: other spellings are rewritten before routing.

use axum::extract::Request;
use axum::http::Uri;
use axum::http::uri::PathAndQuery;

/// Spellings that mean the same, as beginnings of a path under the version.
const ALIASES: [(&str, &str); 2] = [("/networking/vpcs/ips", "/vpcs/ips"), ("/linode", "/compute")];

pub fn rewrite(request: &mut Request) {
    if let Some(path) = canonical(request.uri().path())
        && let Some(uri) = with_path(request.uri(), &path)
    {
        *request.uri_mut() = uri;
    }
}

/// The one spelling of a path, if it is not that already.
fn canonical(path: &str) -> Option<String> {
    let trimmed = match path {
        "/" => path,
        _ => path.strip_suffix('/').unwrap_or(path),
    };
    let unversioned = strip_segment(trimmed, "/v4beta").or_else(|| strip_segment(trimmed, "/v4"));
    let canonical = match unversioned {
        None => trimmed.to_owned(),
        Some(rest) => {
            let renamed = ALIASES
                .iter()
                .find_map(|(alias, name)| strip_segment(rest, alias).map(|rest| format!("{name}{rest}")));
            format!("/v4{}", renamed.as_deref().unwrap_or(rest))
        }
    };
    (canonical != path).then_some(canonical)
}

/// What follows a prefix that ends at a slash or at the end.
fn strip_segment<'a>(path: &'a str, prefix: &str) -> Option<&'a str> {
    let rest = path.strip_prefix(prefix)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

fn with_path(uri: &Uri, path: &str) -> Option<Uri> {
    let path_and_query = match uri.query() {
        Some(query) => PathAndQuery::try_from(format!("{path}?{query}")),
        None => PathAndQuery::try_from(path),
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(path_and_query.ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn every_spelling_has_one_canonical_path() {
        for (path, one) in [
            ("/v4/vpcs/", Some("/v4/vpcs")),
            ("/v4beta/vpcs", Some("/v4/vpcs")),
            ("/v4beta/networking/vpcs/ips/", Some("/v4/vpcs/ips")),
            (
                "/v4/linode/instances/7/configs",
                Some("/v4/compute/instances/7/configs"),
            ),
            ("/v4/vpcs", None),
            ("/v4/linodes/instances", None),
            ("/v4betamax/vpcs", None),
            ("/healthz", None),
            ("/", None),
        ] {
            assert_eq!(canonical(path).as_deref(), one, "{path}");
        }
    }
}
