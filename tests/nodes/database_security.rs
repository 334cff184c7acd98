//! Database passwords are never shown, and TLS protects the connection.

use crate::folder::{Folder, Server};
use crate::postgres::Postgres;
use crate::process::{Process, ProcessOutput};

const SECRET: &str = "open sesame";

fn list(folder: &Folder, url: &str) -> ProcessOutput {
    Process::spawn(folder.garth("account list --json").env("GARTH_DATABASE", url)).wait()
}

fn assert_refused(output: &ProcessOutput, expected: &str) {
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains(expected), "{output:?}");
    for secret in [SECRET, "open%20sesame", "sesame"] {
        assert!(
            !output.stderr.contains(secret) && !output.stdout.contains(secret),
            "{output:?}"
        );
    }
}

#[test]
fn passwords_come_from_the_url_a_file_or_the_environment_and_are_never_logged() {
    let (postgres, _) = Postgres::with_password("passwords");
    let folder = Folder::new("passwords");
    let address = format!("localhost:{}/postgres", postgres.port);
    let (without, with) = (
        format!("postgres://owner@{address}"),
        format!("postgres://owner:open%20sesame@{address}"),
    );

    assert_eq!(list(&folder, &with).code, Some(0));
    let file = folder.write("password", &format!("{SECRET}\n"));
    let mut command = folder.garth("account list");
    command
        .env("GARTH_DATABASE", &without)
        .env("GARTH_DATABASE_PASSWORD_FILE", &file);
    assert_eq!(Process::spawn(&mut command).wait().code, Some(0));
    let mut command = folder.garth("account list");
    command.env("GARTH_DATABASE", &without).env("PGPASSWORD", SECRET);
    assert_eq!(Process::spawn(&mut command).wait().code, Some(0));
    let settings = folder.write("garth.toml", &format!("database = \"{with}\"\n"));
    let mut command = folder.garth("account list");
    command.env("GARTH_CONFIG", &settings).env_remove("GARTH_DATA");
    assert_eq!(Process::spawn(&mut command).wait().code, Some(0));

    assert_refused(&list(&folder, &without), "password missing");
    let wrong = with.replace("open%20", "closed-");
    assert_refused(&list(&folder, &wrong), "password authentication failed");
    assert_refused(
        &list(&folder, &with.replace(&postgres.port.to_string(), "1")),
        "Connection refused",
    );
    assert_refused(
        &list(&folder, &with.replace("postgres://", "mysql://")),
        "must be a URL such as postgres://user@host/name",
    );

    let mut serve = folder.serve();
    let server = Server::start(serve.env("GARTH_DATABASE", &with).env("GARTH_LOG", "debug"));
    assert_eq!(server.client().get("/v4/vpcs").status, 200);
    let output = server.stop();
    assert!(
        !output.stderr.contains("sesame") && !output.stdout.contains("sesame"),
        "{output:?}"
    );
}

#[test]
fn tls_verifies_the_server_if_configured() {
    let (postgres, certificate) = Postgres::with_password("tls");
    let folder = Folder::new("tls");
    let certificate = certificate.display();
    let url = |host: &str, parameters: &str| {
        format!("postgres://garth@{host}:{}/postgres?{parameters}", postgres.port)
    };
    assert_refused(
        &list(&folder, &url("localhost", "sslmode=require")),
        "UnknownIssuer",
    );
    let with_root_certificate = format!("sslmode=require&sslrootcert={certificate}");
    assert_eq!(
        list(&folder, &url("localhost", &with_root_certificate)).code,
        Some(0)
    );
    assert_refused(
        &list(&folder, &url("127.0.0.1", &with_root_certificate)),
        "not valid for name",
    );
    assert_refused(
        &list(&folder, &url("localhost", "sslmode=sometimes")),
        "sslmode: must be",
    );

    for (parameters, encrypted) in [
        ("", "t"),
        ("sslmode=disable", "f"),
        (with_root_certificate.as_str(), "t"),
    ] {
        let mut serve = folder.serve();
        let server = Server::start(serve.env("GARTH_DATABASE", url("localhost", parameters)));
        assert_eq!(server.client().get("/v4/vpcs").status, 200);
        let sessions = "SELECT DISTINCT s.ssl FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)
            WHERE a.application_name = 'garth'";
        assert_eq!(postgres.query(sessions), encrypted, "{parameters}");
        assert_eq!(server.stop().code, Some(0));
    }
}
