//! The virus scanner for attachments.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// The timeout of a scan.
const SCAN_TIMEOUT: Duration = Duration::from_secs(120);

/// A command that exits with 0 for a clean file and with 1 for an infected file. Common scanners do this.
#[derive(Clone, Debug)]
pub struct Scanner {
    program: String,
    arguments: Vec<String>,
    timeout: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Clean,
    /// The file is infected.
    Refused,
    /// The scan failed.
    Failed(String),
}

impl Scanner {
    /// Parses a command such as `clamdscan --fdpass {}`. The path of the file replaces `{}`. If the command
    /// has no `{}`, the path is the last argument. No shell is involved.
    pub fn parse(command: &str) -> Option<Self> {
        let mut words = command.split_whitespace().map(str::to_owned);
        let program = words.next()?;
        let mut arguments: Vec<_> = words.collect();
        if !arguments.iter().any(|argument| argument.contains("{}")) {
            arguments.push("{}".to_owned());
        }
        Some(Self {
            program,
            arguments,
            timeout: SCAN_TIMEOUT,
        })
    }

    /// Checks that the program exists and is executable. Otherwise returns the problem.
    pub fn find(&self) -> Result<(), String> {
        let program = &self.program;
        let is_executable =
            |path: &Path| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
        if program.contains('/') {
            let path = Path::new(program);
            return match (path.exists(), is_executable(path)) {
                (_, true) => Ok(()),
                (true, false) => Err(format!("{program} is not executable")),
                (false, false) => Err(format!("{program} does not exist")),
            };
        }
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let mut paths = std::env::split_paths(&folders).map(|folder| folder.join(program));
        match paths.any(|path| is_executable(&path)) {
            true => Ok(()),
            false => Err(format!("{program} is not in PATH, or is not executable")),
        }
    }

    pub async fn scan(&self, file: &Path) -> Verdict {
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
        match tokio::time::timeout(self.timeout, command.status()).await {
            Err(_) => Verdict::Failed(format!("{} timed out", self.program)),
            Ok(Err(cause)) => Verdict::Failed(format!("{}: {cause}", self.program)),
            Ok(Ok(status)) => match status.code() {
                Some(0) => Verdict::Clean,
                Some(1) => Verdict::Refused,
                _ => Verdict::Failed(format!("{} exited with {status}", self.program)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_replaces_the_placeholder_or_is_the_last_argument() {
        let words = |command: &str| Scanner::parse(command).map(|scanner| scanner.arguments);
        assert_eq!(words("clamdscan"), Some(vec!["{}".to_owned()]));
        assert_eq!(
            words(" scan --file={}  -q "),
            Some(vec!["--file={}".to_owned(), "-q".to_owned()])
        );
        assert_eq!(words("  "), None);
    }

    #[tokio::test]
    async fn a_scan_that_times_out_fails_and_is_killed() {
        let folder = std::env::temp_dir().join(format!("garth-scanner-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (file, script) = (folder.join("file"), folder.join("script"));
        std::fs::write(&script, "echo $$ > \"$1\"; exec sleep 60").expect("a script");
        let mut scanner = Scanner::parse(&format!("sh {}", script.display())).expect("a command");
        scanner.timeout = Duration::from_millis(500);

        let verdict = scanner.scan(&file).await;

        assert!(
            matches!(&verdict, Verdict::Failed(cause) if cause.contains("timed out")),
            "{verdict:?}"
        );
        let process = std::fs::read_to_string(&file).expect("the process ID");
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", process.trim()));
        for _ in 0..100 {
            if state().is_ok_and(|state| state.contains(") S ")) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        assert!(state().map_or(true, |state| !state.contains(") S ")));
        let _ = std::fs::remove_dir_all(&folder);
    }
}
