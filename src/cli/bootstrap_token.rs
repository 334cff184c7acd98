//! The token of the first user: chosen by the operator, or a random one that is shown once.

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::Context;

use super::secret_file;
use super::settings::Settings;
use crate::model::token::TokenText;
use crate::rules::accounts::FirstToken;

const VARIABLE: &str = "GARTH_BOOTSTRAP_TOKEN";

/// A token that the operator chose.
pub struct GivenToken {
    pub token: TokenText,
    /// Where it is, if it is in a file.
    file: Option<PathBuf>,
}

impl GivenToken {
    /// Reads the token from the environment, or from the file that the settings name.
    pub fn find(settings: &Settings) -> anyhow::Result<Option<Self>> {
        if let Ok(raw) = std::env::var(VARIABLE) {
            let token = parse(VARIABLE, &raw)?;
            return Ok(Some(Self { token, file: None }));
        }
        let Some(path) = &settings.bootstrap_token_file else {
            return Ok(None);
        };
        let setting = "bootstrap_token_file";
        let token = parse(setting, secret_file::read(setting, path)?.reveal())?;
        Ok(Some(Self {
            token,
            file: Some(path.clone()),
        }))
    }

    /// How a shell finds it, so that it need not be printed.
    pub fn in_shell(&self) -> String {
        match &self.file {
            None => format!("${VARIABLE}"),
            Some(path) => format!("$(cat {})", path.display()),
        }
    }
}

fn parse(setting: &str, raw: &str) -> anyhow::Result<TokenText> {
    TokenText::parse(raw).with_context(|| format!("{setting}: must be 64 lower-case hexadecimal characters"))
}

/// The token to make for the first user. A journal or a container's log keeps what it is shown and has other readers, so
/// no token is made there.
pub fn first_token(given: Option<&GivenToken>) -> FirstToken {
    match given {
        Some(given) => FirstToken::Given(given.token.clone()),
        None if output_is_a_log() => FirstToken::None,
        None => FirstToken::Random,
    }
}

/// Whether the output goes to systemd's journal, or is that of a container's first process. A pipe or a file is where
/// the person who started the server wants it.
fn output_is_a_log() -> bool {
    let in_service = std::env::var_os("JOURNAL_STREAM").is_some();
    let in_container = std::process::id() == 1;
    (in_service || in_container) && !std::io::stdout().is_terminal()
}
