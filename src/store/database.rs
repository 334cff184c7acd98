//! The address and password of a shared database.

use crate::model::token::Secret;

/// A PostgreSQL server, or several servers with one primary.
#[derive(Clone, Debug)]
pub struct Database {
    /// `postgres://user@host,host/name?…`. It may contain a password.
    pub url: Secret,
    /// The password, if it is not in the URL.
    pub password: Option<Secret>,
    /// The number of connections that this node opens.
    pub connections: usize,
}

impl Database {
    pub const DEFAULT_CONNECTIONS: usize = 8;

    pub fn at(url: &str) -> Self {
        Self {
            url: Secret::new(url.to_owned()),
            password: None,
            connections: Self::DEFAULT_CONNECTIONS,
        }
    }

    /// The URL for messages. It omits the password. It also omits the parameters, because they can contain a
    /// password.
    pub fn shown(&self) -> String {
        self.redacted().unwrap_or_else(|| "the database".to_owned())
    }

    /// The URL without the password. `None` if the URL is ambiguous, for example because the password contains
    /// unescaped characters.
    fn redacted(&self) -> Option<String> {
        let (scheme, rest) = self.url.reveal().split_once("://")?;
        let end = rest.find(['?', '#']).unwrap_or(rest.len());
        match rest.rfind('@') {
            Some(at) if at < end => {
                let user = rest.split([':', '@']).next().unwrap_or_default();
                Some(format!("{scheme}://{user}@{}", &rest[at + 1..end]))
            }
            Some(_) => None,
            None => {
                let host = rest[..end].split('/').next().unwrap_or_default();
                let port = host.split_once(':').map_or("", |(_, port)| port);
                port.bytes()
                    .all(|b| b.is_ascii_digit())
                    .then(|| format!("{scheme}://{}", &rest[..end]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Database;

    #[test]
    fn the_shown_url_has_no_password() {
        let shown = |url: &str| Database::at(url).shown();
        for url in [
            "postgres://garth:geheim#x@db/garth",
            "postgres://garth:geheim?x@db/garth",
            "postgres://garth:geheim",
            "postgres://garth:geheim/garth",
            "postgres//garth:geheim@db/garth",
            "postgres://db/garth?password=a@geheim",
        ] {
            assert!(!shown(url).contains("geheim"), "{url}: {}", shown(url));
        }
        assert_eq!(
            shown("postgres://garth:geheim@db:5432/garth"),
            "postgres://garth@db:5432/garth"
        );
        assert_eq!(
            shown("postgres://garth:ge@heim@a,b/garth?sslmode=require"),
            "postgres://garth@a,b/garth"
        );
        assert_eq!(
            shown("postgres://db/garth?password=geheim"),
            "postgres://db/garth"
        );
        assert_eq!(shown("password=geheim host=db"), "the database");
        assert!(!format!("{:?}", Database::at("postgres://a:geheim@b/c")).contains("geheim"));
    }
}
