//! Where a database is that several nodes share, and what opens it.

use crate::model::token::Secret;

/// A PostgreSQL server, or several of which one takes writes.
#[derive(Clone, Debug)]
pub struct Database {
    /// `postgres://user@host,host/name?…`; it may have a password in it.
    pub url: Secret,
    /// The password, if it is not in the URL.
    pub password: Option<Secret>,
    /// How many connections this node keeps.
    pub connections: usize,
}

impl Database {
    pub const CONNECTIONS: usize = 8;

    pub fn at(url: &str) -> Self {
        Self {
            url: Secret::new(url.to_owned()),
            password: None,
            connections: Self::CONNECTIONS,
        }
    }

    /// The URL for people to read: without a password, and without parameters, which may hold one too.
    pub fn shown(&self) -> String {
        self.plain().unwrap_or_else(|| "the database".to_owned())
    }

    /// The same, if it is plain what of it is a password: one may hold characters that should have been written
    /// otherwise.
    fn plain(&self) -> Option<String> {
        let (scheme, rest) = self.url.reveal().split_once("://")?;
        let mark = rest.find(['?', '#']).unwrap_or(rest.len());
        match rest.rfind('@') {
            Some(at) if at < mark => {
                let user = rest.split([':', '@']).next().unwrap_or_default();
                Some(format!("{scheme}://{user}@{}", &rest[at + 1..mark]))
            }
            Some(_) => None,
            None => {
                let host = rest[..mark].split('/').next().unwrap_or_default();
                let port = host.split_once(':').map_or("", |(_, port)| port);
                port.bytes()
                    .all(|b| b.is_ascii_digit())
                    .then(|| format!("{scheme}://{}", &rest[..mark]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Database;

    #[test]
    fn no_password_is_shown() {
        let shown = |url: &str| Database::at(url).shown();
        for odd in [
            "postgres://garth:geheim#x@db/garth",
            "postgres://garth:geheim?x@db/garth",
            "postgres://garth:geheim",
            "postgres://garth:geheim/garth",
            "postgres//garth:geheim@db/garth",
            "postgres://db/garth?password=a@geheim",
        ] {
            assert!(!shown(odd).contains("geheim"), "{odd}: {}", shown(odd));
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
