//! `garth doctor`: each problem of an installation is found and named with its fix.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rcgen::{CertificateParams, KeyPair, date_time_ymd};

use crate::damaged_files::execute_sql;
use crate::harness::{Folder, Server};
use crate::process::{Process, ProcessOutput};

/// Names without `GARTH_`, and values.
type Variables<'a> = &'a [(&'a str, &'a str)];

#[test]
fn a_sound_installation_has_no_problems() {
    let folder = Folder::new("doctor-sound");
    assert_eq!(
        folder.run("doctor"),
        "no problems found\n",
        "before the first start"
    );
    assert!(!folder.data().exists(), "the command creates nothing");
    let server = folder.start();
    assert_eq!(folder.run("doctor"), "no problems found\n");
    server.stop();
    assert_eq!(folder.json("doctor"), serde_json::json!([]));
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
    let cases: [(&str, Variables, &str); 9] = [
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
            "chmod 600",
        ),
        (
            "disk",
            &[("MIN_FREE_BYTES", "9000000000000000000")],
            "/readyz fails",
        ),
    ];
    for (area, settings, text) in cases {
        let mut doctor = folder.garth("doctor --json");
        if area == "disk" {
            std::fs::create_dir_all(folder.data()).expect("a folder can be created");
            set_mode(folder.data(), 0o700);
        }
        for (name, value) in settings {
            doctor.env(format!("GARTH_{name}"), value);
        }
        assert_found(&mut doctor, area, text);
    }
}

#[test]
fn problems_of_files_and_limits_are_found() {
    let folder = Folder::new("doctor-files");
    let server = folder.start();
    set_mode(folder.data(), 0o755);
    assert_found(&mut folder.garth("doctor --json"), "data folder", "chmod 700");
    set_mode(folder.data(), 0o700);

    let mut limited = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_garth");
    limited
        .arg("-c")
        .arg(format!("ulimit -n 600; exec {program} doctor --json"));
    limited.env("GARTH_DATA", folder.data()).stdin(Stdio::null());
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
    assert_found(&mut folder.garth("doctor --json"), "jobs", "garth jobs list");
    assert_found(
        &mut folder.garth("doctor --json"),
        "attachments",
        "1 attachments do not match",
    );
    execute_sql(&folder, "DELETE FROM migration WHERE number = 16");
    assert_found(&mut folder.garth("doctor --json"), "store", "schema");
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
    assert_eq!(folder.run("doctor"), "no problems found\n");
    std::fs::remove_file(&copy).expect("the binary can be deleted");
    assert_found(&mut folder.garth("doctor --json"), "server", "restart the server");
    server.stop();
}

/// Asserts that the command lists a problem of this area, and ends with exit code 1.
fn assert_found(doctor: &mut Command, area: &str, text: &str) {
    let output: ProcessOutput = Process::spawn(doctor).wait();
    assert_eq!(output.code, Some(1), "{area}: {output:?}");
    let listed: Vec<serde_json::Value> = serde_json::from_str(&output.stdout).expect("JSON");
    let found = listed.iter().any(|advice| {
        let texts = format!("{} {}", advice["problem"], advice["fix"]);
        advice["area"] == area && texts.contains(text)
    });
    assert!(found, "{area}, {text}: {}", output.stdout);
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
