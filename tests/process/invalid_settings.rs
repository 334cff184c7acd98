//! A setting that makes no sense stops the start, before anything is made, and is named.

use std::process::Command;

use crate::harness::{Folder, TOKEN};
use crate::process::{Ended, Process, eventually};

#[test]
fn a_wrong_flag_or_variable_stops_the_start_and_is_named() {
    let folder = Folder::new("wrong");
    let mut wrong = Vec::new();
    for (name, value) in [
        ("listen", "here"),
        ("listen", "127.0.0.1"),
        ("metrics_listen", "there"),
        ("log", "loud"),
        ("log", "silly="),
        ("log_format", "xml"),
        ("log_client_address", "some"),
        ("log_login_names", "some"),
        ("profile", "downstream"),
        ("wire_names", "none"),
        ("page_size_min", "0"),
        ("page_size_min", "501"),
        ("event_days", "0"),
        ("quota_vpcs_per_region", "-1"),
        ("quota_subnets_per_vpc", "many"),
        ("quota_attachment_bytes", "-1"),
        ("rate_limit_enabled", "maybe"),
        ("attachments_scrub_days", "-1"),
        ("forbidden_ranges", "10.0.0.1/8"),
        ("public_url", "garth.example"),
        ("oauth_implicit", "perhaps"),
        ("oauth_require_pkce", "perhaps"),
        ("trusted_proxies", "10.0.0.0/33"),
    ] {
        let flag = format!("--{}={value}", name.replace('_', "-"));
        let variable = format!("GARTH_{}", name.to_uppercase());
        wrong.extend(unless_refused(name, folder.serve().arg(&flag)));
        wrong.extend(unless_refused(name, folder.serve().env(&variable, value)));
    }
    for token in ["", "secret", &TOKEN.to_uppercase(), &TOKEN[1..]] {
        let variable = "GARTH_BOOTSTRAP_TOKEN";
        wrong.extend(unless_refused(variable, folder.serve().env(variable, token)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!folder.data().exists(), "no store is made before all is clear");
}

#[test]
fn keys_of_a_bucket_come_from_two_files_that_can_be_read() {
    let folder = Folder::new("bucket-keys");
    let (key, missing) = (folder.write("key", "garth\n"), folder.path("missing-key"));
    for (access, secret, says) in [
        (Some(&key), None, "attachments.secret_key_file: required"),
        (None, Some(&key), "attachments.access_key_file: required"),
        (Some(&key), Some(&missing), "missing-key"),
    ] {
        let mut serve = folder.serve();
        for (name, file) in [("ACCESS", access), ("SECRET", secret)] {
            if let Some(file) = file {
                serve.env(format!("GARTH_ATTACHMENTS_{name}_KEY_FILE"), file);
            }
        }
        let ended = Process::spawn(&mut serve).ended();
        assert_eq!(ended.code, Some(1), "{says}: {ended:?}");
        assert!(ended.stderr.contains(says), "{says}: {}", ended.stderr);
    }
    assert!(!folder.data().exists(), "no store is made before all is clear");
}

#[test]
fn a_wrong_line_in_the_file_stops_the_start_and_is_named() {
    let folder = Folder::new("wrong-file");
    let mut wrong = Vec::new();
    for (lines, names) in [
        ("listen = 'here'", "listen"),
        ("listen = '127.0.0.1'", "such as 127.0.0.1:8080"),
        ("page_size_min = 0", "page_size_min"),
        ("page_size_min = 'few'", "page_size_min"),
        ("event_days = 40000", "event_days"),
        ("wire_names = 'none'", "wire_names"),
        ("profile = 'downstream'", "profile"),
        ("log = 'loud'", "log"),
        ("log = 3", "log"),
        ("log.level = 'loud'", "log"),
        ("log.client_address = 'some'", "client_address"),
        ("[log]\nlevels = 'info'", "levels"),
        ("forbidden_ranges = ['10.0.0.1/8']", "forbidden_ranges"),
        ("quota.vpcs_per_region = -1", "quota.vpcs_per_region"),
        ("quota.attachment_bytes = -1", "quota.attachment_bytes"),
        ("attachments.scrub_days = -1", "attachments.scrub_days"),
        ("limits.connections = 0", "limits.connections"),
        (
            "limits.connections_per_address = 0",
            "limits.connections_per_address",
        ),
        ("limits.response_memory_mib = 0", "limits.response_memory_mib"),
        ("oauth.prefix = 'login'", "oauth.prefix"),
        ("oauth.implicit = 'perhaps'", "implicit"),
        ("public_url = 'garth.example'", "public_url"),
        ("trusted_proxies = ['everybody']", "trusted_proxies"),
        ("tls_cert = 'missing.pem'", "tls_key"),
        ("regions = []", "regions"),
        ("page_size_minimum = 5", "similar settings: `page_size_min`"),
        ("[quota]\nvpcs = 5", "vpcs"),
        ("[[regions]]\nid = 'lab'\nname = 'Lab'", "name"),
        ("listen = ", "garth.toml"),
    ] {
        let file = folder.write("garth.toml", lines);
        wrong.extend(unless_refused(names, folder.serve().arg("--config").arg(file)));
    }
    let nowhere = unless_refused("nowhere.toml", folder.serve().args(["--config", "nowhere.toml"]));
    wrong.extend(nowhere);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!folder.data().exists(), "no store is made before all is clear");
}

/// A complaint, if a start succeeds or ends without naming the setting that is wrong.
fn unless_refused(name: &str, serve: &mut Command) -> Option<String> {
    let ended = start_in_vain(serve);
    let told = ended.stderr.replace('-', "_").contains(name);
    let refused = matches!(ended.code, Some(1..)) && ended.stdout.is_empty();
    (!refused || !told).then(|| format!("{name} is not named: {ended:?}"))
}

/// How a start ended that should not have succeeded; one that did is ended here.
fn start_in_vain(serve: &mut Command) -> Ended {
    let mut process = Process::spawn(serve);
    eventually("the start to fail", || {
        (!process.is_running() || !process.printed().is_empty()).then_some(())
    });
    if process.is_running() {
        process.kill();
    }
    process.ended()
}
