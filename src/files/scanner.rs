//! The provider's own look at each file before anybody else gets to see it.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// How long a scan may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A command that ends with 0 for a file that may come in and with 1 for one that may not, as the
/// usual scanners do.
#[derive(Clone, Debug)]
pub struct Scanner {
    program: String,
    arguments: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Clean,
    Refused,
    /// It could not say.
    None(String),
}

impl Scanner {
    /// Reads `clamdscan --fdpass {}`; without `{}` the path comes last. No shell is involved.
    pub fn parse(command: &str) -> Option<Self> {
        let mut words = command.split_whitespace().map(str::to_owned);
        let program = words.next()?;
        let mut arguments: Vec<_> = words.collect();
        if !arguments.iter().any(|argument| argument.contains("{}")) {
            arguments.push("{}".to_owned());
        }
        Some(Self { program, arguments })
    }

    pub async fn look_at(&self, file: &Path) -> Verdict {
        let path = file.to_string_lossy();
        let arguments = self
            .arguments
            .iter()
            .map(|argument| argument.replace("{}", &path));
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "HOME"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        match tokio::time::timeout(PATIENCE, command.status()).await {
            Err(_) => Verdict::None(format!("{} took too long", self.program)),
            Ok(Err(cause)) => Verdict::None(format!("{}: {cause}", self.program)),
            Ok(Ok(status)) => match status.code() {
                Some(0) => Verdict::Clean,
                Some(1) => Verdict::Refused,
                _ => Verdict::None(format!("{} ended with {status}", self.program)),
            },
        }
    }
}
