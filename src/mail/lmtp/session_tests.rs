//! Sessions with random bytes: no panic, and one result for each message. Messages arrive as they were sent.

use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;

use super::session::{Action, RecipientVerdict, Session};
use crate::mail::damaged;

/// The commands before a message.
const ENVELOPE: &[u8] = b"LHLO x\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n";

/// Parts of sessions, valid and invalid.
fn part() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::sample::select(vec![
        &b"LHLO mx.example.net\r\n"[..],
        b"MAIL FROM:<ada@example.com> SIZE=100 BODY=8BITMIME SMTPUTF8\r\n",
        b"MAIL FROM:<>\r\n",
        b"MAIL FROM:<a@b> SIZE=99999999999999999999\r\n",
        b"RCPT TO:<support@desk.example.net>\r\n",
        b"RCPT TO:<@a,@b:\"x y\"@c> ORCPT=rfc822;x\r\n",
        b"DATA\r\n",
        b"Subject: x\r\n\r\ntext\r\n",
        b".\r\n",
        b"..\r\n",
        b"\r\n.\r\n",
        b"\n.\n",
        b"\r.\r\n",
        b"RSET\r\n",
        b"NOOP\r\n",
        b"VRFY x\r\n",
        b"QUIT\r\n",
        b"BDAT 5 LAST\r\n",
        b"AUTH PLAIN =\r\n",
        b"RCPT TO:<",
        b"MAIL FROM:",
        b"\r",
        b"\n",
        b"\0",
        b"\xff\xfe",
        b" ",
        b">",
        b"=",
    ]);
    prop_oneof![
        6 => words.prop_map(<[u8]>::to_vec),
        2 => prop::collection::vec(any::<u8>(), 0..16),
        1 => (any::<u8>(), 0..5000_usize).prop_map(|(byte, length)| vec![byte; length]),
    ]
}

#[test]
fn damaged_sessions_do_not_panic() {
    let delivered = AtomicU64::new(0);
    let random = prop::collection::vec((part(), 0..3_u8), 1..24);
    let parts = (any::<bool>(), random).prop_map(|(starts_with_data, random)| {
        let start = starts_with_data.then(|| (ENVELOPE.to_vec(), 0));
        start.into_iter().chain(random).collect::<Vec<_>>()
    });
    let result = damaged::runner().run(&parts, |parts| {
        delivered.fetch_add(run(&parts)?, Ordering::Relaxed);
        Ok(())
    });
    result.expect("no panic");
    // Half of the sessions start with an envelope and DATA, so that some of them deliver a message.
    assert!(delivered.into_inner() > 0);
}

/// Runs a session. Returns the number of its messages.
fn run(parts: &[(Vec<u8>, u8)]) -> Result<u64, TestCaseError> {
    let mut session = Session::default();
    let mut messages = 0;
    let mut accepted = 0;
    for (bytes, verdict) in parts {
        session.push(bytes);
        while let Some(action) = session.next_action() {
            match action {
                Action::CheckRecipient(_) => {
                    let reply = session.answer_recipient(match verdict {
                        0 => RecipientVerdict::Accepted,
                        1 => RecipientVerdict::Unknown,
                        _ => RecipientVerdict::Unavailable,
                    });
                    prop_assert_eq!(reply.code == 250, *verdict == 0);
                    accepted += u64::from(*verdict == 0);
                }
                Action::Deliver(envelope) => {
                    prop_assert!((1..=accepted).contains(&(envelope.recipients.len() as u64)));
                    prop_assert!(!session.is_receiving());
                    messages += 1;
                }
                Action::Send(reply) | Action::Refuse(reply, _) => {
                    prop_assert!((200..560).contains(&reply.code));
                }
                Action::Close(_) => return Ok(messages),
                Action::SendExtensions => {}
            }
        }
    }
    Ok(messages)
}

#[test]
fn damaged_messages_arrive_as_they_were_sent() {
    let inputs = (damaged::damaged_message(), 1..4000_usize);
    let result = damaged::runner().run(&inputs, |(mut message, length)| {
        if !message.ends_with(b"\r\n") {
            message.extend_from_slice(b"\r\n");
        }
        let mut sent = ENVELOPE.to_vec();
        sent.extend(with_dots(&message));
        sent.extend_from_slice(b".\r\nNOOP\r\n");
        prop_assert_eq!(received(&sent, length)?, message);
        Ok(())
    });
    result.expect("no panic");
}

/// The text of a message as a client sends it: with one more dot in each line that starts with a dot.
fn with_dots(message: &[u8]) -> Vec<u8> {
    let mut sent = Vec::with_capacity(message.len());
    for (index, byte) in message.iter().enumerate() {
        let is_line_start = message[..index].ends_with(b"\r\n") || index == 0;
        if is_line_start && *byte == b'.' {
            sent.push(b'.');
        }
        sent.push(*byte);
    }
    sent
}

/// The only message of a session, which arrives in parts of a length.
fn received(sent: &[u8], length: usize) -> Result<Vec<u8>, TestCaseError> {
    let mut session = Session::default();
    let mut messages = Vec::new();
    let mut replies = Vec::new();
    for part in sent.chunks(length) {
        session.push(part);
        while let Some(action) = session.next_action() {
            match action {
                Action::CheckRecipient(_) => {
                    session.answer_recipient(RecipientVerdict::Accepted);
                }
                Action::Deliver(envelope) => messages.push(envelope.message),
                Action::Send(reply) => replies.push(reply.code),
                _ => {}
            }
        }
    }
    // MAIL, DATA and NOOP. LHLO and RCPT have other actions.
    prop_assert_eq!(replies, [250, 354, 250]);
    prop_assert_eq!(messages.len(), 1);
    Ok(messages.remove(0))
}
