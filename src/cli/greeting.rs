//! What `garth serve` prints once it listens.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;

use super::bootstrap_token::GivenToken;
use super::output::unless_closed;
use crate::rules::accounts::Bootstrapped;

/// More to print, made from the server's URL.
pub type Welcome = Box<dyn Fn(&str) -> String + Send>;

pub struct Greeting<'a> {
    /// The address that the server is bound to.
    pub listening: String,
    /// Where people find it.
    pub url: String,
    pub metrics: Option<SocketAddr>,
    /// The account that was made just now.
    pub first: Option<&'a Bootstrapped>,
    /// The token that the operator chose, who need not be shown it.
    pub given: Option<&'a GivenToken>,
    /// The options by which a command finds the store.
    pub store: String,
    pub welcome: Option<Welcome>,
}

impl Greeting<'_> {
    /// Prints it in one write: a reader that waits for the first line finds the others, too.
    pub fn print(&self) -> anyhow::Result<()> {
        let mut out = std::io::stdout();
        unless_closed(out.write_all(self.text().as_bytes()).and_then(|()| out.flush()))
    }

    fn text(&self) -> String {
        let Self { listening, url, .. } = self;
        let mut text = format!("Garth is listening on {listening} (API at /v4, reference at /docs).\n");
        if let Some(metrics) = self.metrics {
            text += &format!("Its metrics are at http://{metrics}/metrics.\n");
        }
        text += &self.first_account();
        match &self.welcome {
            Some(welcome) => text += &format!("{}\n", welcome(url)),
            None => text += &self.console(),
        }
        text
    }

    fn first_account(&self) -> String {
        let Some(first) = self.first else {
            return String::new();
        };
        let made = "\nThe store was empty: an account with the user \"admin\" was made.\n";
        match (self.given, &first.token) {
            (Some(given), _) => made.to_owned() + &self.line_to_try(&given.in_shell()),
            (None, Some(token)) => format!(
                "{made}Its token, shown only this once:\n\n    {0}\n{1}",
                token.reveal(),
                self.line_to_try(token.reveal())
            ),
            (None, None) => format!(
                "{made}It has no token yet, because this output is a log that others may read. To make one:\n\n    \
                 garth token create --user admin{}\n\n",
                self.store
            ),
        }
    }

    fn line_to_try(&self, token: &str) -> String {
        format!(
            "\nTry it:\n\n    curl -H \"Authorization: Bearer {token}\" {}/v4/vpcs\n\n",
            self.listening
        )
    }

    fn console(&self) -> String {
        let (url, store) = (&self.url, &self.store);
        match self.first {
            Some(_) => format!(
                "The console is at {url}/login. To log in there as \"admin\", choose a password with the link that this \
                 prints:\n\n    garth user link{store} admin\n\n"
            ),
            None => format!(
                "The console is at {url}/login. For a link to choose a user's password: garth user link{store} USERNAME\n"
            ),
        }
    }
}

/// The options by which a command finds the store of this server.
pub fn store_options(folder: &Path, shared: bool) -> String {
    match shared {
        true if std::env::var_os("GARTH_DATABASE").is_some() => String::new(),
        true => " --database URL".to_owned(),
        false if folder == Path::new("./garth-data") => String::new(),
        false => format!(" --data {}", quoted(folder)),
    }
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+' | '@' | ':' | ',');
    match path.chars().all(plain) {
        true => path,
        false => format!("'{}'", path.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_can_be_pasted_into_a_shell() {
        let options = |folder: &str| store_options(Path::new(folder), false);
        assert_eq!(options("./garth-data"), "");
        assert_eq!(options("/var/lib/garth"), " --data /var/lib/garth");
        assert_eq!(options("/a b/it's"), " --data '/a b/it'\\''s'");
    }
}
