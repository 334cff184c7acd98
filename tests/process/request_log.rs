//! The client address in the log line of a request.

use crate::connection::Connection;
use crate::harness::{Folder, Server};

const FORWARDED: &str = "x-forwarded-for: 2001:db8:7:8::9, 203.0.113.9\r\n";

#[test]
fn request_log_has_the_client_address() {
    let folder = Folder::new("log-client");
    assert_logs(&folder, &[], "", "client=127.0.0.1 ");
    assert_logs(&folder, &[], FORWARDED, "client=127.0.0.1 ");
}

#[test]
fn request_log_has_the_client_address_behind_a_trusted_proxy() {
    let folder = Folder::new("log-proxied");
    let trusted = ["--trusted-proxies", "127.0.0.1"];
    assert_logs(&folder, &trusted, FORWARDED, "client=203.0.113.9 ");
    let trusted = ["--trusted-proxies", "127.0.0.1,203.0.113.9"];
    assert_logs(&folder, &trusted, FORWARDED, "client=2001:db8:7:8::9 ");
}

#[test]
fn logged_address_can_be_truncated_or_omitted() {
    let folder = Folder::new("log-truncated");
    let proxies = ["--trusted-proxies", "127.0.0.1"];
    let flags = |value| [&proxies[..], &["--log-client-address", value]].concat();
    assert_logs(&folder, &flags("full"), FORWARDED, "client=203.0.113.9 ");
    assert_logs(&folder, &flags("truncated"), FORWARDED, "client=203.0.113.0 ");
    let line = request_line(&folder, &flags("none"), FORWARDED);
    assert!(!line.contains("client") && !line.contains("203.0.113"), "{line}");
}

#[test]
fn log_setting_of_the_file_is_a_string_or_a_table() {
    let folder = Folder::new("log-table");
    let line = |toml: &str| {
        let file = folder.write("garth.toml", toml);
        request_line(&folder, &["--config", &file.display().to_string()], "")
    };
    assert!(line("log = 'info'").contains("client=127.0.0.1 "));
    let table = line("[log]\nlevel = 'info'\nclient_address = 'truncated'\nlogin_names = 'none'");
    assert!(table.contains("client=127.0.0.0 "), "{table}");
    let json = line("[log]\nformat = 'json'");
    assert!(json.contains(r#""client":"127.0.0.1""#), "{json}");
}

fn assert_logs(folder: &Folder, flags: &[&str], headers: &str, expected: &str) {
    let line = request_line(folder, flags, headers);
    assert!(line.contains(expected), "{flags:?} {headers:?}: {line}");
}

/// The log line of one request.
fn request_line(folder: &Folder, flags: &[&str], headers: &str) -> String {
    let server = Server::start(folder.serve().args(flags));
    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    let head = server
        .client()
        .head("GET", "/v4/vpcs", &format!("x-request-id: the-one\r\n{headers}"));
    connection.send(head).expect("the request can be sent");
    assert_eq!(
        connection.reply_to("GET").expect("the server responds").status,
        200
    );
    let log = server.stop().stderr;
    let line = log.lines().find(|line| line.contains("the-one"));
    line.unwrap_or_else(|| panic!("no line for the request: {log}"))
        .to_owned()
}
