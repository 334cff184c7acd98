//! `garth doctor`: each problem of an installation is found and named with its fix.

use std::fs::{Permissions, set_permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rcgen::{CertificateParams, KeyPair, date_time_ymd};

use crate::damaged_files::execute_sql;
use crate::data_folder::as_other_user;
use crate::harness::{Folder, Server};
use crate::process::{Process, ProcessOutput};

/// Names without `GARTH_`, and values.
type Variables<'a> = &'a [(&'a str, &'a str)];

#[test]
fn a_sound_installation_has_no_problems() {
    let folder = Folder::new("doctor-sound");
    create_data_folder(&folder);
    assert_sound(&folder, "before the first start");
    assert!(
        folder.data().read_dir().expect("a folder").next().is_none(),
        "the command creates nothing"
    );
    let server = folder.start();
    assert_sound(&folder, "while a server runs");
    server.stop();
    assert_sound(&folder, "after the server stopped");
}

#[test]
fn each_problem_of_the_settings_is_found() {
    let folder = Folder::new("doctor-settings");
    let secret = folder.write("secret", "password");
    set_mode(&secret, 0o644);
    let (expired, key) = certificate(&folder, "expired", 2025);
    let (valid, valid_key) = certificate(&folder, "valid", 2099);
    let (expired, key) = (expired.display().to_string(), key.display().to_string());
    let (valid, valid_key) = (valid.display().to_string(), valid_key.display().to_string());
    let secret = secret.display().to_string();
    let cases: [(&str, Variables, &str); 11] = [
        ("test_control", &[("TEST_CONTROL", "true")], "can delete all data"),
        ("chaos", &[("CHAOS", "light")], "on purpose"),
        ("listen", &[("LISTEN", "0.0.0.0:0")], "without encryption"),
        (
            "metrics_listen",
            &[("METRICS_LISTEN", "0.0.0.0:0")],
            "the metrics are readable",
        ),
        ("public_url", &[("TRUSTED_PROXIES", "10.0.0.1")], "Host header"),
        (
            "tls_cert",
            &[("TLS_CERT", &expired), ("TLS_KEY", &key)],
            "has expired",
        ),
        (
            "public_url",
            &[
                ("TLS_CERT", &valid),
                ("TLS_KEY", &valid_key),
                ("PUBLIC_URL", "http://garth.example"),
            ],
            "begins with http://",
        ),
        ("settings", &[("TLS_CERT", &valid)], "tls_key"),
        ("settings", &[("EVENT_DAYS", "0")], "event-days"),
        (
            "bootstrap_token_file",
            &[("BOOTSTRAP_TOKEN_FILE", &secret)],
            "chmod 640",
        ),
        (
            "disk",
            &[("MIN_FREE_BYTES", "9000000000000000000")],
            "/readyz fails",
        ),
    ];
    for (area, settings, text) in cases {
        let mut doctor = doctor(&folder);
        if area == "disk" {
            create_data_folder(&folder);
        }
        for (name, value) in settings {
            doctor.env(format!("GARTH_{name}"), value);
        }
        assert_found(&mut doctor, area, text);
    }
}

#[test]
fn a_secret_of_the_servers_group_is_accepted() {
    let folder = Folder::new("doctor-group");
    create_data_folder(&folder);
    let secret = folder.write("secret", &"be".repeat(32));
    let doctor_of = |mode: u32| {
        set_mode(&secret, mode);
        let mut doctor = doctor(&folder);
        doctor
            .env_remove("GARTH_BOOTSTRAP_TOKEN")
            .env("GARTH_BOOTSTRAP_TOKEN_FILE", &secret);
        doctor
    };
    let accepted = Process::spawn(&mut doctor_of(0o640)).wait();
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    assert_only(
        &mut doctor_of(0o660),
        "bootstrap_token_file",
        "(mode 0660)",
        "chmod 640",
    );
}

#[test]
fn an_archive_that_cannot_be_a_folder_is_found() {
    let folder = Folder::new("doctor-archive");
    create_data_folder(&folder);
    let file = folder.write("file", "text");
    let mut doctor = doctor(&folder);
    doctor.env("GARTH_ARCHIVE", file.join("archive"));
    assert_only(&mut doctor, "archive", "is not a folder", "ReadWritePaths");
}

/// The server does not start with any of these settings.
#[test]
fn each_setting_that_prevents_the_start_is_found_once() {
    let folder = Folder::new("doctor-start");
    create_data_folder(&folder);
    let missing = folder.path("missing").display().to_string();
    for (variable, value, problem) in [
        ("LOG", "loud", "log: \"loud\" is not a log directive"),
        ("ATTACHMENTS_URL", "", "attachments.url: \"\" is neither a folder"),
        (
            "ATTACHMENTS_URL",
            "ftp://files",
            "attachments.url: \"ftp://files\"",
        ),
        (
            "ATTACHMENTS_URL",
            "s3://bucket",
            "attachments.url: a bucket needs credentials",
        ),
        ("FORBIDDEN_RANGES", "10.0.0.1/8", "10.0.0.1/8"),
        ("DATABASE", "mysql://localhost", "database (--database): must be"),
        ("BOOTSTRAP_TOKEN_FILE", &missing, "cannot read"),
        ("PUBLIC_URL", "garth.example", "public_url: must be a URL"),
    ] {
        let variable = format!("GARTH_{variable}");
        let mut doctor = doctor(&folder);
        doctor.env(&variable, value).env_remove("AWS_ACCESS_KEY_ID");
        assert_only(&mut doctor, "settings", problem, &variable);
        let mut serve = folder.serve();
        serve
            .env_remove("GARTH_BOOTSTRAP_TOKEN")
            .env_remove("AWS_ACCESS_KEY_ID");
        let started = Process::spawn(serve.env(&variable, value)).wait();
        assert_eq!(started.code, Some(1), "{variable}: {started:?}");
    }
    let settings = folder.write("empty.toml", "data = \"\"\n");
    let mut empty = doctor(&folder);
    empty.env_remove("GARTH_DATA").env("GARTH_CONFIG", &settings);
    assert_only(
        &mut empty,
        "settings",
        "line 1 (data): must be the path of a folder",
        "",
    );
}

#[test]
fn a_folder_that_the_server_cannot_use_is_found() {
    let folder = Folder::new("doctor-folder");
    assert_only(
        &mut doctor(&folder),
        "data folder",
        "does not exist",
        "start the server",
    );

    std::fs::write(folder.data(), "a file").expect("a file can be written");
    assert_only(
        &mut doctor(&folder),
        "data folder",
        "is not a folder",
        "GARTH_DATA",
    );
    std::fs::remove_file(folder.data()).expect("the file exists");

    folder.start().stop();
    let mut other = as_other_user(&folder, &doctor(&folder));
    other.env("GARTH_LISTEN", "127.0.0.1:0");
    assert_only(&mut other, "data folder", "cannot read and write", "sudo -u");
    set_mode(folder.data(), 0o700);

    let attachments = folder.data().join("attachments");
    if attachments.exists() {
        std::fs::remove_dir_all(&attachments).expect("the folder can be deleted");
        let fix = "attachments.url";
        assert_only(&mut doctor(&folder), "attachments", "does not exist", fix);
        std::fs::write(&attachments, "a file").expect("a file can be written");
        assert_only(&mut doctor(&folder), "attachments", "is not a folder", fix);
    }
}

#[test]
fn a_scan_command_that_cannot_run_is_found() {
    let folder = Folder::new("doctor-scanner");
    create_data_folder(&folder);
    let script = folder.write("scan", "#!/bin/sh\n");
    set_mode(&script, 0o600);
    let script = script.display().to_string();
    for (command, problem) in [
        ("garth-missing-scanner {}", "is not in PATH"),
        ("/nowhere/scan --quiet", "does not exist"),
        (script.as_str(), "is not executable"),
    ] {
        let mut doctor = doctor(&folder);
        doctor.env("GARTH_ATTACHMENTS_SCAN_COMMAND", command);
        assert_only(
            &mut doctor,
            "attachments.scan_command",
            problem,
            "every upload fails",
        );
    }
    set_mode(folder.path("scan").as_path(), 0o700);
    let mut sound = doctor(&folder);
    let output = Process::spawn(sound.env("GARTH_ATTACHMENTS_SCAN_COMMAND", &script)).wait();
    assert_eq!(output.code, Some(0), "{output:?}");
}

#[test]
fn an_address_that_cannot_be_used_is_found() {
    let folder = Folder::new("doctor-address");
    create_data_folder(&folder);
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("the listener is bound").to_string();
    for (variable, area) in [
        ("GARTH_LISTEN", "listen"),
        ("GARTH_METRICS_LISTEN", "metrics_listen"),
    ] {
        let mut doctor = doctor(&folder);
        assert_only(
            doctor.env(variable, &address),
            area,
            "uses",
            "stop the other program",
        );
    }
    // An address of documentation, which no machine has.
    let mut foreign = doctor(&folder);
    foreign.env("GARTH_LISTEN", "192.0.2.1:8443");
    assert_found(&mut foreign, "listen", "cannot listen on 192.0.2.1:8443");

    let server = folder.start();
    let mut running = doctor(&folder);
    let output = Process::spawn(running.env("GARTH_LISTEN", server.address.to_string())).wait();
    assert_eq!(
        output.code,
        Some(0),
        "the server itself uses the address: {output:?}"
    );
}

/// Each reason why a store does not open has its own fix.
#[test]
fn the_fix_for_a_store_that_does_not_open_depends_on_the_reason() {
    let folder = Folder::new("doctor-store");
    folder.start().stop();
    let newest = "(SELECT max(number) FROM migration)";
    execute_sql(
        &folder,
        &format!("UPDATE migration SET checksum = 'x' WHERE number = {newest}"),
    );
    assert_only(
        &mut doctor(&folder),
        "store",
        "differs from",
        "the version of Garth that",
    );
    execute_sql(&folder, &format!("DELETE FROM migration WHERE number = {newest}"));
    assert_only(&mut doctor(&folder), "store", "has schema", "make a backup");
    let database = folder.data().join("garth.db");
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(folder.data().join(format!("garth.db{suffix}")));
    }
    std::fs::write(&database, "not a database, but a text".repeat(100)).expect("writable");
    assert_only(
        &mut doctor(&folder),
        "store",
        "not a database",
        "restore a backup",
    );
}

