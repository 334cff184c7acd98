//! A TCP proxy between the server and a service that it uses. Tests can cut the connections.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

#[derive(Clone)]
pub struct Proxy {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    cut: AtomicBool,
    /// The proxy cuts all connections after this many further bytes from the server.
    bytes_left: AtomicUsize,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    pub fn new(target: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("the listener is bound");
        let shared = Arc::new(Shared {
            cut: AtomicBool::new(false),
            bytes_left: AtomicUsize::new(usize::MAX),
            open: Mutex::default(),
        });
        let accepting = shared.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if !accepting.cut.load(Ordering::SeqCst) {
                    let server = TcpStream::connect(&target).expect("the target accepts connections");
                    accepting.join(client, server);
                }
            }
        });
        Self { address, shared }
    }

    /// Closes every open connection. Every new connection is closed immediately.
    pub fn cut(&self) {
        self.shared.cut();
    }

    /// Like `cut`, after this many bytes from the server.
    pub fn cut_after(&self, bytes: usize) {
        self.shared.bytes_left.store(bytes, Ordering::SeqCst);
    }

    pub fn is_cut(&self) -> bool {
        self.shared.cut.load(Ordering::SeqCst)
    }

    pub fn restore(&self) {
        self.shared.bytes_left.store(usize::MAX, Ordering::SeqCst);
        self.shared.cut.store(false, Ordering::SeqCst);
    }
}

impl Shared {
    fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
        let mut open = self.open.lock().expect("no thread panicked");
        for stream in open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn join(self: &Arc<Self>, client: TcpStream, server: TcpStream) {
        let clone = |stream: &TcpStream| stream.try_clone().expect("the socket can be cloned");
        let mut open = self.open.lock().expect("no thread panicked");
        open.extend([clone(&client), clone(&server)]);
        drop(open);
        let (upstream, downstream) = ((clone(&client), clone(&server)), (server, client));
        for ((mut from, mut to), counted) in [(upstream, true), (downstream, false)] {
            let shared = self.clone();
            std::thread::spawn(move || {
                let mut buffer = [0; 16 * 1024];
                while let Ok(count @ 1..) = from.read(&mut buffer) {
                    if counted && shared.bytes_left.load(Ordering::SeqCst) < count {
                        return shared.cut();
                    }
                    if counted && shared.bytes_left.load(Ordering::SeqCst) != usize::MAX {
                        shared.bytes_left.fetch_sub(count, Ordering::SeqCst);
                    }
                    if to.write_all(&buffer[..count]).is_err() {
                        break;
                    }
                }
                let _ = to.shutdown(Shutdown::Both);
            });
        }
    }
}
