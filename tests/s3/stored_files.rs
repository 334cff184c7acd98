//! The files in the attachment storage, listed without the server.
//!
//! `GARTH_TEST_ATTACHMENTS` is the URL of a bucket for a test run. Each server uses its own prefix.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

/// The URL of the attachment storage of a server, if it is not in the data folder.
pub fn attachments_url(server: &str) -> Option<String> {
    let run = std::env::var("GARTH_TEST_ATTACHMENTS").ok()?;
    Some(format!("{}/{server}", run.trim_end_matches('/')))
}

#[derive(Clone, Debug)]
pub struct StoredFiles {
    url: Option<String>,
    folder: PathBuf,
}

impl StoredFiles {
    pub fn new(url: Option<String>, data: &Path) -> Self {
        let folder = data.join("attachments");
        Self { url, folder }
    }

    /// The names of all files, including files that the database does not have.
    pub fn names(&self) -> BTreeSet<String> {
        match self.url.as_deref().map(|url| url.split_once("://")) {
            None => files_in(&self.folder),
            Some(Some(("s3", bucket))) => objects_in(bucket),
            Some(_) => panic!("GARTH_TEST_ATTACHMENTS is s3://bucket/prefix"),
        }
    }
}

/// The relative paths of all files below a folder.
pub fn files_in(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => folders.push(path),
                false => {
                    let path = path.strip_prefix(folder).expect("a path below the folder");
                    found.insert(path.to_string_lossy().into_owned());
                }
            }
        }
    }
    found
}

/// The names of all objects below a prefix of a bucket.
fn objects_in(bucket: &str) -> BTreeSet<String> {
    let endpoint = std::env::var("AWS_ENDPOINT").expect("AWS_ENDPOINT is set");
    let host = endpoint.trim_start_matches("http://").trim_end_matches('/');
    let (bucket, prefix) = bucket.split_once('/').expect("a bucket and a prefix");
    let (mut found, mut last) = (BTreeSet::new(), String::new());
    loop {
        let path = format!("/{bucket}?list-type=2&prefix={prefix}/&start-after={last}");
        let mut server = TcpStream::connect(host).expect("the S3 server accepts connections");
        write!(server, "GET {path} HTTP/1.0\r\nhost: {host}\r\n\r\n").expect("the request can be sent");
        let mut list = String::new();
        server.read_to_string(&mut list).expect("the S3 server responds");
        assert!(list.contains("<ListBucketResult"), "{list}");
        let keys = list.split("<Key>").skip(1);
        let keys: Vec<_> = keys.filter_map(|rest| rest.split_once("</Key>")).collect();
        let Some((newest, _)) = keys.last() else {
            return found;
        };
        last = (*newest).to_owned();
        let names = keys.iter().filter_map(|(key, _)| key.strip_prefix(prefix));
        found.extend(names.map(|name| name.trim_start_matches('/').to_owned()));
    }
}
