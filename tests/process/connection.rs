//! HTTP/1.1 over a plain socket, byte by byte.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};

use serde_json::Value;

use crate::process::WAIT_TIMEOUT;

/// A connection, byte by byte.
pub struct Connection(BufReader<TcpStream>);

impl Connection {
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        Self::over(TcpStream::connect(address)?)
    }

    /// Uses a connection that is already open.
    pub fn over(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(WAIT_TIMEOUT))?;
        stream.set_write_timeout(Some(WAIT_TIMEOUT))?;
        Ok(Self(BufReader::new(stream)))
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        self.0.get_mut().write_all(bytes.as_ref())
    }

    /// A clone of the socket, to send while another thread waits for the response.
    pub fn sender(&self) -> io::Result<TcpStream> {
        self.0.get_ref().try_clone()
    }

    /// Reads the response to a request with this method.
    pub fn reply_to(&mut self, method: &str) -> io::Result<Reply> {
        let mut reply = self.head()?;
        if reply.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk()? {
                reply.body.extend(chunk);
            }
        } else if let Some(length) = reply.header("content-length").filter(|_| method != "HEAD") {
            reply.body = vec![0; length.parse().map_err(io::Error::other)?];
            self.0.read_exact(&mut reply.body)?;
        }
        Ok(reply)
    }

    /// Reads the status line and the headers of a response.
    pub fn head(&mut self) -> io::Result<Reply> {
        let line = self.line()?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no status in {line:?}")))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else {
                break;
            };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(Reply {
            status,
            headers,
            body: Vec::new(),
        })
    }

    /// Reads one chunk of a chunked body; `None` after the last.
    pub fn chunk(&mut self) -> io::Result<Option<Vec<u8>>> {
        let size = usize::from_str_radix(&self.line()?, 16).map_err(io::Error::other)?;
        let mut chunk = vec![0; size];
        self.0.read_exact(&mut chunk)?;
        self.line()?;
        Ok((size > 0).then_some(chunk))
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.0.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(line.trim_end().to_owned()),
        }
    }

    /// Reads until the server closes the connection.
    pub fn read_to_end(&mut self) -> io::Result<Vec<u8>> {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest)?;
        Ok(rest)
    }

    /// Waits until the server sends more bytes or closes the connection. Returns true if it closed the
    /// connection.
    pub fn is_closed(&mut self) -> bool {
        match self.0.read(&mut [0]) {
            Ok(read) => read == 0,
            Err(e) => e.kind() == io::ErrorKind::ConnectionReset,
        }
    }
}

/// A response.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(header, _)| header == name);
        found.map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{self:?}");
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// The body of a successful response.
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }

    /// The code of the only error.
    pub fn code(&self) -> String {
        let errors = self.json()["errors"].take();
        assert_eq!(errors.as_array().map(Vec::len), Some(1), "{errors}");
        text(&errors[0]["code"])
    }
}

pub fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

pub fn number(value: &Value) -> i64 {
    value.as_i64().expect("an integer")
}
