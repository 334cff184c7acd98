//! Backups from PostgreSQL and to it.

use std::time::Duration;

use crate::content::{self, Amount, Load, TEN_THOUSAND};
use crate::folder::{Folder, Server};
use crate::postgres::Postgres;
use crate::process::{Process, ProcessOutput, eventually};

const SOME: Amount = Amount {
    vpcs: 3,
    subnets_per_vpc: 400,
    files: 5,
};

/// The key of the lock that a server holds while it creates or changes tables.
const MIGRATION_LOCK: i64 = 0x6761 << 48;

fn garth(folder: &Folder, postgres: &Postgres, arguments: &str) -> ProcessOutput {
    let mut command = folder.garth_with_files(arguments);
    Process::spawn(command.env("GARTH_DATABASE", postgres.url())).wait()
}

fn serve(folder: &Folder, postgres: &Postgres) -> Server {
    Server::start(folder.serve().env("GARTH_DATABASE", postgres.url()))
}

#[test]
fn ten_thousand_objects_move_to_postgres_and_back_under_load() {
    let (folder, shared, last) = (
        Folder::new("backup"),
        Folder::new("backup-shared"),
        Folder::new("backup-last"),
    );
    let postgres = Postgres::new("backup");
    let server = folder.start();
    folder.run("account quota 1 --vpcs-per-region 1000 --subnets-per-vpc 1000");
    content::create(&mut server.client(), TEN_THOUSAND);
    let expected = content::read(&mut server.client());
    assert!(content::count(&expected) > 10_000);
    let archive = shared.path("archive");
    let output = Process::spawn(folder.garth_with_files("backup").arg(&archive)).wait();
    assert_eq!(output.code, Some(0), "{output:?}");
    drop(server);

    let restored = garth(&shared, &postgres, "restore archive");

    assert_eq!(restored.code, Some(0), "{restored:?}");
    let server = serve(&shared, &postgres);
    content::assert_equal(&content::read(&mut server.client()), &expected);
    let refused = garth(&shared, &postgres, "restore archive");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("a Garth store with 1 accounts"),
        "{refused:?}"
    );
    let checked = garth(&shared, &postgres, "check --attachments");
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let deleted = i64::try_from(TEN_THOUSAND.vpcs).expect("a number") + 1;
    let new = server.client().create_vpc("new");
    assert_eq!(new, deleted + 1, "the ID of a deleted VPC is not used again");
    let expected = content::read(&mut server.client());
    let token = create_account_for_load(&shared, &postgres);
    let load = Load::start(server.client_with(&token));

    let expected_load = load.during(|| {
        let output = garth(&shared, &postgres, "backup second --json");
        assert_eq!(output.code, Some(0), "{output:?}");
        assert!(output.stdout.contains("\"engine\": \"postgres\""), "{output:?}");
    });

    load.stop();
    drop(server);
    let second = shared.path("second");
    let output = Process::spawn(last.garth_with_files("restore").arg(&second)).wait();
    assert_eq!(output.code, Some(0), "{output:?}");
    let server = last.start();
    content::assert_equal(&content::read(&mut server.client()), &expected);
    content::assert_prefix(&server.client_with(&token).vpc_labels(), &expected_load);
    drop(server);
    last.assert_sound();
}

/// Creates a second account. Returns a token for it.
fn create_account_for_load(folder: &Folder, postgres: &Postgres) -> String {
    for command in [
        "account create --email load@example.com",
        "account quota 2 --vpcs-per-region 1000000",
        "user create --account 2 --username load --email load@example.com",
    ] {
        let output = garth(folder, postgres, command);
        assert_eq!(output.code, Some(0), "{command}: {output:?}");
    }
    let token = garth(folder, postgres, "token create --user load").stdout;
    token.trim().to_owned()
}

