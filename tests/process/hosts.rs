//! Commands for hosts, traces and agents: their texts and exit codes.

use std::net::TcpListener;
use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, CertifiedKey, IsCa, KeyPair, generate_simple_self_signed};
use serde_json::json;

use crate::client::Client;
use crate::harness::{Folder, Server};
use crate::process::{Process, ProcessOutput};

fn run(folder: &Folder, line: &str) -> ProcessOutput {
    Process::spawn(&mut folder.garth(line)).wait()
}

/// A running instance with an interface in a new VPC.
fn create_instance(client: &mut Client) {
    let subnets = json!([{"label": "a", "ipv4": "10.0.0.0/24"}]);
    let vpc = json!({"label": "core", "region": "us-east", "subnets": subnets});
    let vpc = client.post("/v4/vpcs", vpc).ok();
    let interface = json!({"purpose": "vpc", "subnet_id": vpc["subnets"][0]["id"]});
    let instance =
        json!({"type": "g6-nanode-1", "region": "us-east", "booted": true, "interfaces": [interface]});
    client.post("/v4/linode/instances", instance).ok();
}

#[test]
fn a_trace_has_an_exit_code_for_each_outcome() {
    let folder = Folder::new("trace");
    let server = folder.start();
    let mut client = server.client();
    create_instance(&mut client);

    let dropped = run(&folder, "trace 1 10.0.0.9");
    assert_eq!(dropped.code, Some(1), "{dropped:?}");
    assert!(dropped.stdout.contains("(no_port)"), "{dropped:?}");
    for (line, expected) in [
        ("trace 77 10.0.0.9", "instance 77"),
        ("trace 1 224.0.0.1", "address"),
        ("trace 1 10.0.0", "invalid IP address"),
    ] {
        let failed = run(&folder, line);
        assert_eq!(failed.code, Some(2), "{line}: {failed:?}");
        assert!(failed.stderr.contains(expected), "{line}: {failed:?}");
    }
    let help = run(&folder, "trace --help").stdout;
    assert!(help.contains("Exit code 0") && help.contains("2:"), "{help}");
}

#[test]
fn a_host_can_be_renamed_and_says_why_it_cannot_be_drained() {
    let folder = Folder::new("hosts");
    let server = folder.start();
    let mut client = server.client();
    let token = folder.run("host add rack-1 --region us-east --underlay 172.31.0.1");
    let renamed = folder.json("host set rack-1 --label rack-9");
    assert_eq!(
        (&renamed["label"], &renamed["underlay_address"]),
        (&json!("rack-9"), &json!("172.31.0.1"))
    );
    let nothing = run(&folder, "host drain rack-9");
    assert_eq!(
        (nothing.code, nothing.stderr.as_str()),
        (Some(0), ""),
        "there is nothing to move"
    );
    assert!(nothing.stdout.contains("draining, new"), "{nothing:?}");
    folder.run("host undrain rack-9");
    let unchanged = run(&folder, "host set rack-9");
    assert_eq!(unchanged.code, Some(2), "{unchanged:?}");
    assert!(unchanged.stderr.contains("--instances"), "{unchanged:?}");

    let join = json!({"protocol": 1, "token": token.trim_end(), "agent_version": "0.2.0"});
    let joined = client.post("/v4/agent/join", join).ok();
    let mut agent = server.client_with(joined["credential"].as_str().expect("a credential"));
    let report = json!({"protocol": 1, "applied_revision": 1, "agent_version": "0.2.0"});
    agent.post("/v4/agent/status", report).ok();
    create_instance(&mut client);
    let draining = run(&folder, "host drain rack-9 --no-wait");
    assert!(
        draining.stderr.starts_with("us-east has no other host."),
        "{draining:?}"
    );
    assert!(draining.stderr.contains("continue to run"), "{draining:?}");
    assert!(
        draining.stdout.contains(": draining, 1 of 100 instances"),
        "{draining:?}"
    );
    let revoked = run(&folder, "host join-token rack-9 --revoke");
    assert!(
        revoked.stderr.contains("the credential of rack-9 is revoked"),
        "{revoked:?}"
    );
    let offline = run(&folder, "host drain rack-9 --no-wait");
    assert!(offline.stderr.contains("which does not report"), "{offline:?}");
    let shown = folder.run("host show rack-9");
    assert!(
        shown.contains("no instance can move: us-east has no other host"),
        "{shown}"
    );
    assert_eq!(
        folder.json("host show rack-9")["drain_obstacle"],
        "us-east has no other host"
    );
    assert!(
        shown.contains(": draining, offline, credential revoked, "),
        "{shown}"
    );
    let listed = folder.run("host list");
    assert!(
        listed.contains("draining, offline, credential revoked"),
        "{listed}"
    );
    assert_eq!(folder.json("host show rack-9")["agent_status"], "revoked");
}

