//! Runs the commands of `docs/oauth.md` as written.

use std::process::Command;

use crate::harness::Folder;

#[test]
fn commands_of_the_oauth_guide_work() {
    let folder = Folder::new("walkthrough");
    let server = folder.start();
    let doc = include_str!("../../docs/oauth.md");
    let blocks = doc.split("```sh\n").skip(1);
    let steps: String = blocks.filter_map(|block| block.split("```").next()).collect();
    let steps = steps.replace("127.0.0.1:8080", &server.address.to_string());
    let script = format!(
        "set -eu\ngarth() {{ '{}' \"$@\"; }}\n{steps}",
        env!("CARGO_BIN_EXE_garth")
    );
    let mut shell = Command::new("sh");
    shell
        .current_dir(folder.path(""))
        .env("GARTH_DATA", folder.data());

    let ran = shell.args(["-c", &script]).output().expect("a shell");

    let (stdout, stderr) = (
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr),
    );
    assert!(ran.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.contains("\"username\":\"admin\""), "{stdout}\n{stderr}");
    assert!(stdout.contains("\"results\":0"), "{stdout}\n{stderr}");
    assert!(stdout.ends_with("{}401\n"), "{stdout}\n{stderr}");
}