#[test]
fn problems_of_files_and_limits_are_found() {
    let folder = Folder::new("doctor-files");
    let server = folder.start();
    set_mode(folder.data(), 0o755);
    assert_found(&mut doctor(&folder), "data folder", "chmod 700");
    set_mode(folder.data(), 0o700);

    let mut limited = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_garth");
    limited
        .arg("-c")
        .arg(format!("ulimit -n 600; exec {program} doctor --json"));
    limited.env("GARTH_DATA", folder.data()).stdin(Stdio::null());
    limited.env("GARTH_LISTEN", "127.0.0.1:0");
    assert_found(&mut limited, "open files", "LimitNOFILE");
    server.stop();
}

#[test]
fn failed_work_is_found() {
    let folder = Folder::new("doctor-work");
    let server = folder.start();
    let ticket = server.client().open_ticket();
    let upload = server.client().upload(ticket, "a.txt", b"some text");
    upload.expect("the server responds").ok();
    execute_sql(&folder, "UPDATE job SET dead = 1");
    execute_sql(&folder, "UPDATE attachment_check SET damaged = 1");
    assert_found(&mut doctor(&folder), "jobs", "garth jobs list");
    assert_found(&mut doctor(&folder), "attachments", "1 attachments do not match");
    execute_sql(&folder, "DELETE FROM migration WHERE number = 16");
    assert_found(&mut doctor(&folder), "store", "schema");
    server.stop();
}

