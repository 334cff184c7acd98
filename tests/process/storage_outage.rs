//! A place for attachments that goes away: it is told, nothing is half done, and when it is back all
//! is as before.

use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::harness::{Folder, Server, TOKEN};
use crate::proxy::Proxy;
use crate::uploads::files_of;

/// How long somebody may have to wait until they are told: clients give up after a minute.
const SOON: Duration = Duration::from_secs(30);

/// What can be taken from a server and given back.
enum Place {
    Folder(PathBuf),
    Bucket(Proxy),
}

impl Place {
    fn of(folder: &Folder) -> Self {
        match std::env::var("AWS_ENDPOINT") {
            Ok(endpoint) if std::env::var("GARTH_TEST_ATTACHMENTS").is_ok() => {
                let target = endpoint.trim_start_matches("http://").trim_end_matches('/');
                Place::Bucket(Proxy::before(target.to_owned()))
            }
            _ => Place::Folder(folder.data().join("attachments")),
        }
    }

    fn start(&self, folder: &Folder) -> Server {
        let mut serve = folder.serve();
        if let Place::Bucket(proxy) = self {
            serve.env("AWS_ENDPOINT", format!("http://{}", proxy.address));
        }
        Server::start(&mut serve)
    }

    fn take_away(&self) {
        match self {
            Place::Bucket(proxy) => proxy.cut(),
            Place::Folder(path) => {
                std::fs::rename(path, path.with_extension("away")).expect("it can be moved");
                std::fs::write(path, "no folder").expect("something else is there");
            }
        }
    }

    /// Lets the next upload begin, and takes it away then.
    fn take_away_soon(&self) {
        match self {
            Place::Bucket(proxy) => proxy.cut_after(500_000),
            Place::Folder(_) => self.take_away(),
        }
    }

    fn bring_back(&self) {
        match self {
            Place::Bucket(proxy) => {
                assert!(proxy.is_cut());
                proxy.mend();
            }
            Place::Folder(path) => {
                std::fs::remove_file(path).expect("it is there");
                std::fs::rename(path.with_extension("away"), path).expect("it can be moved");
            }
        }
    }
}

#[test]
fn a_place_that_goes_away_is_told_in_time_and_comes_back() {
    let folder = Folder::new("away");
    let place = Place::of(&folder);
    let server = place.start(&folder);
    let mut client = server.client();
    let ticket = client.opens_ticket();
    let content = vec![b'x'; 2_000_000];
    client
        .attaches(ticket, "before.txt", &content)
        .expect("it is answered")
        .ok();
    let first = format!("{}/1", files_of(ticket));

    place.take_away();
    for _ in 0..2 {
        let begun = Instant::now();
        let upload = client
            .attaches(ticket, "away.txt", &content)
            .expect("it is answered");
        let download = client.get(&first);
        for reply in [upload, download] {
            assert_eq!((reply.status, reply.code().as_str()), (503, "files_unavailable"));
            assert!(reply.header("retry-after").is_some());
        }
        assert!(begun.elapsed() < 2 * SOON, "it took {:?}", begun.elapsed());
    }
    assert_eq!(client.attached(ticket).len(), 1, "the list needs no files");
    place.bring_back();
    assert_eq!(client.get(&first).body, content);

    place.take_away_soon();
    let cut_off = client
        .attaches(ticket, "cut-off.txt", &content)
        .expect("it is answered");
    assert_eq!(
        (cut_off.status, cut_off.code().as_str()),
        (503, "files_unavailable")
    );
    assert!(folder.spooled().is_empty());
    place.bring_back();
    client
        .attaches(ticket, "after.txt", &content)
        .expect("it is answered")
        .ok();

    let files = client.attached(ticket);
    assert_eq!(files.len(), 2);
    for file in &files {
        assert_eq!(client.downloads(ticket, file), content);
    }
    assert!(
        !server.process.logged().contains("panicked"),
        "{}",
        server.process.logged()
    );
    // What could not be removed while the place was away is swept by the next life at the latest.
    assert_eq!(server.stop().code, Some(0));
    let _server = place.start(&folder);
    folder.waits_until_swept();
}

#[test]
fn a_server_starts_although_the_place_is_away() {
    let folder = Folder::new("away-at-first");
    let place = Place::of(&folder);
    let Place::Bucket(_) = &place else {
        // A folder that is none is a wrong setting: there is nothing to wait for.
        std::fs::create_dir_all(folder.data()).expect("a folder");
        std::fs::write(folder.data().join("attachments"), "no folder").expect("it can be written");
        let ended = crate::process::Process::spawn(&mut folder.serve()).ended();
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains("attachments"), "{ended:?}");
        return;
    };
    place.take_away();
    let server = place.start(&folder);
    let mut client = server.client();
    let ticket = client.opens_ticket();
    let early = client
        .attaches(ticket, "a.txt", b"words")
        .expect("it is answered");
    assert_eq!((early.status, early.code().as_str()), (503, "files_unavailable"));
    assert!(server.process.logged().contains("attachment storage unavailable"));
    place.bring_back();
    client
        .attaches(ticket, "a.txt", b"words")
        .expect("it is answered")
        .ok();
}

/// Worse than one that is away: it takes everything and says nothing.
#[test]
fn a_place_that_never_answers_holds_up_nobody_for_long() {
    let folder = Folder::new("silent");
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let endpoint = format!("http://{}", silent.local_addr().expect("it is bound"));
    let mut serve = folder.garth("serve --listen 127.0.0.1:0 --attachments s3://silent/place");
    serve.env("GARTH_BOOTSTRAP_TOKEN", TOKEN);
    serve.env("AWS_ENDPOINT", endpoint).env("AWS_ALLOW_HTTP", "true");
    serve
        .env("AWS_ACCESS_KEY_ID", "garth")
        .env("AWS_REGION", "us-east-1");
    serve.env("AWS_SECRET_ACCESS_KEY", "s3-for-tests-only");

    let begun = Instant::now();
    let server = Server::start(&mut serve);
    assert!(begun.elapsed() < SOON, "it started after {:?}", begun.elapsed());
    let mut client = server.client();
    let ticket = client.opens_ticket();
    let begun = Instant::now();
    let upload = client
        .attaches(ticket, "a.txt", b"words")
        .expect("it is answered");
    assert_eq!(
        (upload.status, upload.code().as_str()),
        (503, "files_unavailable")
    );
    assert!(
        begun.elapsed() < 2 * SOON,
        "it was told after {:?}",
        begun.elapsed()
    );
    assert!(folder.spooled().is_empty());
    assert_eq!(client.attached(ticket).len(), 0);
}
