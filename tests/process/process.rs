//! Child processes. They are killed when the test ends.

use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Maximum time to wait for a condition. It is far longer than the condition should take.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(90);

/// Polls until `poll` returns a value.
pub fn eventually<T>(condition: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + WAIT_TIMEOUT;
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(Instant::now() < end, "timed out waiting for {condition}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A child process and its output. Dropping this value kills the process.
pub struct Process {
    child: Child,
    stdout: PipeReader,
    stderr: PipeReader,
}

/// The exit code and the output of a process.
#[derive(Debug)]
pub struct ProcessOutput {
    /// `None` if a signal killed the process.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Process {
    pub fn spawn(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be started");
        let stdout = PipeReader::start(child.stdout.take().expect("stdout is piped"));
        let stderr = PipeReader::start(child.stderr.take().expect("stderr is piped"));
        Self {
            child,
            stdout,
            stderr,
        }
    }

    /// Like `spawn`, with a terminal as the standard output.
    pub fn spawn_in_terminal(command: &mut Command) -> Self {
        let (controller, terminal) = open_terminal();
        command.stdout(terminal).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be started");
        // The command holds the terminal open. After this, reading ends when the child exits.
        command.stdout(Stdio::null());
        let stderr = PipeReader::start(child.stderr.take().expect("stderr is piped"));
        Self {
            child,
            stdout: PipeReader::start(controller),
            stderr,
        }
    }

    /// Waits until the process exits.
    pub fn wait(mut self) -> ProcessOutput {
        let status = eventually("the process to exit", || {
            self.child.try_wait().expect("a child can be waited for")
        });
        ProcessOutput {
            code: status.code(),
            stdout: self.stdout.all(),
            stderr: self.stderr.all(),
        }
    }

    pub fn is_running(&mut self) -> bool {
        let status = self.child.try_wait().expect("a child can be waited for");
        status.is_none()
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The standard output so far.
    pub fn stdout(&self) -> String {
        self.stdout.so_far()
    }

    /// The standard error so far.
    pub fn stderr(&self) -> String {
        self.stderr.so_far()
    }

    /// Sends SIGKILL and waits.
    pub fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child can be waited for");
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
        let mut kill = Command::new("kill");
        let sent = kill.arg(format!("-{name}")).arg(self.child.id().to_string());
        assert!(sent.status().expect("kill can be run").success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The two ends of a new terminal.
fn open_terminal() -> (File, File) {
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal can be opened");
    grantpt(&controller).expect("access to the terminal can be granted");
    unlockpt(&controller).expect("the terminal can be unlocked");
    let name = ptsname(&controller, Vec::new()).expect("the terminal has a name");
    let name = name.into_string().expect("the name is UTF-8");
    let terminal = File::options()
        .write(true)
        .open(name)
        .expect("the terminal exists");
    (controller.into(), terminal)
}

/// The output of a pipe, read by a thread so that tests do not block.
struct PipeReader {
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl PipeReader {
    fn start(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let shared = bytes.clone();
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                shared.extend_from_slice(&buffer[..count]);
            }
        });
        Self {
            bytes,
            reader: Some(reader),
        }
    }

    fn so_far(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn all(&mut self) -> String {
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader does not panic");
        }
        self.so_far()
    }
}
