//! A proxy between a node and its database that breaks the connection around a commit.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

#[derive(Clone, Copy)]
pub enum Fault {
    None,
    /// A commit never reaches the database.
    LoseCommit,
    /// A commit reaches the database, but its response does not reach the node.
    LoseResponse,
}

pub struct Proxy {
    pub port: u16,
    fault: Arc<AtomicU8>,
}

impl Proxy {
    pub fn new(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let proxy = Self {
            port: listener.local_addr().expect("an address").port(),
            fault: Arc::default(),
        };
        let fault = proxy.fault.clone();
        std::thread::spawn(move || {
            for node in listener.incoming().flatten() {
                let Ok(database) = TcpStream::connect(("127.0.0.1", port)) else {
                    continue;
                };
                let _ = (node.set_nodelay(true), database.set_nodelay(true));
                let (response_source, response_target) = (database.try_clone(), node.try_clone());
                let (response_source, response_target) = (
                    response_source.expect("a socket"),
                    response_target.expect("a socket"),
                );
                let fault = fault.clone();
                std::thread::spawn(move || forward(node, database, &fault));
                std::thread::spawn(move || forward_responses(response_source, response_target));
            }
        });
        proxy
    }

    pub fn set(&self, fault: Fault) {
        self.fault.store(fault as u8, Ordering::SeqCst);
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, fault: &AtomicU8) {
    let mut buffer = [0; 65536];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let bytes = &buffer[..count];
        let fault = fault.load(Ordering::SeqCst);
        let is_commit = fault > 0 && bytes.windows(7).any(|window| window == b"COMMIT\0");
        if is_commit {
            let _ = from.shutdown(Shutdown::Both);
        }
        if is_commit && fault == Fault::LoseCommit as u8 {
            break;
        }
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    // The database still runs the forwarded statements, and then sees the end of the connection.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Write));
}

/// Forwards responses. After the node is disconnected, responses are still read and discarded. Closing the
/// connection to the database here could prevent a commit that is still being forwarded.
fn forward_responses(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 65536];
    let mut is_connected = true;
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        is_connected = is_connected && to.write_all(&buffer[..count]).is_ok();
    }
    let _ = to.shutdown(Shutdown::Both);
}
