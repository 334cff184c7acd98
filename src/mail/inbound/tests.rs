//! Parses the messages of `tests/mail/corpus`, as mail programs write them, and messages with random damage.

use std::fmt::Write;
use std::fs;

use proptest::prelude::*;

use super::*;
use crate::mail::damaged::{self, corpus};

const AUTHSERV_ID: &str = "mx.example.net";

/// The result of parsing, as text.
fn describe(mail: &ReceivedMail) -> String {
    let mut text = String::new();
    let sender = mail.sender.as_ref().map(|sender| {
        let verdict = if sender.is_verified {
            "verified"
        } else {
            "not verified"
        };
        format!("{} ({verdict})", sender.address)
    });
    let fields = [
        ("id", mail.message_id.clone()),
        ("sender", sender),
        ("subject", Some(mail.subject.clone())),
        ("automatic", mail.automatic.map(|kind| kind.word().to_owned())),
        (
            "bounce",
            mail.bounce.as_ref().map(|bounce| {
                let kind = if bounce.is_permanent {
                    "permanent"
                } else {
                    "temporary"
                };
                format!("{} ({kind})", bounce.recipient)
            }),
        ),
    ];
    for (name, value) in fields {
        if let Some(value) = value {
            writeln!(text, "{name}: {value}").expect("a text");
        }
    }
    for file in &mail.files {
        writeln!(text, "file: {} ({} bytes)", file.name, file.content.len()).expect("a text");
    }
    writeln!(text, "=== text\n{}\n=== folded\n{}", mail.text, mail.folded).expect("a text");
    text
}

/// Each message has a file with the expected result. With `GARTH_TEST_UPDATE=1`, the test writes these files instead.
#[test]
fn messages_of_common_mail_programs_have_the_expected_text() {
    let messages = corpus();
    assert!(messages.len() >= 40, "{} messages", messages.len());
    for path in messages {
        let raw = fs::read(&path).expect("a message");
        let parsed = parse(&raw, AUTHSERV_ID, None).expect("a readable message");
        let (expected, found) = (path.with_extension("expected"), describe(&parsed));
        if std::env::var_os("GARTH_TEST_UPDATE").is_some() {
            fs::write(&expected, &found).expect("a written file");
        }
        let expected = fs::read_to_string(&expected).expect("the expected result");
        assert_eq!(found, expected, "{}", path.display());
    }
}

#[test]
fn no_text_of_a_reply_is_lost() {
    for path in corpus() {
        let raw = fs::read(&path).expect("a message");
        let prepared = prepared::prepare(&raw).expect("a message");
        let message = MessageParser::default()
            .parse(prepared.as_ref())
            .expect("a message");
        let (text, _) = body_of(&message);
        let split = quotes::split(&text);
        let words = |text: &str| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            words.sort();
            words
        };
        let both = format!("{}\n{}", split.new, split.folded);
        assert_eq!(words(&both), words(&text), "{}", path.display());
    }
}

#[test]
fn unreadable_messages_are_refused() {
    assert_eq!(parse(b"", AUTHSERV_ID, None), Err(Unreadable::NoHeader));
    assert_eq!(parse(b"\r\n\r\nx", AUTHSERV_ID, None), Err(Unreadable::NoHeader));
    let large = vec![b'a'; MAX_MESSAGE_BYTES + 1];
    assert_eq!(parse(&large, AUTHSERV_ID, None), Err(Unreadable::TooLarge));
}

#[test]
fn the_text_of_a_broken_multipart_message_is_not_lost() {
    let text = |message: &str| {
        let raw = format!("From: a@example.com\nMIME-Version: 1.0\n{message}");
        let mail = parse(raw.as_bytes(), AUTHSERV_ID, None).expect("a message");
        (mail.text, mail.files.len())
    };
    let part = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n\
                Gr=C3=BC=C3=9Fe\n";
    let html = "Content-Type: text/html\n\n<p>Hello</p>\n";
    let file = "Content-Type: text/plain; name=a.txt\nContent-Disposition: attachment\n\nA file\n";
    let greeting = |files| ("Grüße".to_owned(), files);
    for kind in ["mixed", "alternative", "related"] {
        let head = format!("Content-Type: multipart/{kind}; boundary=\"b\"\n\n");
        assert_eq!(text(&format!("{head}--b\n{part}")), greeting(0), "{kind}");
    }
    let mixed = "Content-Type: multipart/mixed; boundary=b\n\n";
    assert_eq!(text(&format!("{mixed}--b\n{part}--b\n{file}")), greeting(1));
    let inner = "Content-Type: multipart/alternative; boundary=c\n\n";
    let nested = format!("{mixed}--b\n{inner}--c\n{part}--c\n{html}");
    assert_eq!(text(&nested), greeting(0));

    // The parser finds no part, or the boundary is in an unusual notation.
    for parameter in ["", "; boundary=\"\"", "; boundary=", "; boundary=missing"] {
        let (found, files) = text(&format!("Content-Type: multipart/mixed{parameter}\n\nHello\n"));
        assert_eq!((found.as_str(), files), ("Hello", 0), "{parameter}");
    }
    let unusual =
        "Content-Type: multipart/mixed; boundary*0=\"b\"\n\n--b\nContent-Type: text/plain\n\nHello\n";
    assert_eq!(text(unusual), ("Hello".to_owned(), 0));
}

