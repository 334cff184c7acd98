//! Rewrites alternative paths to the canonical path of an operation before routing (decision 0001).

use axum::extract::Request;
use axum::http::Uri;
use axum::http::uri::PathAndQuery;

/// Alternative and canonical prefixes of the part of a path after the version (`/v4`).
const ALIASES: [(&str, &str); 4] = [
    ("/networking/vpcs/ips", "/vpcs/ips"),
    ("/networking/ipv4/assign", "/networking/ips/assign"),
    ("/networking/ipv4/share", "/networking/ips/share"),
    ("/linode", "/compute"),
];

/// Alternative and canonical prefixes of the paths of images and kernels. The IDs of images and kernels
/// contain a slash, which some published clients do not encode.
const WITH_SLASH: [(&str, &str); 3] = [
    ("/images/", "/images/"),
    ("/linode/kernels/", "/compute/kernels/"),
    ("/compute/kernels/", "/compute/kernels/"),
];

/// One published client sends this suffix with an underscore.
const RESET: &str = "/reset-secret";
const RESET_UNDERSCORED: &str = "/reset_secret";

/// Prefixes of the paths that are also served under the configured OAuth prefix.
const PREFIXED: [&str; 4] = [
    "/oauth",
    "/logout",
    "/forgot/password",
    "/.well-known/oauth-authorization-server",
];
/// The part of a path after this text is a secret.
const SECRET: &str = "/oauth/password/";

/// The path for the log, without secrets.
pub fn without_secrets(path: &str) -> String {
    match path.find(SECRET) {
        Some(at) => format!("{}{{link}}", &path[..at + SECRET.len()]),
        None => path.to_owned(),
    }
}

/// The path that the client sent, if it is not the canonical path.
#[derive(Clone)]
pub struct SentPath(pub String);

pub fn rewrite(request: &mut Request, prefix: &str) {
    if let Some(path) = canonical(request.uri().path(), prefix)
        && let Some(uri) = with_path(request.uri(), &path)
    {
        let sent = std::mem::replace(request.uri_mut(), uri);
        request.extensions_mut().insert(SentPath(sent.path().to_owned()));
    }
}

/// The canonical path, if it differs from `path`.
pub fn canonical(path: &str, prefix: &str) -> Option<String> {
    let trimmed = match path {
        "/" => path,
        _ => path.strip_suffix('/').unwrap_or(path),
    };
    let after_prefix = strip_segment(trimmed, prefix).filter(|_| !prefix.is_empty());
    let is_served = |rest: &&str| {
        PREFIXED
            .iter()
            .any(|served| strip_segment(rest, served).is_some())
    };
    let trimmed = after_prefix.filter(is_served).unwrap_or(trimmed);
    let canonical = match strip_segment(trimmed, "/v4beta") {
        Some(rest) => Some(resolve_alias(rest).unwrap_or_else(|| format!("/v4{rest}"))),
        None => strip_segment(trimmed, "/v4").and_then(resolve_alias),
    };
    // Most paths are canonical already.
    canonical
        .or_else(|| (trimmed != path).then(|| trimmed.to_owned()))
        .filter(|canonical| canonical != path)
}

/// The canonical path, if `rest` is an alternative spelling. `rest` is the part of a path after the version.
fn resolve_alias(rest: &str) -> Option<String> {
    let alias =
        |(alias, name): &(&str, &str)| strip_segment(rest, alias).map(|rest| format!("/v4{name}{rest}"));
    let item = |(alias, name): &(&str, &str)| {
        let id = rest.strip_prefix(alias)?;
        Some(format!("/v4{name}{}", id.replace('/', "%2F")))
    };
    if let Some(path) = WITH_SLASH.iter().find_map(item) {
        Some(path)
    } else if let Some(client) = rest.strip_suffix(RESET_UNDERSCORED)
        && client.starts_with("/account/oauth-clients/")
    {
        Some(format!("/v4{client}{RESET}"))
    } else {
        ALIASES.iter().find_map(alias)
    }
}

/// The part of a path after a prefix, if the prefix consists of whole segments.
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
    use super::{canonical, without_secrets};

    #[test]
    fn a_secret_in_a_path_is_never_logged() {
        for path in [
            "/oauth/password/s3cret",
            "/login/oauth/password/s3cret/",
            "/oauth/password/s3cret/x",
        ] {
            assert!(
                without_secrets(path).ends_with("/oauth/password/{link}"),
                "{path}"
            );
        }
        assert_eq!(without_secrets("/v4/vpcs"), "/v4/vpcs");
    }

    #[test]
    fn every_spelling_has_one_canonical_path() {
        for (path, expected) in [
            ("/v4/vpcs/", Some("/v4/vpcs")),
            ("/v4beta/vpcs", Some("/v4/vpcs")),
            ("/v4beta/networking/vpcs/ips/", Some("/v4/vpcs/ips")),
            (
                "/v4/linode/instances/7/configs",
                Some("/v4/compute/instances/7/configs"),
            ),
            (
                "/v4/account/oauth-clients/x/reset_secret",
                Some("/v4/account/oauth-clients/x/reset-secret"),
            ),
            ("/v4/vpcs/reset_secret", None),
            (
                "/v4/images/linode/debian12/",
                Some("/v4/images/linode%2Fdebian12"),
            ),
            ("/v4/images/linode%2Fdebian12", None),
            ("/v4/images", None),
            (
                "/v4/linode/kernels/linode/grub2",
                Some("/v4/compute/kernels/linode%2Fgrub2"),
            ),
            ("/v4/linode/kernels", Some("/v4/compute/kernels")),
            ("/v4/vpcs", None),
            ("/v4/linodes/instances", None),
            ("/v4betamax/vpcs", None),
            ("/healthz", None),
            ("/login/oauth/token", Some("/oauth/token")),
            ("/login/logout/", Some("/logout")),
            ("/login/forgot/password", Some("/forgot/password")),
            ("/login/healthz", None),
            ("/login", None),
            ("/loginoauth/token", None),
            ("/", None),
        ] {
            assert_eq!(canonical(path, "/login").as_deref(), expected, "{path}");
        }
    }
}
