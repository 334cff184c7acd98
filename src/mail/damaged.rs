//! Messages of `tests/mail/corpus` with random damage, for tests.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// The number of inputs of each test in each run; `GARTH_TEST_MAILS` sets another.
const INPUTS: u32 = 3000;

/// The messages of the corpus, in the order of their names.
pub fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mail/corpus");
    let files = fs::read_dir(folder)
        .expect("the corpus")
        .flatten()
        .map(|entry| entry.path());
    let mut messages: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|ext| ext == "eml"))
        .collect();
    messages.sort();
    messages
}

/// Runs a property on many inputs. `tests/mail/fuzz` sets their number.
pub fn runner() -> TestRunner {
    let inputs = std::env::var("GARTH_TEST_MAILS").ok();
    let inputs = inputs.map(|count| count.parse().expect("a number of inputs"));
    TestRunner::new(Config {
        cases: inputs.unwrap_or(INPUTS),
        failure_persistence: None,
        ..Config::default()
    })
}

/// A message of the corpus with some changes.
pub fn damaged_message() -> impl Strategy<Value = Vec<u8>> {
    let paths = corpus();
    let messages = paths.iter().map(|path| fs::read(path).expect("a message"));
    let messages: Vec<Vec<u8>> = messages.collect();
    (prop::sample::select(messages), changes()).prop_map(|(mut raw, changes)| {
        for (index, removed, inserted) in changes {
            let at = index.index(raw.len() + 1);
            let end = raw.len().min(at + removed);
            raw.splice(at..end, inserted);
        }
        raw
    })
}

/// Changes to a message: where, how many bytes to remove, what to insert.
fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, Vec<u8>)>> {
    let words = prop::sample::select(vec![
        &b"\r\n"[..],
        b"\n\n",
        b"\r\n.\r\n",
        b"\n.\n",
        b"\r\n..",
        b"--",
        b"Content-Type: ",
        b"multipart/mixed; boundary=",
        b"message/rfc822",
        b"\0",
        b"\xff\xfe",
        b"=?utf-8?B?",
        b"?=",
        b"base64\n\n",
        b"charset=",
        b"<blockquote>",
        b"&#x110000;",
        b"> ",
        b"\"",
        b"(",
        b"=",
        b"=\n",
        b"*0*=utf-8''%",
        b";",
        b"\xe2\x80",
        b"quoted-printable",
        b"format=flowed",
    ]);
    let inserted = prop_oneof![
        words.prop_map(<[u8]>::to_vec),
        prop::collection::vec(any::<u8>(), 0..8)
    ];
    prop::collection::vec((any::<prop::sample::Index>(), 0_usize..40, inserted), 1..12)
}
