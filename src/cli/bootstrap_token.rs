//! The first user's API token: set by the operator, or random and printed once.

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::{Context, ensure};

use super::secret_file;
use super::settings::Settings;
use crate::model::token::TokenText;
use crate::rules::accounts::FirstToken;

const VARIABLE: &str = "GARTH_BOOTSTRAP_TOKEN";

/// A token that the operator has set.
pub struct ConfiguredToken {
    pub token: TokenText,
    /// The file that contains the token; `None` if it comes from the environment.
    file: Option<PathBuf>,
}

impl ConfiguredToken {
    /// Reads the token from the environment, or from the file in the settings.
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

    /// A shell expression for the token, so that the token itself is not printed.
    pub fn in_shell(&self) -> String {
        match &self.file {
            None => format!("${VARIABLE}"),
            Some(path) => format!("$(cat {})", path.display()),
        }
    }
}

fn parse(setting: &str, raw: &str) -> anyhow::Result<TokenText> {
    ensure!(
        !raw.is_empty(),
        "{setting}: is empty: set it to 64 lower-case hexadecimal characters, or unset it"
    );
    TokenText::parse(raw).with_context(|| format!("{setting}: must be 64 lower-case hexadecimal characters"))
}

/// Selects the token to create for the first user. If the output is a log, no token is created, because the
/// log would contain it.
pub fn first_token(configured: Option<&ConfiguredToken>) -> FirstToken {
    match configured {
        Some(configured) => FirstToken::Given(configured.token.clone()),
        None if output_is_log() => FirstToken::None,
        None => FirstToken::Random,
    }
}

/// Whether standard output is stored in a log that other users can read: the systemd journal, or the log of a
/// container. A pipe or a file does not count as a log, because the user who started the process chose it.
pub fn output_is_log() -> bool {
    let in_service = std::env::var_os("JOURNAL_STREAM").is_some();
    let in_container = std::process::id() == 1;
    (in_service || in_container) && !std::io::stdout().is_terminal()
}
