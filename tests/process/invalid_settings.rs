//! Invalid settings: the server does not start, creates nothing, and names the setting.

use std::net::TcpListener;
use std::process::Command;

use crate::harness::{Folder, TOKEN};
use crate::process::{Process, ProcessOutput, eventually};

#[test]
fn invalid_flag_or_variable_prevents_the_start() {
    let folder = Folder::new("invalid");
    let mut failures = Vec::new();
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
        failures.extend(start_error(name, folder.serve().arg(&flag)));
        failures.extend(start_error(name, folder.serve().env(&variable, value)));
    }
    for token in ["", "secret", &TOKEN.to_uppercase(), &TOKEN[1..]] {
        let variable = "GARTH_BOOTSTRAP_TOKEN";
        failures.extend(start_error(variable, folder.serve().env(variable, token)));
    }
    let empty = failed_start(folder.serve().env("GARTH_BOOTSTRAP_TOKEN", ""));
    assert!(empty.stderr.contains("is empty"), "{empty:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(!folder.data().exists(), "no store is created");
}

#[test]
fn an_invalid_variable_is_named() {
    let folder = Folder::new("variables");
    let mut failures = Vec::new();
    for (variable, value) in [
        ("GARTH_DATA", ""),
        ("GARTH_CONFIG", ""),
        ("GARTH_DATABASE", ""),
        ("GARTH_DATABASE", "mysql://localhost"),
        ("GARTH_DATABASE_PASSWORD_FILE", ""),
        ("GARTH_DATABASE_CONNECTIONS", ""),
        ("GARTH_LISTEN", ""),
        ("GARTH_TLS_CERT", ""),
        ("GARTH_PUBLIC_URL", ""),
        ("GARTH_LOG", ""),
        ("GARTH_PROFILE", ""),
        ("GARTH_PAGE_SIZE_MIN", ""),
        ("GARTH_PAGE_SIZE_MIN", "many"),
        ("GARTH_COMPUTE_PUBLIC_RANGES", ""),
        ("GARTH_COMPUTE_RDNS_DOMAIN", "-"),
        ("GARTH_PROVIDER_NAME", ""),
        ("GARTH_OAUTH_IMPLICIT", ""),
        ("GARTH_TRUSTED_PROXIES", "everyone"),
    ] {
        failures.extend(start_error(variable, folder.serve().env(variable, value)));
        let mut list = folder.garth("account list");
        let failed = Process::spawn(list.env(variable, value)).wait();
        // A command does not use the settings of the server.
        let is_used = variable.starts_with("GARTH_DATA") || failed.stderr.contains("invalid value");
        if is_used && !failed.stderr.contains(variable) {
            failures.push(format!("{variable} is not named: {failed:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let mut serve = folder.serve();
    serve
        .env("GARTH_PAGE_SIZE_MIN", "5")
        .args(["--page-size-min", "0"]);
    let flag = failed_start(&mut serve);
    assert!(!flag.stderr.contains("GARTH_PAGE_SIZE_MIN"), "{flag:?}");
}

#[test]
fn bucket_keys_need_two_readable_files() {
    let folder = Folder::new("bucket-keys");
    let (key, missing) = (folder.write("key", "garth\n"), folder.path("missing-key"));
    for (access, secret, expected) in [
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
        let output = Process::spawn(&mut serve).wait();
        assert_eq!(output.code, Some(1), "{expected}: {output:?}");
        assert!(output.stderr.contains(expected), "{expected}: {}", output.stderr);
    }
    assert!(!folder.data().exists(), "no store is created");
}

/// Garth contacts the metadata service of a cloud only if a setting names it.
#[test]
fn bucket_without_credentials_prevents_the_start() {
    let folder = Folder::new("bucket-credentials");
    let half_of_a_role = ("AWS_WEB_IDENTITY_TOKEN_FILE", "token");
    for (name, value) in [("AWS_REGION", "us-east-1"), half_of_a_role] {
        let mut serve = serve_with_bucket(&folder);
        serve.env(name, value);
        let output = Process::spawn(&mut serve).wait();
        assert_eq!(output.code, Some(1), "{name}: {output:?}");
        assert!(
            output.stderr.contains("AWS_ACCESS_KEY_ID"),
            "{name}: {}",
            output.stderr
        );
    }

    let metadata = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = metadata.local_addr().expect("the listener is bound");
    let mut serve = serve_with_bucket(&folder);
    serve.env("AWS_METADATA_ENDPOINT", format!("http://{address}"));
    let server = Process::spawn(&mut serve);
    metadata.accept().expect("Garth requests credentials");
    drop(server);
}

/// `garth serve` with attachments in a bucket, without the `AWS_` variables of the test run.
fn serve_with_bucket(folder: &Folder) -> Command {
    let mut serve = folder.serve();
    serve.args(["--attachments", "s3://bucket"]);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AWS_") {
            serve.env_remove(name);
        }
    }
    serve
}

#[test]
fn invalid_line_in_the_file_prevents_the_start() {
    let folder = Folder::new("invalid-file");
    let mut failures = Vec::new();
    for (lines, names) in [
        ("listen = 'here'", "listen"),
        ("listen = '127.0.0.1'", "such as 127.0.0.1:8080"),
        ("page_size_min = 0", "page_size_min"),
        ("page_size_min = 'few'", "page_size_min"),
        (
            "page_size_min = 'few'",
            "line 1 (page_size_min): must be an integer, not a string",
        ),
        ("event_days = 40000", "event_days"),
        (
            "database_connections = 1",
            "database_connections: must be a whole number from 2 to 1000, not 1",
        ),
        ("database_connections = 70000", "from 2 to 1000, not 70000"),
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
        ("trusted_proxies = ['everyone']", "trusted_proxies"),
        ("tls_cert = 'missing.pem'", "tls_key"),
        ("regions = []", "regions"),
        ("page_size_minimum = 5", "similar settings: `page_size_min`"),
        ("[quota]\nvpcs = 5", "vpcs"),
        ("[[regions]]\nid = 'lab'\nname = 'Lab'", "name"),
        ("[[regions]]\nid = ''", "regions: id"),
        ("[[types]]\nid = ''\nmemory = 1\ndisk = 1\nvcpus = 1", "types: id"),
        (
            "[[types]]\nid = 's'\nmemory = -1\ndisk = 1\nvcpus = 1",
            "memory of s",
        ),
        (
            "[[types]]\nid = 's'\nmemory = 1\ndisk = 1\nvcpus = 1\nhourly = nan",
            "hourly of s",
        ),
        (
            "[[types]]\nid = 's'\nmemory = 1\ndisk = 1\nvcpus = 1\nmonthly = -0.5",
            "monthly of s",
        ),
        (
            "[[types]]\nid = 's'\nmemory = 1\ndisk = 1\nvcpus = 1\nregion_prices = [{ id = 'lab', hourly = inf, monthly = 1 }]",
            "region_prices of s",
        ),
        ("[[images]]\nid = 'i'\nsize = -5", "size of i"),
        ("[[images]]\nid = ''", "images: id"),
        ("listen = ", "garth.toml"),
    ] {
        let file = folder.write("garth.toml", lines);
        failures.extend(start_error(names, folder.serve().arg("--config").arg(file)));
    }
    let nowhere = start_error("nowhere.toml", folder.serve().args(["--config", "nowhere.toml"]));
    failures.extend(nowhere);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(!folder.data().exists(), "no store is created");
}

/// Returns an error message if the server starts, or if its output does not name the invalid setting.
fn start_error(name: &str, serve: &mut Command) -> Option<String> {
    let output = failed_start(serve);
    let is_named = output.stderr.replace('-', "_").contains(name);
    let refused = matches!(output.code, Some(1..)) && output.stdout.is_empty();
    (!refused || !is_named).then(|| format!("{name} is not named: {output:?}"))
}

/// The output of a start that should fail. A server that runs is killed.
fn failed_start(serve: &mut Command) -> ProcessOutput {
    let mut process = Process::spawn(serve);
    eventually("the start to fail", || {
        (!process.is_running() || !process.stdout().is_empty()).then_some(())
    });
    if process.is_running() {
        process.kill();
    }
    process.wait()
}
