//! Child processes: started, waited for with patience, and never left behind.

use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// How long anything may take that is only waited for: far longer than it ever should.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Looks until there is something to see.
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A child process and what it prints. It does not outlive this value.
pub struct Process {
    child: Child,
    stdout: Printed,
    stderr: Printed,
}

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Process {
    pub fn spawn(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be started");
        let stdout = Printed::gather(child.stdout.take().expect("stdout is piped"));
        let stderr = Printed::gather(child.stderr.take().expect("stderr is piped"));
        Self {
            child,
            stdout,
            stderr,
        }
    }

    /// The same with a terminal as its standard output.
    pub fn spawn_in_terminal(command: &mut Command) -> Self {
        let (controller, terminal) = open_terminal();
        command.stdout(terminal).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be started");
        // The command holds the terminal open; without it, reading ends with the child.
        command.stdout(Stdio::null());
        let stderr = Printed::gather(child.stderr.take().expect("stderr is piped"));
        Self {
            child,
            stdout: Printed::gather(controller),
            stderr,
        }
    }

    /// Waits until it ends by itself.
    pub fn ended(mut self) -> Ended {
        let status = eventually("the process to end", || {
            self.child.try_wait().expect("a child can be waited for")
        });
        Ended {
            code: status.code(),
            stdout: self.stdout.all(),
            stderr: self.stderr.all(),
        }
    }

    pub fn is_running(&mut self) -> bool {
        let ended = self.child.try_wait().expect("a child can be waited for");
        ended.is_none()
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has written to its standard output so far.
    pub fn printed(&self) -> String {
        self.stdout.so_far()
    }

    /// What it has written to its standard error so far.
    pub fn logged(&self) -> String {
        self.stderr.so_far()
    }

    /// `kill -9`, at once.
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
    grantpt(&controller).expect("the terminal is ours");
    unlockpt(&controller).expect("the terminal can be unlocked");
    let name = ptsname(&controller, Vec::new()).expect("the terminal has a name");
    let name = name.into_string().expect("the name is plain text");
    let terminal = File::options()
        .write(true)
        .open(name)
        .expect("the terminal is there");
    (controller.into(), terminal)
}

/// What comes out of a pipe, gathered by a thread so that nobody has to block on it.
struct Printed {
    bytes: Arc<Mutex<Vec<u8>>>,
    gatherer: Option<JoinHandle<()>>,
}

impl Printed {
    fn gather(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let gathered = bytes.clone();
        let gatherer = std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
                gathered.extend_from_slice(&buffer[..count]);
            }
        });
        Self {
            bytes,
            gatherer: Some(gatherer),
        }
    }

    fn so_far(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn all(&mut self) -> String {
        if let Some(gatherer) = self.gatherer.take() {
            gatherer.join().expect("gathering does not panic");
        }
        self.so_far()
    }
}
