//! `garth desk` and `garth entity`, with a running server.

use serde_json::json;

use crate::harness::Folder;
use crate::process::Process;

#[test]
fn staff_handle_a_ticket_on_the_command_line() {
    let folder = Folder::new("desk");
    let server = folder.start();
    let mut customer = server.client();
    let body = json!({"summary": "No route", "description": "Since noon.", "domain_id": 7});
    customer.post("/v4/support/tickets", body).ok();
    folder.run("user create --staff --username sam --email sam@desk.example");
    folder.run("user create --staff --username pat --email pat@desk.example");
    let output = folder.run("entity set --account 1 --type domain --id 7 --label example.com");
    assert_eq!(
        output,
        "set the label of domain 7 (account 1) to \"example.com\"\n"
    );
    assert_eq!(folder.json("entity list")[0]["label"], "example.com");
    folder.run("entity set --account 1 --type volume --id 3 --label old");
    let deleted = folder.run("entity delete --account 1 --type volume --id 3");
    assert_eq!(deleted, "deleted volume 3 (account 1)\n");
    assert_eq!(
        folder.json("entity list").as_array().map(Vec::len),
        Some(1),
        "the other entity remains"
    );

    let queue = folder.run("desk queue");
    for word in ["No route", "new", "normal", "domain example.com"] {
        assert!(queue.contains(word), "{queue}");
    }
    assert_eq!(folder.json("desk queue --unclaimed")[0]["id"], 1);
    assert_eq!(folder.run("desk claim 1 --as sam"), "claimed ticket 1\n");
    assert_eq!(
        folder.json("desk queue --claimed-by sam --search route")[0]["claimed_by"],
        "sam"
    );
    assert_eq!(folder.json("desk queue --unclaimed"), json!([]));
    assert_eq!(
        folder.json("desk claim 1 --take-over --as pat")["claimed_by"],
        "pat"
    );
    let tagged = folder.run("desk tag 1 Network rack-4 --as pat");
    assert_eq!(tagged, "set the tags of ticket 1: network, rack-4\n");
    assert!(folder.run("desk queue --tag NETWORK").contains("network, rack-4"));
    assert_eq!(folder.json("desk queue --tag billing"), json!([]));
    let saved = folder.run("desk view save Mine claim=mine tag=network --shared --as pat");
    assert_eq!(saved, "saved view 1 (Mine)\n");
    assert!(
        folder
            .run("desk view list --as sam")
            .contains("claim=mine tag=network")
    );
    assert_eq!(folder.run("desk view delete 1 --as sam"), "deleted view 1\n");
    assert_eq!(folder.json("desk report")["tags"][1]["tag"], "rack-4");
    assert!(folder.run("desk report").contains("tag network"));
    let (trace, program) = (
        folder.write("trace.txt", "no carrier"),
        folder.write("a.exe", "MZ"),
    );
    let attach = |files: &[&std::path::Path]| {
        let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
        let command = format!("desk attach 1 {} --as pat", files.join(" "));
        Process::spawn(&mut folder.garth_with_files(&command)).wait()
    };
    let refused = attach(&[&trace, &program]);
    assert!(
        refused.code != Some(0) && refused.stderr.contains("a.exe"),
        "{refused:?}"
    );
    assert!(!folder.run("desk show 1").contains("trace.txt"));
    let attached = attach(&[&trace]);
    assert!(attached.stdout.ends_with(" to ticket 1\n"), "{attached:?}");
    folder.run("desk note 1 Suspicious --as pat");
    let answer = folder.write("answer.txt", "Please try again.\nThank you.\n");
    folder.run(&format!("desk reply 1 --file {} --as pat", answer.display()));
    assert_eq!(folder.run("desk close 1 --as pat"), "closed ticket 1\n");
    assert_eq!(folder.json("desk queue"), json!([]));
    assert_eq!(folder.json("desk queue --status closed")[0]["status"], "closed");

    let shown = folder.run("desk show 1");
    for line in [
        "#1 No route",
        "sam claimed the ticket",
        "pat claimed the ticket from sam",
        "pat added an internal note:\n    Suspicious",
        "pat set the tags to network, rack-4",
        "pat attached trace.txt",
        "tags: network, rack-4",
        "pat (staff) replied:\n    Please try again.\n    Thank you.",
        "pat closed the ticket",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert_eq!(folder.json("desk show 1")["ticket"]["notes"], 1);
    let replies = customer.get("/v4/support/tickets/1/replies").ok();
    assert_eq!(replies["data"][0]["description"], "Please try again.\nThank you.");
    assert_eq!(replies["data"][0]["created_by"], "Support");
    assert_eq!(folder.run("desk reopen 1 --as sam"), "reopened ticket 1\n");
    let body = json!({"summary": "Still no route", "description": "Since noon."});
    customer.post("/v4/support/tickets", body).ok();
    assert_eq!(
        folder.run("desk merge 2 1 --as sam"),
        "merged ticket 2 into ticket 1\n"
    );
    assert!(
        folder
            .run("desk show 2")
            .contains("sam merged the ticket into ticket 1")
    );
    folder.assert_sound();
    assert_eq!(
        folder.run("desk tag 1 --as sam"),
        "removed all tags of ticket 1\n"
    );
}

#[test]
fn failed_desk_command_prints_the_reason() {
    let folder = Folder::new("desk-refusals");
    let server = folder.start();
    let body = json!({"summary": "Help", "description": "Please."});
    server.client().post("/v4/support/tickets", body).ok();
    folder.run("user create --staff --username sam --email sam@desk.example");
    for (arguments, expected) in [
        ("desk claim 1", "--as USERNAME"),
        ("desk claim 1 --as admin", "not a member of the staff"),
        ("desk claim 1 --as missing", "user missing: not found"),
        ("desk claim 9 --as sam", "ticket 9: not found"),
        ("desk release 1 --as sam", "This ticket is not assigned"),
        ("desk reply 1 --as sam", "TEXT: Must be 1 to 65535 characters"),
        ("desk reply 1 --canned 4 --as sam", "Canned reply not found"),
        (
            "entity set --account 1 --type vpc --id 1 --label x",
            "Must be one of database",
        ),
        (
            "entity delete --account 1 --type volume --id 3",
            "volume 3 (account 1)",
        ),
        (
            "entity set --account 9 --type domain --id 1 --label x",
            "account 9: not found",
        ),
    ] {
        let output = Process::spawn(&mut folder.garth(arguments)).wait();
        assert!(
            output.code != Some(0) && output.stderr.contains(expected),
            "{arguments}: {output:?}"
        );
    }
}

#[test]
fn desk_settings_apply_to_server_and_commands() {
    let folder = Folder::new("desk-settings");
    let mut serve = folder.serve();
    serve
        .env("GARTH_DESK_REOPEN", "3")
        .env("GARTH_DESK_RESOLUTION_MINUTES", "normal=60")
        .env("GARTH_PROVIDER_NAME", "Acme");
    serve.env("GARTH_ATTACHMENTS_MAX_BYTES", "10");
    let server = crate::harness::Server::start(&mut serve);
    let limits = server.client().get("/v4/support/limits").ok();
    assert_eq!(
        (&limits["reopen_days"], &limits["attachment_max_bytes"]),
        (&json!(3), &json!(10))
    );
    let body = json!({"summary": "Help", "description": "Please."});
    server.client().post("/v4/support/tickets", body).ok();
    folder.run("user create --staff --username sam --email sam@desk.example");
    let mut queue = folder.garth("desk queue --by-time-left");
    queue.env("GARTH_DESK_RESOLUTION_MINUTES", "normal=150,urgent=5");
    let output = Process::spawn(&mut queue).wait();
    assert!(output.stdout.contains(" 2h "), "{output:?}");
    let mut show = folder.garth("desk show 1");
    show.env("GARTH_DESK_FIRST_RESPONSE_MINUTES", "normal=90");
    let output = Process::spawn(&mut show).wait();
    assert!(
        output.stdout.contains("first response: 1h left, due 2"),
        "{output:?}"
    );
    let mut wrong = folder.garth("desk queue");
    wrong.env("GARTH_DESK_FIRST_RESPONSE_MINUTES", "asap=1");
    let output = Process::spawn(&mut wrong).wait();
    assert!(
        output.stderr.contains("must be minutes from 1 to 525600"),
        "{output:?}"
    );
    let mut reply = folder.garth("desk reply 1 Yes --as sam --json");
    reply.env("GARTH_PROVIDER_NAME", "Acme");
    let output = Process::spawn(&mut reply).wait();
    assert!(output.stdout.contains("\"created_by\": \"Acme\""), "{output:?}");
}
