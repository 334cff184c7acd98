//! Any moment can be restored: all writes that were acknowledged before it, and none that was requested after it.

use std::time::Duration;

use garth::model::time::Time;

use super::{Archived, now_micros, under_load};

const MOMENTS: usize = 5;
const WRITERS: usize = 3;

/// A time as `--at` accepts it.
fn precise(micros: i64) -> String {
    format!(
        "{}.{:06}",
        Time::from_micros(micros),
        micros.rem_euclid(1_000_000)
    )
}

#[test]
fn a_restored_moment_has_exactly_the_writes_before_it() {
    let archived = Archived::new("moments");
    let server = archived.start();
    let ticket = server.client().open_ticket();
    let (mut moments, mut files) = (Vec::new(), Vec::new());
    let load = under_load(server.address, WRITERS, 0, || {
        for number in 0..MOMENTS {
            std::thread::sleep(Duration::from_millis(700));
            let content = format!("content {number}");
            let reply = server
                .client()
                .upload(ticket, &format!("f{number}.txt"), content.as_bytes());
            reply.expect("the server responds").ok();
            files.push(now_micros());
            std::thread::sleep(Duration::from_millis(13));
            moments.push(now_micros());
            std::thread::sleep(Duration::from_millis(13));
        }
    });
    archived.wait_until_archived();
    let stopped = now_micros();
    assert_eq!(server.stop().code, Some(0));
    std::fs::remove_dir_all(archived.folder.data()).expect("the data folder can be deleted");

    let writes = load.writes.into_inner().expect("no writer panics");
    moments.push(stopped - 1_000_000);
    for (number, moment) in moments.iter().enumerate() {
        let name = format!("moment-{number}");
        let restored = archived.restore(&name, Some(&precise(*moment)));
        for write in &writes {
            let (is_restored, label) = (restored.contains(&write.label), &write.label);
            assert!(
                is_restored || write.acknowledged >= *moment,
                "{label} was acknowledged before {moment}, and is lost"
            );
            assert!(
                !is_restored || write.requested <= *moment,
                "{label} was requested after {moment}, and is restored"
            );
        }
        let before = writes.iter().filter(|write| write.acknowledged < *moment).count();
        println!("moment {number}: {before} of {} writes", writes.len());
        let stored = std::fs::read_dir(archived.folder.path(&name).join("attachments"));
        let expected = files.iter().filter(|time| **time <= *moment).count();
        assert_eq!(
            stored.expect("a folder").count(),
            expected,
            "attachments of moment {number}"
        );
    }
}

#[test]
fn a_time_outside_of_the_archive_is_refused_with_its_range() {
    let archived = Archived::new("range");
    let server = archived.start();
    server.client().create_vpc("one");
    archived.wait_until_archived();
    assert_eq!(server.stop().code, Some(0));
    let covered = archived.generations().pop().expect("a generation");
    let (from, to) = (
        covered["from"].as_str().expect("text"),
        covered["to"].as_str().expect("text"),
    );
    for at in ["2001-01-01T00:00:00", "2101-01-01T00:00:00"] {
        let output = archived.try_restore("refused", Some(at));
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(
            output.stderr.contains(&format!("It covers {from} to {to}")),
            "{output:?}"
        );
    }
    assert_eq!(archived.restore("from", Some(from)).len(), 0, "the first moment");
    assert_eq!(archived.restore("to", Some(to)).len(), 1, "the last moment");
    let output = archived.try_restore("to", Some(to));
    assert!(output.stderr.contains("the target is not empty"), "{output:?}");
    let output = archived.try_restore("invalid", Some("yesterday"));
    assert!(
        output.stderr.contains("such as 2026-11-16T20:00:00"),
        "{output:?}"
    );
}
