//! Sending files, whole or by halves, and looking at what became of them below the interface.

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

/// A form with one file in it.
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
    pub fn opens_ticket(&mut self) -> i64 {
        let body = json!({"summary": "Look", "description": "Please look into it."});
        number(&self.post("/v4/support/tickets", body).ok()["id"])
    }

    /// An error leaves it open whether the file was attached.
    pub fn attaches(&mut self, ticket: i64, name: &str, content: &[u8]) -> io::Result<Reply> {
        self.try_send_bytes("POST", &files_of(ticket), FORM, &form(name, content))
    }

    /// All that is attached to a ticket.
    pub fn attached(&mut self, ticket: i64) -> Vec<Value> {
        self.all(&files_of(ticket))
    }

    /// Downloads a file, which must be whole; its content.
    pub fn downloads(&mut self, ticket: i64, file: &Value) -> Vec<u8> {
        let reply = self.get(&format!("{}/{}", files_of(ticket), file["id"]));
        assert_eq!(reply.status, 200, "{file}: {}", reply.text());
        assert_eq!(text(&file["sha256"]), sha256(&reply.body), "{file}");
        assert_eq!(number(&file["size"]), reply.body.len() as i64, "{file}");
        reply.body
    }
}

impl Folder {
    /// The files that are coming in.
    pub fn spooled(&self) -> BTreeSet<String> {
        files_in(&self.data().join("spool"))
    }

    /// Waits until nothing is left but what is attached: no bytes on their way, none forgotten.
    pub fn waits_until_swept(&self) {
        let mut seen = String::new();
        let begun = std::time::Instant::now();
        loop {
            let attached = self.keys("attachment");
            let (kept, begun_uploads) = (self.kept().names(), self.keys("upload"));
            if kept == attached && begun_uploads.is_empty() && self.spooled().is_empty() {
                return;
            }
            assert!(
                begun.elapsed() < crate::process::PATIENCE / 3,
                "not swept: {seen}"
            );
            let lost: Vec<_> = kept.symmetric_difference(&attached).collect();
            seen = format!("{lost:?} uploads {begun_uploads:?} spool {:?}", self.spooled());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// The keys under which bytes are kept, as a table has them.
    pub fn keys(&self, table: &str) -> BTreeSet<String> {
        let read_only = OpenFlags::SQLITE_OPEN_READ_ONLY;
        let store =
            Store::open_with_flags(self.data().join("garth.db"), read_only).expect("the store is there");
        eventually("the store to be readable", || {
            let mut rows = store.prepare(&format!("SELECT file_key FROM {table}")).ok()?;
            let keys = rows.query_map((), |row| row.get(0)).ok()?;
            keys.collect::<Result<_, _>>().ok()
        })
    }
}
