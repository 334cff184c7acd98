//! Settings of the archive that a server refuses.

use super::Archived;
use crate::process::Process;

#[test]
fn unsuitable_settings_are_refused() {
    let archived = Archived::new("settings");
    let inside = archived.folder.data().join("inside").display().to_string();
    for (option, value, message) in [
        ("--archive", inside.as_str(), "must be outside of the data folder"),
        (
            "--archive",
            "ftp://host/folder",
            "must be a folder or s3://bucket/prefix",
        ),
        ("--archive-retention", "soon", "such as 45s, 30m, 12h, 30d or 4w"),
    ] {
        let output = Process::spawn(archived.folder.serve().args([option, value])).wait();
        assert!(
            output.code != Some(0) && output.stderr.contains(message),
            "{output:?}"
        );
    }
    let mut serve = archived.serve();
    serve.env("GARTH_DATABASE", "postgres://garth@127.0.0.1:1/garth");
    let output = Process::spawn(&mut serve).wait();
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("pgBackRest or WAL-G"), "{output:?}");
    assert!(output.stderr.contains("docs/operating.md"), "{output:?}");
}

#[test]
fn a_restore_from_a_missing_folder_names_the_archive() {
    let archived = Archived::in_folder("missing");
    let path = archived.archive.display().to_string();
    for (archive, message) in [
        (path.clone(), format!("{path} does not exist")),
        (
            format!("file://{path}"),
            format!("archive: {path} is not a folder: mount the disk"),
        ),
    ] {
        let mut command = archived.folder.garth("restore --list");
        let output = Process::spawn(command.arg(archive)).wait();
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(output.stderr.contains(&message), "{output:?}");
    }
}
