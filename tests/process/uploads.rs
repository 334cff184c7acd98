//! Helpers that upload and download attachments and inspect the stored files.

use std::collections::BTreeSet;
use std::io;

use rusqlite::{Connection as Store, OpenFlags};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::client::Client;
use crate::connection::{Reply, number, text};
use crate::harness::Folder;
use crate::process::eventually;
use crate::stored_files::files_in;

pub const FORM: &str = "multipart/form-data; boundary=edge";

pub fn files_of(ticket: i64) -> String {
    format!("/v4/support/tickets/{ticket}/attachments")
}

/// A form with one file.
pub fn form(name: &str, content: &[u8]) -> Vec<u8> {
    let head =
        format!("--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
    [head.as_bytes(), content, b"\r\n--edge--\r\n"].concat()
}

pub fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Client {
    pub fn open_ticket(&mut self) -> i64 {
        let body = json!({"summary": "Look", "description": "Please look into it."});
        number(&self.post("/v4/support/tickets", body).ok()["id"])
    }

    /// Uploads a file. After an error, the file may or may not be attached.
    pub fn upload(&mut self, ticket: i64, name: &str, content: &[u8]) -> io::Result<Reply> {
        self.try_send_bytes("POST", &files_of(ticket), FORM, &form(name, content))
    }

    /// The attachments of a ticket.
    pub fn attachments(&mut self, ticket: i64) -> Vec<Value> {
        self.all(&files_of(ticket))
    }

    /// Downloads a file, checks its size and hash, and returns its content.
    pub fn download(&mut self, ticket: i64, file: &Value) -> Vec<u8> {
        let reply = self.get(&format!("{}/{}", files_of(ticket), file["id"]));
        assert_eq!(reply.status, 200, "{file}: {}", reply.text());
        assert_eq!(text(&file["sha256"]), sha256(&reply.body), "{file}");
        assert_eq!(number(&file["size"]), reply.body.len() as i64, "{file}");
        reply.body
    }
}

impl Folder {
    /// The files in the spool.
    pub fn spooled(&self) -> BTreeSet<String> {
        files_in(&self.data().join("spool"))
    }

    /// Waits until only attached files are stored: no pending uploads and no orphaned files.
    pub fn wait_until_swept(&self) {
        let mut state = String::new();
        let started = std::time::Instant::now();
        loop {
            let attached = self.keys("attachment");
            let (stored, uploads) = (self.stored_files().names(), self.keys("upload"));
            if stored == attached && uploads.is_empty() && self.spooled().is_empty() {
                return;
            }
            assert!(
                started.elapsed() < crate::process::WAIT_TIMEOUT / 3,
                "not swept: {state}"
            );
            let orphaned: Vec<_> = stored.symmetric_difference(&attached).collect();
            state = format!("{orphaned:?} uploads {uploads:?} spool {:?}", self.spooled());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// The file keys in a table.
    pub fn keys(&self, table: &str) -> BTreeSet<String> {
        let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let store =
            Store::open_with_flags(self.data().join("garth.db"), read_only).expect("the store exists");
        eventually("the store to be readable", || {
            let mut rows = store.prepare(&format!("SELECT file_key FROM {table}")).ok()?;
            let keys = rows.query_map((), |row| row.get(0)).ok()?;
            keys.collect::<Result<_, _>>().ok()
        })
    }
}
