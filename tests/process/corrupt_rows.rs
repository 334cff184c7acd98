//! Corrupt rows: the log has an error that names the row, and other requests succeed.

use crate::damaged_files::execute_sql;
use crate::harness::Folder;

#[test]
fn corrupt_row_is_named_in_the_log() {
    let folder = Folder::new("corrupt-row");
    let server = folder.start();
    let mut client = server.client();
    let (good, bad) = (client.create_vpc("good"), client.create_vpc("bad"));
    execute_sql(
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
