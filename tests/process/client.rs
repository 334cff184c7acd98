//! A small HTTP/1.1 client: one connection, no retries, no redirects.

use std::io;
use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::connection::{Connection, Reply, number, text};

/// A client with a token. It reuses its connection.
pub struct Client {
    address: SocketAddr,
    token: String,
    connection: Option<Connection>,
}

impl Client {
    pub fn new(address: SocketAddr, token: &str) -> Self {
        Self {
            address,
            token: token.to_owned(),
            connection: None,
        }
    }

    pub fn get(&mut self, path: &str) -> Reply {
        self.send("GET", path, None)
    }

    pub fn post(&mut self, path: &str, body: Value) -> Reply {
        self.send("POST", path, Some(&body))
    }

    pub fn delete(&mut self, path: &str) -> Reply {
        self.send("DELETE", path, None)
    }

    /// Creates an empty VPC and returns its ID.
    pub fn create_vpc(&mut self, label: &str) -> i64 {
        let created = self.post("/v4/vpcs", json!({"label": label, "region": "us-east"}));
        number(&created.ok()["id"])
    }

    /// All items of a list, from all pages.
    pub fn all(&mut self, path: &str) -> Vec<Value> {
        let (mut items, mut page) = (Vec::new(), 1);
        loop {
            let mut list = self.get(&format!("{path}?page_size=500&page={page}")).ok();
            let Value::Array(data) = list["data"].take() else {
                panic!("no list: {list}")
            };
            items.extend(data);
            if list["pages"] == page {
                return items;
            }
            page += 1;
        }
    }

    /// The labels of all VPCs, oldest first.
    pub fn vpc_labels(&mut self) -> Vec<String> {
        let vpcs = self.all("/v4/vpcs");
        vpcs.iter().map(|vpc| text(&vpc["label"])).collect()
    }

    fn send(&mut self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        let result = self.try_send(method, path, body);
        result.unwrap_or_else(|e| panic!("{method} {path}: {e}"))
    }

    /// Sends a request. After an error, the server may or may not have carried it out.
    pub fn try_send(&mut self, method: &str, path: &str, body: Option<&Value>) -> io::Result<Reply> {
        let body = body.map(Value::to_string).unwrap_or_default();
        self.try_send_bytes(method, path, "application/json", body.as_bytes())
    }

    /// Like `try_send`, with a body of any content type.
    pub fn try_send_bytes(&mut self, method: &str, path: &str, kind: &str, body: &[u8]) -> io::Result<Reply> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(self.address)?,
        };
        let length = body.len();
        let extra = format!("content-length: {length}\r\ncontent-type: {kind}\r\n");
        connection.send(self.head(method, path, &extra))?;
        connection.send(body)?;
        let reply = connection.reply_to(method)?;
        if reply.header("connection") != Some("close") {
            self.connection = Some(connection);
        }
        Ok(reply)
    }

    /// Like `try_send`, with the complete head of a request without a body.
    pub fn try_send_head(&mut self, method: &str, head: &str) -> io::Result<Reply> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(self.address)?,
        };
        connection.send(head)?;
        let reply = connection.reply_to(method)?;
        self.connection = Some(connection);
        Ok(reply)
    }

    /// The head of a request, for tests that send it themselves.
    pub fn head(&self, method: &str, path: &str, extra: &str) -> String {
        let token = &self.token;
        format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n{extra}\r\n")
    }

    pub fn stream(&self) -> Stream {
        let mut connection = Connection::open(self.address).expect("the server accepts connections");
        let head = self.head("GET", "/v4/account/events/stream", "");
        connection.send(head).expect("the request can be sent");
        let reply = connection.head().expect("the stream starts with headers");
        assert_eq!(reply.status, 200);
        Stream(connection)
    }
}

/// A stream of server-sent events.
pub struct Stream(Connection);

impl Stream {
    /// The next chunk; `None` if the server has ended the stream properly.
    pub fn next(&mut self) -> Option<String> {
        let chunk = self.0.chunk().expect("the stream is not cut off");
        chunk.map(|bytes| String::from_utf8(bytes).expect("events are text"))
    }
}
