//! Attachment storage outages: requests get 503, no partial writes, and uploads work again afterwards.

use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::harness::{Folder, Server, TOKEN};
use crate::proxy::Proxy;
use crate::uploads::files_of;

/// Maximum time until an error response. Clients time out after a minute.
const MAX_ERROR_DELAY: Duration = Duration::from_secs(30);

/// The attachment storage of a server. Tests can start and end outages.
enum Storage {
    Folder(PathBuf),
    Bucket(Proxy),
}

impl Storage {
    fn new(folder: &Folder) -> Self {
        match std::env::var("AWS_ENDPOINT") {
            Ok(endpoint) if std::env::var("GARTH_TEST_ATTACHMENTS").is_ok() => {
                let target = endpoint.trim_start_matches("http://").trim_end_matches('/');
                Storage::Bucket(Proxy::new(target.to_owned()))
            }
            _ => Storage::Folder(folder.data().join("attachments")),
        }
    }

    fn start(&self, folder: &Folder) -> Server {
        let mut serve = folder.serve();
        if let Storage::Bucket(proxy) = self {
            serve.env("AWS_ENDPOINT", format!("http://{}", proxy.address));
        }
        Server::start(&mut serve)
    }

    fn fail(&self) {
        match self {
            Storage::Bucket(proxy) => proxy.cut(),
            Storage::Folder(path) => {
                std::fs::rename(path, path.with_extension("moved")).expect("the folder can be renamed");
                std::fs::write(path, "not a folder").expect("the file can be written");
            }
        }
    }

    /// Starts an outage in the middle of the next upload. A folder fails immediately.
    fn fail_during_next_upload(&self) {
        match self {
            Storage::Bucket(proxy) => proxy.cut_after(500_000),
            Storage::Folder(_) => self.fail(),
        }
    }

    fn recover(&self) {
        match self {
            Storage::Bucket(proxy) => {
                assert!(proxy.is_cut());
                proxy.restore();
            }
            Storage::Folder(path) => {
                std::fs::remove_file(path).expect("the file exists");
                std::fs::rename(path.with_extension("moved"), path).expect("the folder can be renamed");
            }
        }
    }
}

#[test]
fn storage_outage_returns_503_and_recovers() {
    let folder = Folder::new("outage");
    let storage = Storage::new(&folder);
    let server = storage.start(&folder);
    let mut client = server.client();
    let ticket = client.open_ticket();
    let content = vec![b'x'; 2_000_000];
    client
        .upload(ticket, "before.txt", &content)
        .expect("the server responds")
        .ok();
    let first = format!("{}/1", files_of(ticket));

    storage.fail();
    for _ in 0..2 {
        let started = Instant::now();
        let upload = client
            .upload(ticket, "during.txt", &content)
            .expect("the server responds");
        let download = client.get(&first);
        for reply in [upload, download] {
            assert_eq!((reply.status, reply.code().as_str()), (503, "files_unavailable"));
            assert!(reply.header("retry-after").is_some());
        }
        assert!(
            started.elapsed() < 2 * MAX_ERROR_DELAY,
            "the errors took {:?}",
            started.elapsed()
        );
    }
    assert_eq!(client.attachments(ticket).len(), 1, "the list is in the database");
    storage.recover();
    assert_eq!(client.get(&first).body, content);

    storage.fail_during_next_upload();
    let cut_off = client
        .upload(ticket, "cut-off.txt", &content)
        .expect("the server responds");
    assert_eq!(
        (cut_off.status, cut_off.code().as_str()),
        (503, "files_unavailable")
    );
    assert!(folder.spooled().is_empty());
    storage.recover();
    client
        .upload(ticket, "after.txt", &content)
        .expect("the server responds")
        .ok();

    let files = client.attachments(ticket);
    assert_eq!(files.len(), 2);
    for file in &files {
        assert_eq!(client.download(ticket, file), content);
    }
    assert!(
        !server.process.stderr().contains("panicked"),
        "{}",
        server.process.stderr()
    );
    // Files that could not be deleted during the outage are swept at the next start at the latest.
    assert_eq!(server.stop().code, Some(0));
    let _server = storage.start(&folder);
    folder.wait_until_swept();
}

#[test]
fn server_starts_during_a_storage_outage() {
    let folder = Folder::new("outage-at-start");
    let storage = Storage::new(&folder);
    let Storage::Bucket(_) = &storage else {
        // A path that is not a folder is an invalid setting, not an outage.
        std::fs::create_dir_all(folder.data()).expect("a folder");
        std::fs::write(folder.data().join("attachments"), "not a folder").expect("the file can be written");
        let output = crate::process::Process::spawn(&mut folder.serve()).wait();
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(output.stderr.contains("attachments"), "{output:?}");
        return;
    };
    storage.fail();
    let server = storage.start(&folder);
    let mut client = server.client();
    let ticket = client.open_ticket();
    let early = client
        .upload(ticket, "a.txt", b"words")
        .expect("the server responds");
    assert_eq!((early.status, early.code().as_str()), (503, "files_unavailable"));
    assert!(server.process.stderr().contains("attachment storage unavailable"));
    storage.recover();
    client
        .upload(ticket, "a.txt", b"words")
        .expect("the server responds")
        .ok();
}

/// The storage accepts connections and never responds.
#[test]
fn unresponsive_storage_returns_503_in_time() {
    let folder = Folder::new("silent");
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let endpoint = format!("http://{}", silent.local_addr().expect("the listener is bound"));
    let mut serve = folder.garth("serve --listen 127.0.0.1:0 --attachments s3://silent/place");
    serve.env("GARTH_BOOTSTRAP_TOKEN", TOKEN);
    serve.env("AWS_ENDPOINT", endpoint).env("AWS_ALLOW_HTTP", "true");
    serve
        .env("AWS_ACCESS_KEY_ID", "garth")
        .env("AWS_REGION", "us-east-1");
    serve.env("AWS_SECRET_ACCESS_KEY", "s3-for-tests-only");

    let started = Instant::now();
    let server = Server::start(&mut serve);
    assert!(
        started.elapsed() < MAX_ERROR_DELAY,
        "the server started after {:?}",
        started.elapsed()
    );
    let mut client = server.client();
    let ticket = client.open_ticket();
    let started = Instant::now();
    let upload = client
        .upload(ticket, "a.txt", b"words")
        .expect("the server responds");
    assert_eq!(
        (upload.status, upload.code().as_str()),
        (503, "files_unavailable")
    );
    assert!(
        started.elapsed() < 2 * MAX_ERROR_DELAY,
        "the error came after {:?}",
        started.elapsed()
    );
    assert!(folder.spooled().is_empty());
    assert_eq!(client.attachments(ticket).len(), 0);
}
