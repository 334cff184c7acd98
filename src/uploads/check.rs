//! Compares the stored files with the attachments, for `garth check`. A running server can change files and
//! attachments during the check.

use std::collections::{HashMap, HashSet};

use super::verification::{Verification, verify};
use crate::files::{Files, FilesError};
use crate::model::attachment::Attachment;
use crate::rules::error::FilesFault;
use crate::rules::{Error, Result};
use crate::store::check::Finding;
use crate::store::{ReadTx, Store, attachments};

const FILES_EXIST: &str = "every attachment has its file";
const FILES_ARE_USED: &str = "every file is an attachment or an upload";
const FILES_ARE_INTACT: &str = "every file has the hash of its attachment";

/// The rows of the store that refer to files, by the keys of the files.
struct KnownFiles {
    attachments: HashMap<String, Attachment>,
    uploads: HashSet<String>,
}

/// Finds attachments whose file is missing or has another size, and files without an attachment or upload.
///
/// A running server stores and deletes files. Therefore the rows are read before and after the list of files.
/// An attachment without a file is reported only if both reads return the attachment. A file is reported only
/// if both reads return no row for it, and if it still exists at the end.
pub async fn check_files(store: &Store, files: &Files) -> Result<Vec<Finding>> {
    let before = store.read_once(read_known_files).await?;
    let listed: HashMap<String, u64> = files.list().await.map_err(storage)?.into_iter().collect();
    let after = store.read_once(read_known_files).await?;
    let mut findings = Vec::new();
    for (key, attachment) in &after.attachments {
        if !before.attachments.contains_key(key) {
            continue;
        }
        let problem = match listed.get(key) {
            None => "its file is missing".to_owned(),
            Some(size) if i64::try_from(*size) != Ok(attachment.size) => {
                format!("its file has {size} bytes instead of {}", attachment.size)
            }
            Some(_) => continue,
        };
        findings.push(finding(FILES_EXIST, attachment, problem));
    }
    for key in listed.keys() {
        let is_known = before.contains(key) || after.contains(key);
        if !is_known && files.contains(key).await.map_err(storage)? {
            findings.push(Finding {
                invariant: FILES_ARE_USED,
                object: format!("file {key}"),
                problem: "is neither an attachment nor an upload".to_owned(),
            });
        }
    }
    findings.sort_by(|left, right| (left.invariant, &left.object).cmp(&(right.invariant, &right.object)));
    Ok(findings)
}

/// Reads the files of all attachments and compares their hashes. Calls `progress` before each file, with the number of
/// files read so far and the total.
pub async fn check_contents(
    store: &Store,
    files: &Files,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<Finding>> {
    let known = store.read_once(read_known_files).await?;
    let mut attachments: Vec<_> = known.attachments.into_values().collect();
    attachments.sort_by_key(|attachment| attachment.id.0);
    let mut findings = Vec::new();
    for (number, attachment) in attachments.iter().enumerate() {
        progress(number, attachments.len());
        let problem = match verify(files, attachment).await {
            Verification::Intact => continue,
            // The file is missing: `check_files` reports that, unless the ticket was deleted during the
            // check.
            Verification::Damaged(_) if !files.contains(&attachment.key).await.map_err(storage)? => continue,
            Verification::Damaged(cause) => cause.to_owned(),
            Verification::Unknown(cause) => format!("cannot be read: {cause}"),
        };
        findings.push(finding(FILES_ARE_INTACT, attachment, problem));
    }
    Ok(findings)
}

fn finding(invariant: &'static str, attachment: &Attachment, problem: String) -> Finding {
    Finding {
        invariant,
        object: format!("attachment {} of ticket {}", attachment.id.0, attachment.ticket.0),
        problem,
    }
}

fn read_known_files(tx: &mut ReadTx) -> Result<KnownFiles> {
    let attachments = attachments::all(tx)?;
    Ok(KnownFiles {
        attachments: attachments
            .into_iter()
            .map(|attachment| (attachment.key.clone(), attachment))
            .collect(),
        uploads: attachments::uploads(tx)?.into_iter().collect(),
    })
}

impl KnownFiles {
    fn contains(&self, key: &str) -> bool {
        self.attachments.contains_key(key) || self.uploads.contains(key)
    }
}

fn storage(cause: FilesError) -> Error {
    Error::Files(FilesFault::Storage(cause.to_string()))
}
