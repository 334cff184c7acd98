//! The file format: JSON Lines. The first line has the version of the format, and each other line one exchange.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version that this build writes and reads.
const VERSION: u32 = 1;
/// A recording can contain personal data.
const FILE_MODE: u32 = 0o600;

#[derive(Serialize, Deserialize)]
struct FirstLine {
    garth_recording: u32,
    /// The URL of the recorded service.
    upstream: String,
}

/// A request and its response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// The position in the order in which the exchanges were completed, from 1.
    pub sequence: u64,
    pub request: RecordedRequest,
    /// `None` if the service did not respond.
    pub response: Option<RecordedResponse>,
    /// Why there is no response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedRequest {
    pub method: String,
    /// The path from the version of the API on, such as `/v4/vpcs`.
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    pub headers: BTreeMap<String, String>,
    pub body: Option<RecordedBody>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedResponse {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub body: Option<RecordedBody>,
    /// The connection ended before the body.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incomplete: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedBody {
    Json(Value),
    Form(Vec<(String, String)>),
    Multipart(Vec<Part>),
    Text(String),
    /// A body that is not text, or is too long.
    Bytes {
        size: u64,
        sha256: String,
    },
    EventStream,
}

/// A part of a multipart body: a file, or the value of a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
    /// The size of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The SHA-256 of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The value of a field that is not a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// Creates the file of a recording, readable only for its owner.
pub fn create_file(path: &Path, replace: bool) -> anyhow::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).mode(FILE_MODE);
    match replace {
        true => options.create(true).truncate(true),
        false => options.create_new(true),
    };
    let opened = options.open(path);
    if opened
        .as_ref()
        .is_err_and(|cause| cause.kind() == std::io::ErrorKind::AlreadyExists)
    {
        anyhow::bail!(
            "{} exists: choose another file, or replace it with --force",
            path.display()
        );
    }
    let file = opened.with_context(|| format!("cannot create {}", path.display()))?;
    // A file that is replaced can have another mode.
    file.set_permissions(Permissions::from_mode(FILE_MODE))?;
    Ok(file)
}

/// Writes the first line.
pub fn write_start(file: &mut File, upstream: &str) -> anyhow::Result<()> {
    let first = FirstLine {
        garth_recording: VERSION,
        upstream: upstream.to_owned(),
    };
    write_line(file, &first)
}

/// Writes an exchange.
pub fn write_exchange(file: &mut File, exchange: &Exchange) -> anyhow::Result<()> {
    write_line(file, exchange)
}

/// Writes a line with one call, so that a process that is killed leaves complete lines.
fn write_line(file: &mut File, value: &impl Serialize) -> anyhow::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    file.write_all(&line).context("cannot write the recording")
}

/// The exchanges of a file.
pub struct Recording {
    pub exchanges: Vec<Exchange>,
}

impl Recording {
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
        let mut lines = BufReader::new(file);
        let mut next_line = || {
            let mut line = String::new();
            let read = lines.read_line(&mut line);
            let length = read.with_context(|| format!("cannot read {shown}"))?;
            anyhow::Ok((length > 0).then_some(line))
        };
        let first: FirstLine = serde_json::from_str(&next_line()?.unwrap_or_default())
            .with_context(|| format!("{shown} is not a recording of `garth record`: line 1"))?;
        ensure!(
            first.garth_recording == VERSION,
            "{shown} has version {} of the format, this build reads version {VERSION}",
            first.garth_recording
        );
        let mut exchanges = Vec::new();
        let mut number = 1;
        while let Some(line) = next_line()? {
            number += 1;
            if line.trim().is_empty() {
                continue;
            }
            // The end of the line would be part of the position of an error.
            let exchange = serde_json::from_str(line.trim_end());
            exchanges.push(exchange.map_err(|cause| describe(&shown, number, &line, &cause))?);
        }
        Ok(Self { exchanges })
    }
}

/// The error of a line. The parser counts the lines of the exchange, which are always 1.
fn describe(
    file: &impl std::fmt::Display,
    number: usize,
    line: &str,
    cause: &serde_json::Error,
) -> anyhow::Error {
    if cause.is_eof() && !line.ends_with('\n') {
        let advice = "the recording was interrupted; delete this line to replay the others";
        return anyhow::anyhow!("{file}, line {number} is incomplete: {advice}");
    }
    let message = cause.to_string();
    let reason = message.split(" at line ").next().unwrap_or_default();
    anyhow::anyhow!("{file}, line {number}, column {}: {reason}", cause.column())
}
