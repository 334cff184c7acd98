//! Notices a new desired state in the folder of the agent, without a delay.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use tokio::sync::Notify;

use super::state_folder::DESIRED_FILE;

/// Notifies when a file was renamed to `desired.json`.
pub struct FolderWatch(Arc<Notify>);

impl FolderWatch {
    /// If the kernel refuses a watch, the agent notices a new state when it reads the file again.
    pub fn new(folder: &Path) -> Self {
        let changed = Arc::new(Notify::new());
        if let Err(error) = start(folder, changed.clone()) {
            tracing::warn!(error = %error, "folder not watched");
        }
        Self(changed)
    }

    pub async fn changed(&self) {
        self.0.notified().await;
    }
}

/// Starts the thread that receives the events. It ends with the process.
fn start(folder: &Path, changed: Arc<Notify>) -> io::Result<()> {
    let watch = inotify::init(CreateFlags::CLOEXEC)?;
    inotify::add_watch(&watch, folder, WatchFlags::MOVED_TO)?;
    let receive = move || receive(&watch, &changed);
    thread::Builder::new()
        .name("folder watch".to_owned())
        .spawn(receive)?;
    Ok(())
}

fn receive(watch: &OwnedFd, changed: &Notify) {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    let mut events = inotify::Reader::new(watch, &mut buffer);
    loop {
        let event = match events.next() {
            Ok(event) => event,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        };
        let name = event.file_name().map(|name| name.to_bytes());
        // Events that were lost may concern the desired state.
        if name == Some(DESIRED_FILE.as_bytes()) || event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
            changed.notify_one();
        }
    }
}