#[test]
fn only_the_header_of_a_message_without_effect_is_parsed() {
    let message = |headers: &str| {
        let raw = format!("From: a@example.com\nMessage-ID: <1@example.com>\n{headers}\nHello\n");
        parse_effective(raw.as_bytes(), AUTHSERV_ID, None).expect("a message")
    };
    let stranger = message("");
    assert_eq!(
        (stranger.text.as_str(), stranger.message_id.as_deref()),
        ("", Some("1@example.com"))
    );
    let verified = format!("Authentication-Results: {AUTHSERV_ID}; dmarc=pass header.from=example.com\n");
    assert_eq!(message(&verified).text, "Hello");
    assert_eq!(message("Return-Path: <>\n").text, "Hello");
    let raw = fs::read(corpus()[0].with_file_name("bounce-postfix.eml")).expect("a message");
    let report = parse_effective(&raw, "", None).expect("a message");
    assert!(report.bounce.is_some(), "{report:?}");
}

/// Messages of the maximum size that would take hours, or a deep stack, if the time were not linear. The test fails by
/// its duration or by a stack overflow.
#[test]
fn hostile_messages_take_linear_time() {
    let size = 1024 * 1024;
    let fill = |unit: &str| unit.repeat(size / unit.len());
    let head = "From: a@example.com\nMIME-Version: 1.0\n";
    for (name, message) in [
        ("nested messages", fill("Content-Type: message/rfc822\n\n")),
        (
            "nested digests",
            fill("Content-Type: multipart/digest; boundary=b\n\n--b\n\n"),
        ),
        (
            "nested multiparts",
            (0..20_000)
                .map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n"))
                .collect(),
        ),
        (
            "many parts",
            format!(
                "Content-Type: multipart/mixed; boundary=b\n\n{}",
                fill("--b\n\nx\n")
            ),
        ),
        ("many fields", fill("Received: from a by b; now\n")),
        (
            "open tags",
            format!("Content-Type: text/html\n\n{}", fill("<a href=\"x")),
        ),
        (
            "open quotes",
            format!("Content-Type: text/html\n\n{}", fill("<a b=\"><")),
        ),
        ("comments", format!("Content-Type: text/html\n\n{}", fill("<!--"))),
        (
            "styles",
            format!("Content-Type: text/html\n\n{}", fill("<style></styl")),
        ),
        (
            "attributes",
            format!("Content-Type: text/html\n\n<a {}>", fill("hrefhref ")),
        ),
        (
            "deep quotes",
            format!("Content-Type: text/html\n\n{}x", fill("<blockquote>")),
        ),
        (
            "references",
            format!("Content-Type: text/html\n\n{}", fill("&amp")),
        ),
        ("quoted lines", format!("\n{}", fill(">\n"))),
        ("introductions", format!("\n{}", fill("On 1 a@b wrote:\n\n"))),
        ("separators", format!("\n{}", fill("____________________\n"))),
        ("signatures", format!("\n{}", fill("-- \n"))),
        (
            "comments in a result",
            format!("Authentication-Results: mx.example.net; {}\n\n", fill("(\\\"")),
        ),
        (
            "encoded words",
            format!("Subject: {}\n\n", fill("=?utf-8?Q?x?= ")),
        ),
        ("addresses", format!("To: {}\n\n", fill("<<,\""))),
    ] {
        let raw = format!("{head}{message}");
        // Either result is right; what matters is that there is one.
        let parsed = parse(raw.as_bytes(), AUTHSERV_ID, None);
        assert!(parsed.is_ok() || parsed == Err(Unreadable::TooComplex), "{name}");
    }
}

#[test]
fn damaged_messages_do_not_panic() {
    let result = damaged::runner().run(&damaged::damaged_message(), |raw| {
        if let Ok(mail) = parse(&raw, AUTHSERV_ID, None) {
            prop_assert!(
                mail.text
                    .chars()
                    .all(|c| !c.is_control() || matches!(c, '\n' | '\t'))
            );
            prop_assert!(mail.subject.chars().all(|c| !c.is_control()));
        }
        Ok(())
    });
    result.expect("no panic");
}
