//! A mail server for tests, on a free port of 127.0.0.1, with a thread for each connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

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

/// When the connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    None,
    /// The server offers STARTTLS, and accepts mails and passwords only after it.
    StartTls,
    /// From the start.
    Tls,
}

/// The TLS settings of a server, and the only user and password that it accepts.
#[derive(Clone)]
pub struct Protection {
    pub encryption: Encryption,
    pub tls: Arc<ServerConfig>,
    pub login: (&'static str, &'static str),
}

/// A mail whose content was received, whether or not it was accepted.
#[derive(Clone, Debug)]
pub struct ReceivedMail {
    pub sender: String,
    pub recipient: String,
    pub content: String,
    /// Whether the connection was encrypted, and the user was logged in.
    pub is_protected: bool,
}

#[derive(Clone)]
pub struct SmtpServer {
    pub address: SocketAddr,
    protection: Option<Protection>,
    state: Arc<Mutex<State>>,
}

struct State {
    behavior: Behavior,
    mails: Vec<ReceivedMail>,
    connections: usize,
    /// The number of passwords that were received.
    passwords: usize,
}

impl SmtpServer {
    pub fn start(behavior: Behavior) -> Self {
        Self::start_with(behavior, None)
    }

    pub fn start_protected(protection: Protection) -> Self {
        Self::start_with(Behavior::Accept, Some(protection))
    }

    fn start_with(behavior: Behavior, protection: Option<Protection>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let server = Self {
            address: listener.local_addr().expect("an address"),
            protection,
            state: Arc::new(Mutex::new(State {
                behavior,
                mails: Vec::new(),
                connections: 0,
                passwords: 0,
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

    pub fn passwords(&self) -> usize {
        self.with(|state| state.passwords)
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn serve(&self, stream: TcpStream) -> Option<()> {
        let behavior = self.with(|state| state.behavior);
        if behavior == Behavior::Hang {
            return hold();
        }
        let encryption = self.protection.as_ref().map(|protection| protection.encryption);
        let mut session = Session::new(Box::new(stream));
        if encryption == Some(Encryption::Tls) {
            session = self.encrypted(session)?;
        }
        session.answer("220 mx.example.net ESMTP")?;
        let (mut sender, mut recipient) = (String::new(), String::new());
        while let Some(line) = session.line() {
            let argument = || line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
            let needs_protection = self.protection.is_some() && !session.is_protected();
            match line.split([' ', ':']).next().unwrap_or_default() {
                "EHLO" => {
                    let offer = match encryption {
                        Some(Encryption::StartTls) if !session.is_encrypted => "250-STARTTLS\r\n",
                        Some(_) => "250-AUTH PLAIN\r\n",
                        None => "",
                    };
                    session.answer(&format!("250-mx.example.net\r\n{offer}250 8BITMIME"))?;
                }
                "STARTTLS" if encryption == Some(Encryption::StartTls) && !session.is_encrypted => {
                    session.answer("220 2.0.0 ready")?;
                    session = self.encrypted(session)?;
                }
                "AUTH" => {
                    self.with(|state| state.passwords += 1);
                    session.is_logged_in = self.is_login(&line) && session.is_encrypted;
                    session.answer(match session.is_logged_in {
                        true => "235 2.7.0 ok",
                        false => "535 5.7.8 wrong password for the user garth",
                    })?;
                }
                "MAIL" if needs_protection => session.answer("530 5.7.0 log in first")?,
                "MAIL" => {
                    sender = argument();
                    session.answer("250 2.1.0 ok")?;
                }
                "RCPT" => {
                    recipient = argument();
                    match behavior {
                        Behavior::RefuseRecipient(text) => session.answer(text)?,
                        _ => session.answer("250 2.1.5 ok")?,
                    }
                }
                "DATA" => {
                    session.answer("354 go ahead")?;
                    let mail = ReceivedMail {
                        sender: sender.clone(),
                        recipient: recipient.clone(),
                        content: session.content(),
                        is_protected: session.is_protected(),
                    };
                    self.with(|state| state.mails.push(mail));
                    match behavior {
                        Behavior::DropAfterContent => return None,
                        Behavior::HoldContent => return hold(),
                        Behavior::RefuseContent(text) => session.answer(text)?,
                        _ => session.answer("250 2.0.0 queued")?,
                    }
                }
                "QUIT" => {
                    session.answer("221 bye")?;
                    return None;
                }
                _ => session.answer("502 5.5.1 unknown command")?,
            }
        }
        None
    }

    fn encrypted(&self, session: Session) -> Option<Session> {
        let tls = self.protection.as_ref()?.tls.clone();
        let connection = ServerConnection::new(tls).ok()?;
        let stream = StreamOwned::new(connection, session.stream.into_inner());
        Some(Session {
            is_encrypted: true,
            ..Session::new(Box::new(stream))
        })
    }

    /// Whether `AUTH PLAIN` has the accepted user and password.
    fn is_login(&self, line: &str) -> bool {
        let sent = line
            .rsplit(' ')
            .next()
            .and_then(|word| STANDARD.decode(word).ok());
        let accepted = self.protection.as_ref().map(|protection| protection.login);
        let accepted = accepted.map(|(user, password)| format!("\0{user}\0{password}").into_bytes());
        sent.is_some() && sent == accepted
    }
}

trait ReadWrite: Read + Write + Send {}
impl<T: Read + Write + Send> ReadWrite for T {}

struct Session {
    stream: BufReader<Box<dyn ReadWrite>>,
    is_encrypted: bool,
    is_logged_in: bool,
}

impl Session {
    fn new(stream: Box<dyn ReadWrite>) -> Self {
        Self {
            stream: BufReader::new(stream),
            is_encrypted: false,
            is_logged_in: false,
        }
    }

    fn is_protected(&self) -> bool {
        self.is_encrypted && self.is_logged_in
    }

    /// The next line; `None` at the end.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim_end_matches(['\r', '\n']).to_owned()),
        }
    }

    /// The lines up to a line with a dot.
    fn content(&mut self) -> String {
        let lines = std::iter::from_fn(|| self.line().filter(|line| line != "."));
        let lines: Vec<_> = lines
            .map(|line| line.strip_prefix('.').map(str::to_owned).unwrap_or(line))
            .collect();
        lines.join("\r\n")
    }

    fn answer(&mut self, text: &str) -> Option<()> {
        let stream = self.stream.get_mut();
        stream.write_all(format!("{text}\r\n").as_bytes()).ok()?;
        stream.flush().ok()
    }
}

/// Keeps the connection open, longer than any test.
fn hold() -> Option<()> {
    std::thread::sleep(Duration::from_secs(600));
    None
}
