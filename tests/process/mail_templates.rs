//! The commands for the texts of mails, next to a running server, and in an archive.

use serde_json::{Value, json};

use crate::harness::Folder;
use crate::process::Process;

#[test]
fn commands_set_the_texts_of_mails_and_an_archive_preserves_them() {
    let folder = Folder::new("mail-templates");
    let _server = folder.start();
    assert_eq!(folder.json("mail templates")["signature"], Value::Null);
    let signature = folder.write("signature.txt", "Harbor Lane Ltd\nSupport\n");
    let closing = folder.write("closing.txt", "About #{{ticket.id}}");
    let unknown = folder.write("unknown.txt", "{{ticket}}");

    let set = folder.json(&format!("mail set-template signature {}", signature.display()));

    assert_eq!(set["signature"], "Harbor Lane Ltd\nSupport");
    folder.json(&format!("mail set-template reply.closing {}", closing.display()));
    let text = folder.run("mail templates");
    assert!(
        text.contains("reply.closing\n    About #{{ticket.id}}\n"),
        "{text}"
    );
    assert!(
        text.contains("reply.introduction (default)\n    {{author.name}}"),
        "{text}"
    );
    for (arguments, expected) in [
        (
            format!("mail set-template reply {}", closing.display()),
            "MAIL.introduction",
        ),
        (
            format!("mail set-template reset.closing {}", unknown.display()),
            "recipient.username",
        ),
        ("mail set-template signature".to_owned(), "required"),
        (
            "mail set-template signature missing.txt".to_owned(),
            "cannot read",
        ),
    ] {
        let failed = Process::spawn(&mut folder.garth(&arguments)).wait();
        assert_ne!(failed.code, Some(0), "{arguments}");
        assert!(failed.stderr.contains(expected), "{arguments}: {}", failed.stderr);
    }
    let queue = json!({"queued": 0, "failed": 0, "oldest_queued": null});
    assert_eq!(folder.json("mail queue"), queue);
    let before = folder.json("mail templates");
    let archive = folder.path("archive.garth");
    folder.run(&format!("backup {}", archive.display()));
    let restored = folder.json("mail set-template signature --default");
    assert_eq!(restored["signature"], Value::Null);
    let copy = Folder::new("mail-templates-restored");
    copy.run(&format!("restore {}", archive.display()));
    assert_eq!(copy.json("mail templates"), before);
}