#[test]
fn a_killed_restore_into_postgres_can_be_started_again() {
    let (folder, shared) = (Folder::new("pg-kill"), Folder::new("pg-kill-shared"));
    let postgres = Postgres::new("pg-kill");
    let server = folder.start();
    folder.run("account quota 1 --vpcs-per-region 1000 --subnets-per-vpc 1000");
    content::create(&mut server.client(), SOME);
    let expected = content::read(&mut server.client());
    let archive = shared.path("archive");
    let output = Process::spawn(folder.garth_with_files("backup").arg(&archive)).wait();
    assert_eq!(output.code, Some(0), "{output:?}");
    drop(server);
    let mut unfinished = 0;
    for milliseconds in [50, 150, 250, 350, 450, 600, 800, 1000] {
        let mut command = shared.garth_with_files("restore archive");
        let mut restore = Process::spawn(command.env("GARTH_DATABASE", postgres.url()));
        std::thread::sleep(Duration::from_millis(milliseconds));
        if !restore.is_running() {
            break;
        }
        restore.kill();
        let tables = postgres.query("SELECT count(*) FROM pg_tables WHERE tablename = 'unfinished_restore'");
        if tables == "1" {
            unfinished += 1;
            let mut command = shared.serve();
            let refused = Process::spawn(command.env("GARTH_DATABASE", postgres.url())).wait();
            assert_eq!(refused.code, Some(1), "{refused:?}");
            assert!(refused.stderr.contains("has not finished"), "{refused:?}");
        }
    }
    assert!(
        unfinished > 0,
        "some restores were killed after they began to write"
    );

    let restored = garth(&shared, &postgres, "restore archive");

    // The last restore of the loop may have finished.
    let is_complete = restored.stderr.contains("a Garth store with 1 accounts");
    assert!(restored.code == Some(0) || is_complete, "{restored:?}");
    let server = serve(&shared, &postgres);
    content::assert_equal(&content::read(&mut server.client()), &expected);
    let checked = garth(&shared, &postgres, "check --attachments");
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

#[test]
fn a_database_with_other_tables_is_refused_and_a_failed_restore_leaves_it_empty() {
    let (folder, shared) = (Folder::new("pg-other"), Folder::new("pg-other-shared"));
    let postgres = Postgres::new("pg-other");
    let server = folder.start();
    server.client().create_vpc("core");
    drop(server);
    let archive = shared.path("archive");
    let store = rusqlite::Connection::open(folder.data().join("garth.db")).expect("the store");
    let broken = "UPDATE tally SET items = items + 1 WHERE collection = 'vpc'";
    store.execute(broken, ()).expect("a statement");
    let output = Process::spawn(folder.garth_with_files("backup").arg(&archive)).wait();
    assert_eq!(output.code, Some(0), "{output:?}");

    let failed = garth(&shared, &postgres, "restore archive");

    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(failed.stderr.contains("its target is empty again"), "{failed:?}");
    let count = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(postgres.query(count), "0");
    postgres.query("CREATE TABLE recipe (name TEXT)");
    let refused = garth(&shared, &postgres, "restore archive");
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("the table recipe"), "{refused:?}");
    assert_eq!(postgres.query(count), "1");
}

/// A server creates its tables while it holds the lock of migrations. A restore that marked the database in the
/// meantime would share it with the server.
#[test]
fn a_restore_waits_for_a_server_that_creates_its_tables() {
    let (folder, shared) = (Folder::new("backup-race"), Folder::new("backup-race-shared"));
    drop(folder.start());
    let archive = folder.path("archive");
    let output = Process::spawn(folder.garth_with_files("backup").arg(&archive)).wait();
    assert_eq!(output.code, Some(0), "{output:?}");
    let postgres = Postgres::new("backup-race");
    let url = postgres.url();
    let migrating = std::thread::scope(|scope| {
        let holding = scope
            .spawn(|| postgres.query(&format!("SELECT pg_advisory_lock({MIGRATION_LOCK}), pg_sleep(3)")));
        eventually("the lock to be held", || {
            let locks =
                postgres.query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted");
            (locks == "1").then_some(())
        });
        let mut restore = shared.garth_with_files("restore");
        let mut restoring = Process::spawn(restore.arg(&archive).env("GARTH_DATABASE", &url));
        std::thread::sleep(Duration::from_millis(1500));
        assert!(restoring.is_running());
        let tables = postgres.query("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'");
        assert_eq!(tables, "0", "the database is not marked yet");
        holding.join().expect("the lock ends");
        restoring
    });
    let restored = migrating.wait();
    assert_eq!(restored.code, Some(0), "{restored:?}");
}
