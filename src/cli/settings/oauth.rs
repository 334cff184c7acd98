//! Settings of OAuth.

use clap::Args;
use serde::Deserialize;

#[derive(Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OauthSettings {
    /// Allow the OAuth implicit grant (response_type=token) for public clients [default: false]
    #[arg(long = "oauth-implicit", env = "GARTH_OAUTH_IMPLICIT", value_name = "BOOL")]
    pub implicit: Option<bool>,

    /// Require PKCE from confidential OAuth clients too; public clients always need it [default: false]
    #[arg(
        long = "oauth-require-pkce",
        env = "GARTH_OAUTH_REQUIRE_PKCE",
        value_name = "BOOL"
    )]
    pub require_pkce: Option<bool>,

    /// Additional path prefix for the log-in and OAuth endpoints, such as /login [default: none]
    #[arg(long = "oauth-prefix", env = "GARTH_OAUTH_PREFIX", value_name = "PATH")]
    pub prefix: Option<String>,
}

impl OauthSettings {
    pub fn or(self, other: Self) -> Self {
        Self {
            implicit: self.implicit.or(other.implicit),
            require_pkce: self.require_pkce.or(other.require_pkce),
            prefix: self.prefix.or(other.prefix),
        }
    }
}
