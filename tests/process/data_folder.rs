//! The data folder belongs to one server alone.

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
fn a_data_folder_that_others_can_write_is_refused() {
    let folder = Folder::new("writable");
    std::fs::create_dir(folder.data()).expect("a folder can be made");
    for mode in [0o777, 0o770, 0o702] {
        set_mode(folder.data(), mode);
        let mut serve = Process::spawn(&mut folder.serve());
        let refused = crate::process::eventually("the start to be refused", || {
            (!serve.is_running() || !serve.printed().is_empty()).then_some(!serve.is_running())
        });
        assert!(refused, "mode {mode:o} is accepted");
        let ended = serve.ended();
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let place = folder.data().display().to_string();
        let says = format!("chmod 700 {place}");
        assert!(ended.stderr.contains(&says), "{}", ended.stderr);
        let left: Vec<_> = std::fs::read_dir(folder.data()).expect("it is there").collect();
        assert!(left.is_empty(), "nothing is made in it: {left:?}");
    }
    set_mode(folder.data(), 0o755);
    folder.start().client().creates_vpc("fine");
}

#[test]
fn nothing_in_the_data_folder_can_be_read_by_others() {
    let folder = Folder::new("private");
    let server = folder.start();
    let ticket = server.client().opens_ticket();
    let attached = server.client().attaches(ticket, "a.txt", b"words");
    attached.expect("it is answered").ok();

    let mut folders = vec![folder.data().to_owned()];
    let mut seen = 0;
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder") {
            let entry = entry.expect("an entry");
            let about = entry.metadata().expect("it is there");
            let mode = about.permissions().mode() & 0o777;
            assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", entry.path().display());
            seen += 1;
            if about.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    assert!(seen >= 5, "{seen}");
}

#[test]
fn removing_the_lock_file_does_not_let_a_second_server_in() {
    let folder = Folder::new("unlocked");
    let first = folder.start();
    first.client().creates_vpc("first");
    std::fs::remove_file(folder.data().join("serve.lock")).expect("it is there");

    let mut second = Process::spawn(&mut folder.serve());
    let refused = crate::process::eventually("the second server to be refused", || {
        (!second.is_running() || !second.printed().is_empty()).then_some(!second.is_running())
    });
    assert!(refused, "two servers run on one folder");
    let ended = second.ended();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("already running"), "{}", ended.stderr);

    // Commands beside the first server still work.
    folder.make_token("admin");
    first.client().creates_vpc("second");
    assert_eq!(first.stop().code, Some(0));
    assert_eq!(folder.start().client().vpc_labels(), ["first", "second"]);
}

#[test]
fn a_server_that_does_not_run_leaves_no_lock_behind() {
    let folder = Folder::new("no-lock");
    let taken = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let refused = Process::spawn(folder.serve().env("GARTH_LISTEN", &address)).ended();
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(!folder.data().exists(), "a failed start leaves a data folder");
    let refused = Process::spawn(folder.serve().env("GARTH_METRICS_LISTEN", &address)).ended();
    assert!(refused.stderr.contains("--metrics-listen"), "{refused:?}");
    assert!(!folder.data().exists(), "a failed start leaves a data folder");
    std::fs::create_dir(folder.data()).expect("a folder can be made");
    let refused = Process::spawn(folder.serve().env("GARTH_LISTEN", &address)).ended();
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let lock = folder.data().join("serve.lock");
    assert!(!lock.exists(), "a failed start leaves serve.lock");

    let server = folder.start();
    assert!(lock.exists());
    assert_eq!(server.stop().code, Some(0));
    assert!(!lock.exists(), "an orderly stop leaves serve.lock");
}

#[test]
fn a_store_that_may_not_be_read_is_not_called_missing() {
    let folder = Folder::new("forbidden");
    assert_eq!(folder.start().stop().code, Some(0));
    let mut command = as_someone_else(&folder, &folder.garth("token list --user admin"));
    let refused = Process::spawn(&mut command).ended();
    set_mode(folder.data(), 0o700);

    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("Permission denied"), "{}", refused.stderr);
    assert!(refused.stderr.contains("sudo -u"), "{}", refused.stderr);
    let place = folder.data().display().to_string();
    assert!(refused.stderr.contains(&place), "{}", refused.stderr);
    assert!(
        !refused.stderr.contains("there is no store"),
        "{}",
        refused.stderr
    );
}

/// The command by a user who may not look into the data folder.
fn as_someone_else(folder: &Folder, command: &Command) -> Command {
    let mut other = match rustix::process::geteuid().is_root() {
        // Root may read everything, so another user runs it, who needs a binary that it can reach.
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

/// A server that was killed, and run by another user, leaves files that this one may not write.
#[test]
fn leftovers_that_cannot_be_written_are_replaced() {
    let folder = Folder::new("leftovers");
    assert_eq!(folder.start().stop().code, Some(0));
    for name in ["serve.url", "serve.lock"] {
        let path = folder.data().join(name);
        let _ = std::fs::remove_file(&path);
        // Even root cannot write to this.
        symlink("/proc/self/mem/nowhere", &path).expect("a link can be made");
    }
    let server = folder.start();
    let link = folder.run("user link admin");
    let own = format!("http://{}/oauth/password/", server.address);
    assert!(link.starts_with(&own), "{link}");
    assert_eq!(server.stop().code, Some(0));
}