#[test]
fn a_join_that_fails_says_what_to_do() {
    let folder = Folder::new("join");
    let join = |server: &str, more: &str| {
        let state = folder.path("agent");
        let line = format!(
            "agent join --server {server} --token x --state {} {more}",
            state.display()
        );
        let refused = run(&folder, line.trim_end());
        assert_eq!(refused.code, Some(1), "{refused:?}");
        refused.stderr
    };
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = free.local_addr().expect("an address");
    drop(free);
    let refused = join(&format!("http://{address}"), "");
    assert!(
        refused.contains(&address.to_string()) && refused.contains("refused"),
        "{refused}"
    );

    let names = vec!["localhost".to_owned()];
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(names.clone()).expect("a certificate");
    let chain = folder.write("server.pem", &cert.pem());
    let key = folder.write("server.key", &signing_key.serialize_pem());
    let mut serve = folder.serve();
    serve.arg("--tls-cert").arg(&chain).arg("--tls-key").arg(&key);
    let server = Server::start(&mut serve);
    let url = format!("https://localhost:{}/v4/", server.address.port());
    let unknown = join(&url, "");
    assert!(unknown.contains("--certificate FILE"), "{unknown}");
    let other = generate_simple_self_signed(names).expect("a certificate");
    let other = folder.write("other.pem", &other.cert.pem());
    let wrong = join(&url, &format!("--certificate {}", other.display()));
    assert!(wrong.contains("the file of --certificate"), "{wrong}");
    let plain = join(&format!("http://localhost:{}", server.address.port()), "");
    assert!(plain.contains("use https://localhost"), "{plain}");
    let missing = join(
        &format!("{url}other"),
        &format!("--certificate {}", chain.display()),
    );
    assert!(missing.contains("check the URL"), "{missing}");
    // The URL of the API is accepted: the server responds to the join.
    let token = join(&url, &format!("--certificate {}", chain.display()));
    assert!(token.contains("the token is not valid"), "{token}");
}

#[test]
fn a_join_says_that_a_server_has_no_tls_or_the_certificate_of_an_authority() {
    let folder = Folder::new("join-tls");
    let join = |url: &str, certificate: &Path| {
        let (state, certificate) = (folder.path("agent"), certificate.display());
        let line = format!(
            "agent join --server {url} --token x --certificate {certificate} --state {}",
            state.display()
        );
        let refused = run(&folder, &line);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        refused.stderr
    };
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).expect("parameters");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let authority = params.self_signed(&key).expect("a certificate");
    let chain = folder.write("authority.pem", &authority.pem());
    let key = folder.write("authority.key", &key.serialize_pem());
    let mut serve = folder.serve();
    serve.arg("--tls-cert").arg(&chain).arg("--tls-key").arg(&key);
    let server = Server::start(&mut serve);
    let refused = join(&format!("https://localhost:{}", server.address.port()), &chain);
    assert!(refused.contains("(CA:TRUE)"), "{refused}");
    drop(server);
    let server = folder.start();
    let refused = join(&format!("https://{}", server.address), &chain);
    assert!(refused.contains("does not respond with TLS"), "{refused}");
}

#[test]
fn a_folder_joins_another_server_only_with_replace_and_forgets_the_desired_state() {
    let folder = Folder::new("join-again");
    let server = folder.start();
    std::fs::create_dir(folder.path("agent")).expect("a folder");
    folder.write("agent/desired.json", "{}");
    folder.write(
        "agent/credential.json",
        r#"{"server": "https://other.example", "host_id": 1, "label": "rack-7", "credential": "x"}"#,
    );
    let token = folder.run("host add rack-1 --region us-east --underlay 172.31.0.1");
    let line = format!(
        "agent join --server http://{} --token {} --state {}",
        server.address,
        token.trim_end(),
        folder.path("agent").display()
    );
    let refused = run(&folder, &line);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("that of host 1 (rack-7) of https://other.example"),
        "{refused:?}"
    );
    assert!(folder.path("agent/desired.json").exists());
    let joined = run(&folder, &format!("{line} --replace"));
    assert_eq!(joined.code, Some(0), "the token remains valid: {joined:?}");
    assert!(
        joined
            .stderr
            .contains("that of host 1 (rack-7) of https://other.example"),
        "{joined:?}"
    );
    assert!(!folder.path("agent/desired.json").exists());

    // The token of another host is refused, and not consumed.
    let other = folder.run("host add rack-2 --region us-east --underlay 172.31.0.2");
    let line = format!(
        "agent join --server http://{}/v4 --token {} --state {}",
        server.address,
        other.trim_end(),
        folder.path("agent").display()
    );
    let refused = run(&folder, &line);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("that of another host"), "{refused:?}");
    let replaced = run(&folder, &format!("{line} --replace"));
    assert_eq!(replaced.code, Some(0), "{replaced:?}");
    assert!(
        replaced.stderr.contains("that of host 1 (rack-1)"),
        "{replaced:?}"
    );
    let again = folder.run("host join-token rack-2");
    let line = line.replace(other.trim_end(), again.trim_end());
    let same = run(&folder, &line.replace("/v4 ", " "));
    assert_eq!(
        (same.code, same.stderr.as_str()),
        (Some(0), ""),
        "the same host of the same server"
    );
}

#[test]
fn the_status_of_an_agent_has_the_problem_of_the_server() {
    let folder = Folder::new("agent-status");
    let state = folder.path("agent");
    std::fs::create_dir(&state).expect("a folder");
    let line = format!("agent status --state {}", state.display());
    let none = run(&folder, &line);
    assert_eq!(none.code, Some(1));
    assert!(none.stderr.contains("no pass has ended yet"), "{none:?}");
    folder.write("agent/status.json", r#"{"protocol": 1, "ports": []}"#);
    let status = run(&folder, &line).stdout;
    assert!(
        status.ends_with("}\n") && !status.contains("server_problem"),
        "{status}"
    );
    folder.write("agent/server-problem.json", r#""the server refuses it""#);
    let status: serde_json::Value = serde_json::from_str(&run(&folder, &line).stdout).expect("JSON");
    assert_eq!(
        status,
        json!({"protocol": 1, "ports": [], "server_problem": "the server refuses it"})
    );
}
