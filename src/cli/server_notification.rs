//! Notifies a running server of changes that a command has committed to the embedded store.
//!
//! With the notification, event streams read the changes immediately instead of at their next heartbeat. Correctness
//! does not depend on it: every request reads permissions in its own transaction.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

use crate::store::Store;

const SOCKET: &str = "wake.sock";

/// A short path to the socket in an open folder: the path of a socket is limited to about 100 bytes.
fn socket_path(folder: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd()))
}

/// Notifies all subscribers of the store whenever a command connects. The caller holds the folder's lock, so
/// no running server uses an existing socket.
pub fn listen(folder: &Path, store: Store) {
    let _ = std::fs::remove_file(folder.join(SOCKET));
    let listener = match File::open(folder).and_then(|folder| UnixListener::bind(socket_path(&folder))) {
        Ok(listener) => listener,
        Err(cause) => {
            tracing::warn!(error = %cause, "socket for notifications from commands not created");
            return;
        }
    };
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            store.notifier().notify_all();
        }
    });
}

/// Notifies the server on this folder. Returns false if no server is running.
pub fn send(folder: &Path) -> bool {
    let connected = File::open(folder).and_then(|folder| UnixStream::connect(socket_path(&folder)));
    connected.is_ok()
}
