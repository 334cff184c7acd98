//! A mail server for tests, on a free port of 127.0.0.1, with a thread for each connection.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How the server treats the next connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behavior {
    Accept,
    /// Answers `RCPT` with this line.
    RefuseRecipient(&'static str),
    /// Answers the content with this line.
    RefuseContent(&'static str),
    /// Closes the connection after the content, without an answer.
    DropAfterContent,
    /// Never answers the content.
    HoldContent,
    /// Never sends its greeting.
    Hang,
}

/// A mail whose content was received, whether or not it was accepted.
#[derive(Clone, Debug)]
pub struct ReceivedMail {
    pub sender: String,
    pub recipient: String,
    pub content: String,
}

#[derive(Clone)]
pub struct SmtpServer {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
}

struct State {
    behavior: Behavior,
    mails: Vec<ReceivedMail>,
    connections: usize,
}

impl SmtpServer {
    pub fn start(behavior: Behavior) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let server = Self {
            address: listener.local_addr().expect("an address"),
            state: Arc::new(Mutex::new(State {
                behavior,
                mails: Vec::new(),
                connections: 0,
            })),
        };
        let accepting = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let connection = accepting.clone();
                connection.with(|state| state.connections += 1);
                // A client that ends the connection is not an error of the test.
                std::thread::spawn(move || connection.serve(stream));
            }
        });
        server
    }

    pub fn set(&self, behavior: Behavior) {
        self.with(|state| state.behavior = behavior);
    }

    pub fn mails(&self) -> Vec<ReceivedMail> {
        self.with(|state| state.mails.clone())
    }

    pub fn connections(&self) -> usize {
        self.with(|state| state.connections)
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn serve(&self, mut stream: TcpStream) -> Option<()> {
        let behavior = self.with(|state| state.behavior);
        if behavior == Behavior::Hang {
            return hold();
        }
        let mut lines = BufReader::new(stream.try_clone().ok()?)
            .lines()
            .map_while(Result::ok);
        let mut answer = move |text: &str| stream.write_all(format!("{text}\r\n").as_bytes()).ok();
        answer("220 mx.example.net ESMTP")?;
        let (mut sender, mut recipient) = (String::new(), String::new());
        while let Some(line) = lines.next() {
            let argument = || line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
            match line.split([' ', ':']).next().unwrap_or_default() {
                "EHLO" => answer("250-mx.example.net\r\n250 8BITMIME")?,
                "MAIL" => {
                    sender = argument();
                    answer("250 2.1.0 ok")?;
                }
                "RCPT" => {
                    recipient = argument();
                    match behavior {
                        Behavior::RefuseRecipient(text) => answer(text)?,
                        _ => answer("250 2.1.5 ok")?,
                    }
                }
                "DATA" => {
                    answer("354 go ahead")?;
                    let content = lines.by_ref().take_while(|line| line != ".");
                    let content: Vec<_> = content
                        .map(|line| line.strip_prefix('.').map(str::to_owned).unwrap_or(line))
                        .collect();
                    let mail = ReceivedMail {
                        sender: sender.clone(),
                        recipient: recipient.clone(),
                        content: content.join("\r\n"),
                    };
                    self.with(|state| state.mails.push(mail));
                    match behavior {
                        Behavior::DropAfterContent => return None,
                        Behavior::HoldContent => return hold(),
                        Behavior::RefuseContent(text) => answer(text)?,
                        _ => answer("250 2.0.0 queued")?,
                    }
                }
                "QUIT" => {
                    answer("221 bye")?;
                    return None;
                }
                _ => answer("502 5.5.1 unknown command")?,
            }
        }
        None
    }
}

/// Keeps the connection open, longer than any test.
fn hold() -> Option<()> {
    std::thread::sleep(Duration::from_secs(600));
    None
}
