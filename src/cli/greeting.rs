//! What `garth serve` prints once it listens.

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;

use crate::model::token::TokenText;

/// More to print, made from the server's URL.
pub type Welcome = Box<dyn Fn(&str) -> String + Send>;

pub struct Greeting<'a> {
    /// The address that the server is bound to.
    pub listening: String,
    /// Where people find it.
    pub url: String,
    pub metrics: Option<SocketAddr>,
    /// The token of an account that was made just now.
    pub first: Option<&'a TokenText>,
    /// The token was chosen by the person who starts the server, who need not be shown it.
    pub given: bool,
    /// The command that makes a link to choose a password.
    pub link: String,
    pub welcome: Option<Welcome>,
}

impl Greeting<'_> {
    /// Prints it in one write: a reader that waits for the first line finds the others, too.
    pub fn print(&self) -> anyhow::Result<()> {
        let mut out = std::io::stdout();
        out.write_all(self.text().as_bytes())?;
        Ok(out.flush()?)
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
        let Some(token) = self.first else {
            return String::new();
        };
        let mut text = "\nThe store was empty: an account with the user \"admin\" was made.\n".to_owned();
        let token = match self.given {
            true => "$GARTH_BOOTSTRAP_TOKEN",
            false => {
                text += &format!("Its token, shown only this once:\n\n    {}\n", token.reveal());
                token.reveal()
            }
        };
        text += &format!(
            "\nTry it:\n\n    curl -H \"Authorization: Bearer {token}\" {}/v4/vpcs\n\n",
            self.listening
        );
        text
    }

    fn console(&self) -> String {
        let (url, link) = (&self.url, &self.link);
        match self.first {
            Some(_) => format!(
                "The console is at {url}/login. To log in there as \"admin\", choose a password with the link that this \
                 prints:\n\n    {link} admin\n\n"
            ),
            None => format!(
                "The console is at {url}/login. For a link to choose a user's password: {link} USERNAME\n"
            ),
        }
    }
}

/// `garth user link`, as it finds the store of this server.
pub fn link_command(folder: &Path, shared: bool) -> String {
    match shared {
        true if std::env::var_os("GARTH_DATABASE").is_some() => "garth user link".to_owned(),
        true => "garth user link --database URL".to_owned(),
        false if folder == Path::new("./garth-data") => "garth user link".to_owned(),
        false => format!("garth user link --data {}", quoted(folder)),
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
    fn the_command_can_be_pasted_into_a_shell() {
        let command = |folder: &str| link_command(Path::new(folder), false);
        assert_eq!(command("./garth-data"), "garth user link");
        assert_eq!(command("/var/lib/garth"), "garth user link --data /var/lib/garth");
        assert_eq!(command("/a b/it's"), "garth user link --data '/a b/it'\\''s'");
    }
}