#[test]
fn a_server_with_a_replaced_binary_is_found() {
    let folder = Folder::new("doctor-binary");
    let copy = folder.path("garth");
    std::fs::copy(env!("CARGO_BIN_EXE_garth"), &copy).expect("the binary can be copied");
    let mut serve = Command::new(&copy);
    serve
        .args(["serve", "--listen", "127.0.0.1:0"])
        .stdin(Stdio::null());
    serve
        .env("GARTH_DATA", folder.data())
        .env("GARTH_BOOTSTRAP_TOKEN", crate::harness::TOKEN);
    let server = Server::start(&mut serve);
    assert_sound(&folder, "before the binary is replaced");
    std::fs::remove_file(&copy).expect("the binary can be deleted");
    assert_found(&mut doctor(&folder), "server", "restart the server");
    server.stop();
}

/// `garth doctor`, with an address that no other program uses.
fn doctor(folder: &Folder) -> Command {
    let mut doctor = folder.garth("doctor --json");
    doctor.env("GARTH_LISTEN", "127.0.0.1:0");
    doctor
}

fn assert_sound(folder: &Folder, state: &str) {
    let output = Process::spawn(&mut doctor(folder)).wait();
    assert_eq!((output.code, output.stdout.trim()), (Some(0), "[]"), "{state}");
}

