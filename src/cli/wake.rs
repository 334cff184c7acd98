//! A knock on the door: a command tells the server beside it that it has changed something.
//!
//! Nothing depends on it but promptness. Who may do what is read in each request's own
//! transaction; the knock only makes event streams look at once rather than at their next
//! heartbeat.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

use crate::store::Store;

fn socket(folder: &Path) -> PathBuf {
    folder.join("wake.sock")
}

/// Rings for every knock. The caller holds the folder's lock, so an old socket is nobody's.
pub fn listen(folder: &Path, store: Store) {
    let path = socket(folder);
    let _ = std::fs::remove_file(&path);
    let listener = match UnixListener::bind(&path) {
        Ok(listener) => listener,
        Err(cause) => {
            tracing::warn!(%cause, "no socket for the command line; streams hear of its changes late");
            return;
        }
    };
    tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            store.bell().ring_all();
        }
    });
}

/// Knocks, if there is a server.
pub fn poke(folder: &Path) {
    let _ = UnixStream::connect(socket(folder));
}
