//! The data folder belongs to one server alone.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

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
