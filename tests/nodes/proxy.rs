//! A proxy between a node and its database that breaks the connection around a commit.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

#[derive(Clone, Copy)]
pub enum Mischief {
    None,
    /// A commit never reaches the database.
    LoseCommit,
    /// A commit reaches the database, but its response does not reach the node.
    LoseAnswer,
}

pub struct Proxy {
    pub port: u16,
    mischief: Arc<AtomicU8>,
}

impl Proxy {
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let proxy = Self {
            port: listener.local_addr().expect("an address").port(),
            mischief: Arc::default(),
        };
        let mischief = proxy.mischief.clone();
        std::thread::spawn(move || {
            for node in listener.incoming().flatten() {
                let Ok(database) = TcpStream::connect(("127.0.0.1", port)) else {
                    continue;
                };
                let _ = (node.set_nodelay(true), database.set_nodelay(true));
                let (answers_from, answers_to) = (database.try_clone(), node.try_clone());
                let (answers_from, answers_to) =
                    (answers_from.expect("a socket"), answers_to.expect("a socket"));
                let mischief = mischief.clone();
                std::thread::spawn(move || forward(node, database, &mischief));
                std::thread::spawn(move || answer(answers_from, answers_to));
            }
        });
        proxy
    }

    pub fn set(&self, mischief: Mischief) {
        self.mischief.store(mischief as u8, Ordering::SeqCst);
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, mischief: &AtomicU8) {
    let mut buffer = [0; 65536];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..count];
        let mischief = mischief.load(Ordering::SeqCst);
        let is_commit = mischief > 0 && bytes.windows(7).any(|some| some == b"COMMIT\0");
        if is_commit {
            let _ = from.shutdown(Shutdown::Both);
        }
        if is_commit && mischief == Mischief::LoseCommit as u8 {
            break;
        }
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    // The database still runs the forwarded statements; then it sees the end of the connection.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Write));
}

/// Forwards responses. After the node is disconnected they are still read: closing the connection to the
/// database here could overtake a commit that is still being forwarded.
fn answer(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 65536];
    let mut is_heard = true;
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        is_heard = is_heard && to.write_all(&buffer[..count]).is_ok();
    }
    let _ = to.shutdown(Shutdown::Both);
}
