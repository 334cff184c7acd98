//! The data folder: permissions, and one server at a time.

use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::harness::Folder;
use crate::process::Process;

fn set_mode(path: &Path, mode: u32) {
    let mode = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(path, mode).expect("the mode can be set");
}

#[test]
fn data_folder_writable_by_others_is_refused() {
    let folder = Folder::new("writable");
    std::fs::create_dir(folder.data()).expect("a folder can be created");
    for mode in [0o777, 0o770, 0o702] {
        set_mode(folder.data(), mode);
        let mut serve = Process::spawn(&mut folder.serve());
        let refused = crate::process::eventually("the start to be refused", || {
            (!serve.is_running() || !serve.stdout().is_empty()).then_some(!serve.is_running())
        });
        assert!(refused, "mode {mode:o} is accepted");
        let output = serve.wait();
        assert_eq!(output.code, Some(1), "{output:?}");
        let path = folder.data().display().to_string();
        let expected = format!("chmod 700 {path}");
        assert!(output.stderr.contains(&expected), "{}", output.stderr);
        let files: Vec<_> = std::fs::read_dir(folder.data())
            .expect("the folder exists")
            .collect();
        assert!(files.is_empty(), "the folder has new files: {files:?}");
    }
    set_mode(folder.data(), 0o755);
    folder.start().client().create_vpc("fine");
}

#[test]
fn data_files_are_readable_by_the_owner_only() {
    let folder = Folder::new("private");
    let server = folder.start();
    let ticket = server.client().open_ticket();
    let attached = server.client().upload(ticket, "a.txt", b"words");
    attached.expect("the server responds").ok();

    let mut folders = vec![folder.data().to_owned()];
    let mut count = 0;
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder") {
            let entry = entry.expect("an entry");
            let metadata = entry.metadata().expect("the file exists");
            let mode = metadata.permissions().mode() & 0o777;
            assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", entry.path().display());
            count += 1;
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    assert!(count >= 5, "{count}");
}

#[test]
fn second_server_is_refused_without_the_lock_file() {
    let folder = Folder::new("unlocked");
    let first = folder.start();
    first.client().create_vpc("first");
    std::fs::remove_file(folder.data().join("serve.lock")).expect("the file exists");

    let mut second = Process::spawn(&mut folder.serve());
    let refused = crate::process::eventually("the second server to be refused", || {
        (!second.is_running() || !second.stdout().is_empty()).then_some(!second.is_running())
    });
    assert!(refused, "two servers run on one folder");
    let output = second.wait();
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output.stderr.contains("in use by another garth process"),
        "{}",
        output.stderr
    );

    // Commands still work.
    folder.create_token("admin");
    first.client().create_vpc("second");
    assert_eq!(first.stop().code, Some(0));
    assert_eq!(folder.start().client().vpc_labels(), ["first", "second"]);
}

#[test]
fn stopped_or_failed_server_leaves_no_lock_file() {
    let folder = Folder::new("no-lock");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("the listener is bound").to_string();
    let refused = Process::spawn(folder.serve().env("GARTH_LISTEN", &address)).wait();
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(!folder.data().exists(), "a failed start leaves a data folder");
    let refused = Process::spawn(folder.serve().env("GARTH_METRICS_LISTEN", &address)).wait();
    assert!(refused.stderr.contains("--metrics-listen"), "{refused:?}");
    assert!(!folder.data().exists(), "a failed start leaves a data folder");
    std::fs::create_dir(folder.data()).expect("a folder can be created");
    let refused = Process::spawn(folder.serve().env("GARTH_LISTEN", &address)).wait();
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let lock = folder.data().join("serve.lock");
    assert!(!lock.exists(), "a failed start leaves serve.lock");

    let server = folder.start();
    assert!(lock.exists());
    assert_eq!(server.stop().code, Some(0));
    assert!(!lock.exists(), "an orderly stop leaves serve.lock");
}

#[test]
fn unreadable_store_is_not_reported_as_missing() {
    let folder = Folder::new("forbidden");
    assert_eq!(folder.start().stop().code, Some(0));
    let mut command = as_other_user(&folder, &folder.garth("token list --user admin"));
    let refused = Process::spawn(&mut command).wait();
    set_mode(folder.data(), 0o700);

    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("Permission denied"), "{}", refused.stderr);
    assert!(refused.stderr.contains("sudo -u"), "{}", refused.stderr);
    let path = folder.data().display().to_string();
    assert!(refused.stderr.contains(&path), "{}", refused.stderr);
    assert!(
        !refused.stderr.contains("there is no store"),
        "{}",
        refused.stderr
    );
}

/// The command, run by a user without access to the data folder.
pub fn as_other_user(folder: &Folder, command: &Command) -> Command {
    let mut other = match rustix::process::geteuid().is_root() {
        // Root can read all files, so another user runs the command, with a binary that this user can read.
        true => {
            let binary = folder.path("garth");
            std::fs::copy(command.get_program(), &binary).expect("the binary can be copied");
            let mut other = Command::new("setpriv");
            other.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
            other.arg(binary);
            other
        }
        false => {
            set_mode(folder.data(), 0o000);
            Command::new(command.get_program())
        }
    };
    other.args(command.get_args()).env("GARTH_DATA", folder.data());
    other
}

/// A killed server of another user leaves files that this server cannot write to.
#[test]
fn unwritable_leftover_files_are_replaced() {
    let folder = Folder::new("leftovers");
    assert_eq!(folder.start().stop().code, Some(0));
    for name in ["serve.url", "serve.lock"] {
        let path = folder.data().join(name);
        let _ = std::fs::remove_file(&path);
        // Even root cannot write to this path.
        symlink("/proc/self/mem/nowhere", &path).expect("a link can be created");
    }
    let server = folder.start();
    let link = folder.run("user link admin");
    let own = format!("http://{}/oauth/password/", server.address);
    assert!(link.starts_with(&own), "{link}");
    assert_eq!(server.stop().code, Some(0));
}
