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
        let url = self.url.reveal();
        let url = url.split(['?', '#']).next().unwrap_or_default();
        let Some((scheme, rest)) = url.split_once("://") else {
            return "the database".to_owned();
        };
        // A password may have an @ in it that should have been written %40: all before the last is secret.
        match rest.rsplit_once('@') {
            None => format!("{scheme}://{rest}"),
            Some((who, place)) => {
                let user = who.split(':').next().unwrap_or_default();
                format!("{scheme}://{user}@{place}")
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
