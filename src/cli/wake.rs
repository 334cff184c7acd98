//! A knock on the door: a command tells the server beside it that it has changed something.
//!
//! Nothing depends on it but promptness. Who may do what is read in each request's own
//! transaction; the knock only makes event streams look at once rather than at their next
//! heartbeat.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

use crate::store::Store;

const SOCKET: &str = "wake.sock";

/// A short name for the socket in a folder that is open: the name of a socket may have only some
/// hundred bytes, however deep the folder is.
fn socket(folder: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd()))
}

/// Rings for every knock. The caller holds the folder's lock, so an old socket is nobody's.
pub fn listen(folder: &Path, store: Store) {
    let _ = std::fs::remove_file(folder.join(SOCKET));
    let listener = match File::open(folder).and_then(|folder| UnixListener::bind(socket(&folder))) {
        Ok(listener) => listener,
        Err(cause) => {
            tracing::warn!(%cause, "no socket for the command line; streams hear of its changes late");
            return;
        }
    };
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            store.notifier().notify_all();
        }
    });
}

/// Knocks; whether there is a server.
pub fn poke(folder: &Path) -> bool {
    let knocked = File::open(folder).and_then(|folder| UnixStream::connect(socket(&folder)));
    knocked.is_ok()
}