/// Asserts that the command lists a problem of this area once, and ends with exit code 1.
fn assert_found(doctor: &mut Command, area: &str, text: &str) {
    let output: ProcessOutput = Process::spawn(doctor).wait();
    assert_eq!(output.code, Some(1), "{area}: {output:?}");
    let listed: Vec<serde_json::Value> = serde_json::from_str(&output.stdout).expect("JSON");
    let is_expected = |advice: &&serde_json::Value| {
        let texts = format!("{} {}", advice["problem"], advice["fix"]);
        advice["area"] == area && texts.contains(text)
    };
    let found = listed.iter().filter(is_expected).count();
    assert_eq!(found, 1, "{area}, {text}: {}", output.stdout);
}

/// Asserts that the command lists exactly one problem.
fn assert_only(doctor: &mut Command, area: &str, problem: &str, fix: &str) {
    let output: ProcessOutput = Process::spawn(doctor).wait();
    assert_eq!(output.code, Some(1), "{area}, {problem}: {output:?}");
    let listed: Vec<serde_json::Value> = serde_json::from_str(&output.stdout).expect("JSON");
    let texts = |name: &str| listed[0][name].as_str().unwrap_or_default().to_owned();
    let is_expected = listed.len() == 1
        && texts("area") == area
        && texts("problem").contains(problem)
        && texts("fix").contains(fix);
    assert!(is_expected, "{area}, {problem}, {fix}: {}", output.stdout);
}

fn create_data_folder(folder: &Folder) {
    std::fs::create_dir_all(folder.data()).expect("a folder can be created");
    set_mode(folder.data(), 0o700);
}

fn set_mode(path: &Path, mode: u32) {
    set_permissions(path, Permissions::from_mode(mode)).expect("the owner can change the mode");
}

/// A certificate that expires in this year, and its key.
fn certificate(folder: &Folder, name: &str, year: i32) -> (PathBuf, PathBuf) {
    let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).expect("a valid name");
    parameters.not_before = date_time_ymd(2024, 1, 1);
    parameters.not_after = date_time_ymd(year, 1, 1);
    let key = KeyPair::generate().expect("a key can be created");
    let certificate = parameters
        .self_signed(&key)
        .expect("a certificate can be created");
    let chain = folder.write(&format!("{name}.pem"), &certificate.pem());
    let key = folder.write(&format!("{name}.key"), &key.serialize_pem());
    set_mode(&key, 0o600);
    (chain, key)
}
