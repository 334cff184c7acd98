//! Rows that no build has written: an error in the log that names them, and other requests are served.

use crate::damaged_files::in_store;
use crate::harness::Folder;

#[test]
fn a_row_that_was_changed_by_hand_is_named_in_the_log() {
    let folder = Folder::new("corrupt-row");
    let server = folder.start();
    let mut client = server.client();
    let (good, bad) = (client.creates_vpc("good"), client.creates_vpc("bad"));
    in_store(
        &folder,
        &format!("UPDATE vpc SET label = 'Zürich' WHERE id = {bad}"),
    );

    assert_eq!(client.get(&format!("/v4/vpcs/{bad}")).status, 500);
    client.get(&format!("/v4/vpcs/{good}")).ok();

    let log = server.stop().stderr;
    let line = log.lines().find(|line| line.contains("corrupt row"));
    let line = line.unwrap_or_else(|| panic!("no line in the log: {log}"));
    let row = format!("table vpc, row {bad}, column");
    assert!(line.contains(&row) && line.contains("Label"), "{line}");
}
