//! What really lies where attachments are kept, seen from behind the server's back.
//!
//! `GARTH_TEST_ATTACHMENTS` names the place for a whole run of tests, a bucket perhaps; every server
//! of a test gets a part of its own there, so that no test meets another's files.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

/// Where a server keeps its attachments, if not in its data folder.
pub fn place_of(server: &str) -> Option<String> {
    let run = std::env::var("GARTH_TEST_ATTACHMENTS").ok()?;
    Some(format!("{}/{server}", run.trim_end_matches('/')))
}

#[derive(Clone, Debug)]
pub struct Kept {
    place: Option<String>,
    folder: PathBuf,
}

impl Kept {
    pub fn new(place: Option<String>, data: &Path) -> Self {
        let folder = data.join("attachments");
        Self { place, folder }
    }

    /// Whatever lies there, by its name: also what the server does not know of.
    pub fn names(&self) -> BTreeSet<String> {
        match self.place.as_deref().map(|place| place.split_once("://")) {
            None => files_in(&self.folder),
            Some(Some(("s3", bucket))) => objects_in(bucket),
            Some(_) => panic!("GARTH_TEST_ATTACHMENTS is s3://bucket/prefix"),
        }
    }
}

/// Every file below a folder, by its path from there.
pub fn files_in(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => folders.push(path),
                false => {
                    let path = path.strip_prefix(folder).expect("it is below the folder");
                    found.insert(path.to_string_lossy().into_owned());
                }
            }
        }
    }
    found
}

/// Every object below a prefix of a bucket, asked for in the plainest way there is.
fn objects_in(bucket: &str) -> BTreeSet<String> {
    let endpoint = std::env::var("AWS_ENDPOINT").expect("AWS_ENDPOINT says where the bucket is");
    let host = endpoint.trim_start_matches("http://").trim_end_matches('/');
    let (bucket, prefix) = bucket.split_once('/').expect("a bucket and a prefix");
    let (mut found, mut last) = (BTreeSet::new(), String::new());
    loop {
        let path = format!("/{bucket}?list-type=2&prefix={prefix}/&start-after={last}");
        let mut server = TcpStream::connect(host).expect("the S3 server is there");
        write!(server, "GET {path} HTTP/1.0\r\nhost: {host}\r\n\r\n").expect("it listens");
        let mut list = String::new();
        server.read_to_string(&mut list).expect("it answers");
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
