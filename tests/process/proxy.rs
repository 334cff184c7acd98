//! A wire between the server and something it needs, which can be cut and mended.

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
    /// After how many more bytes from the server it is cut by itself.
    left: AtomicUsize,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    pub fn before(target: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(Shared {
            cut: AtomicBool::new(false),
            left: AtomicUsize::new(usize::MAX),
            open: Mutex::default(),
        });
        let accepting = shared.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if !accepting.cut.load(Ordering::SeqCst) {
                    let server = TcpStream::connect(&target).expect("the target is there");
                    accepting.join(client, server);
                }
            }
        });
        Self { address, shared }
    }

    /// Ends every connection, and every later one at once.
    pub fn cut(&self) {
        self.shared.cut();
    }

    /// The same, in the middle of what comes next.
    pub fn cut_after(&self, bytes: usize) {
        self.shared.left.store(bytes, Ordering::SeqCst);
    }

    pub fn is_cut(&self) -> bool {
        self.shared.cut.load(Ordering::SeqCst)
    }

    pub fn mend(&self) {
        self.shared.left.store(usize::MAX, Ordering::SeqCst);
        self.shared.cut.store(false, Ordering::SeqCst);
    }
}

impl Shared {
    fn cut(&self) {
        self.cut.store(true, Ordering::SeqCst);
        let mut open = self.open.lock().expect("nobody panics with it");
        for stream in open.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn join(self: &Arc<Self>, client: TcpStream, server: TcpStream) {
        let hand = |stream: &TcpStream| stream.try_clone().expect("a second hand");
        let mut open = self.open.lock().expect("nobody panics with it");
        open.extend([hand(&client), hand(&server)]);
        drop(open);
        let (there, back) = ((hand(&client), hand(&server)), (server, client));
        for ((mut from, mut to), counted) in [(there, true), (back, false)] {
            let shared = self.clone();
            std::thread::spawn(move || {
                let mut buffer = [0; 16 * 1024];
                while let Ok(count @ 1..) = from.read(&mut buffer) {
                    if counted && shared.left.load(Ordering::SeqCst) < count {
                        return shared.cut();
                    }
                    if counted && shared.left.load(Ordering::SeqCst) != usize::MAX {
                        shared.left.fetch_sub(count, Ordering::SeqCst);
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
