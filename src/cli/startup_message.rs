//! The message that `garth serve` and `garth demo` print when they accept connections.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;

use super::bootstrap_token::ConfiguredToken;
use super::output::unless_closed;
use crate::rules::accounts::Bootstrapped;

/// Formats the message about the demo, from the URL of the server.
pub type DemoMessage = Box<dyn Fn(&str) -> String + Send>;

pub struct StartupMessage<'a> {
    /// The URL of the address that the server is bound to.
    pub listen_url: String,
    /// The URL that users open.
    pub url: String,
    pub metrics: Option<SocketAddr>,
    /// The first account, if this start created it.
    pub first: Option<&'a Bootstrapped>,
    /// The token that the operator chose. It is not printed.
    pub configured_token: Option<&'a ConfiguredToken>,
    /// The options with which a command selects the server's store.
    pub store_options: String,
    /// The lines about test control and chaos.
    pub test_mode: String,
    /// Replaces the hints about the console.
    pub demo: Option<DemoMessage>,
}

impl StartupMessage<'_> {
    /// Prints the message in one write, so that a reader that waits for the first line also gets the other
    /// lines.
    pub fn print(&self) -> anyhow::Result<()> {
        let mut out = std::io::stdout();
        unless_closed(out.write_all(self.text().as_bytes()).and_then(|()| out.flush()))
    }

    fn text(&self) -> String {
        let Self { listen_url, url, .. } = self;
        let mut text = format!("Garth is listening on {listen_url} (API at /v4, reference at /docs).\n");
        if let Some(metrics) = self.metrics {
            text += &format!("Metrics: http://{metrics}/metrics\n");
        }
        text += &self.test_mode;
        text += &self.first_account();
        match &self.demo {
            Some(demo) => text += &format!("{}\n", demo(url)),
            None => text += &self.console(),
        }
        text
    }

    fn first_account(&self) -> String {
        let Some(first) = self.first else {
            return String::new();
        };
        let created = "\nCreated the first account, with the user \"admin\".\n";
        match (self.configured_token, &first.token) {
            (Some(token), _) => created.to_owned() + &self.example_request(&token.in_shell()),
            (None, Some(token)) => format!(
                "{created}Its API token, shown only once:\n\n    {0}\n{1}",
                token.reveal(),
                self.example_request(token.reveal())
            ),
            (None, None) => format!(
                "{created}No API token was created, because this output is a log. To create one:\n\n    \
                 garth token create --user admin{}\n\n",
                self.store_options
            ),
        }
    }

    fn example_request(&self, token: &str) -> String {
        format!(
            "\nTry it:\n\n    curl -H \"Authorization: Bearer {token}\" {}/v4/vpcs\n\n",
            self.listen_url
        )
    }

    fn console(&self) -> String {
        let (url, store_options) = (&self.url, &self.store_options);
        match self.first {
            Some(_) => format!(
                "Console: {url}/login\nTo log in as \"admin\", first create a link to set the password:\n\n    garth user \
                 link admin{store_options}\n\n"
            ),
            None => format!(
                "Console: {url}/login (to set a user's password: garth user link USERNAME{store_options})\n"
            ),
        }
    }
}

/// The options with which a command selects the store of this server.
pub fn store_options(folder: &Path, shared: bool) -> String {
    match shared {
        true if std::env::var_os("GARTH_DATABASE").is_some() => String::new(),
        true => " --database URL".to_owned(),
        false if folder == Path::new("./garth-data") => String::new(),
        false => format!(" --data {}", quoted(folder)),
    }
}

/// Quotes a path for a shell.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '+' | '@' | ':' | ',');
    match path.chars().all(is_plain) {
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
