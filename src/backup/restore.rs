//! Restores an archive into an empty store of either engine.
//!
//! 1. The archive is verified completely; nothing is written before that.
//! 2. The target is marked. No server opens a marked store.
//! 3. Rows and files are written. A store with an older schema is then migrated.
//! 4. The store is checked like by `garth check`.
//! 5. The mark is removed.
//!
//! After an error, the target is emptied. After a crash, the same restore can be started again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail, ensure};
use tokio::runtime::Handle;

use super::Progress;
use super::format::TableSummary;
use super::load::{FileLoader, Loader, find_table};
use super::reader::Contents;
use super::verify::{self, Verified, read_file};
use crate::files::Files;
use crate::rules::Error;
use crate::rules::error::FilesFault;
use crate::store::check::{self, Finding};
use crate::store::restore_target::{RestoreTarget, TargetLocation};
use crate::store::transfer::{self, TableChecksum};
use crate::store::{CheckDepth, Schema, Store, StoreContext, StoreError, TABLES, unfinished_restore};
use crate::uploads::check::check_files;

/// The archive and the target of a restore.
pub struct Restore {
    pub archive: File,
    /// The archive that an incremental archive refers to.
    pub base: Option<File>,
    pub target: TargetLocation,
    /// The schema that the store has afterward.
    pub schema: Schema,
    /// The context of the store that is opened.
    pub context: Box<dyn Fn() -> StoreContext + Send>,
    /// Opens the attachment storage, and creates its folders.
    pub open_files: Box<dyn Fn() -> anyhow::Result<Files> + Send>,
    /// Whether to finish although the check has found problems.
    pub accept_findings: bool,
    pub progress: Arc<dyn Progress>,
}

/// A restore that has finished.
pub struct Restored {
    pub contents: Contents,
    pub files: u64,
    /// The problems that the check has found and `accept_findings` has accepted.
    pub findings: Vec<Finding>,
}

impl Restore {
    /// Runs the restore. Blocks, so it must run on a thread for blocking work.
    pub fn run(mut self) -> anyhow::Result<Restored> {
        let verified = verify::verify(&mut self.archive, self.base.as_mut(), &*self.progress)?;
        let files = match verified.contents.header.with_attachments {
            true => Some((self.open_files)()?),
            false => None,
        };
        if let Some(files) = &files {
            self.empty_storage(files, &verified)?;
        }
        let now = (self.context)().clock.now();
        let target = self.target.mark(&verified.contents.identity, now)?;
        match self.fill(&target, &verified, files.as_ref()) {
            Ok((files, findings)) => Ok(Restored {
                contents: verified.contents,
                files,
                findings,
            }),
            Err(cause) => {
                let cleaned = clean_up(target, files.as_ref(), &verified);
                Err(match cleaned {
                    Ok(()) => cause.context("the restore failed, and its target is empty again"),
                    Err(other) => cause.context(format!(
                        "the restore failed, and its target could not be emptied ({other:#}): run the same restore again"
                    )),
                })
            }
        }
    }

    /// Removes the files of an unfinished restore of the same archive, and refuses all others. The mark remains until
    /// no file is left, because it is the only proof that the files belong to the restore.
    fn empty_storage(&self, files: &Files, verified: &Verified) -> anyhow::Result<()> {
        let listed = Handle::current().block_on(files.list());
        let listed = listed.map_err(|cause| anyhow!("the attachment storage failed: {cause}"))?;
        let is_unfinished = self.target.state()?.check(&verified.contents.identity)?;
        let own: BTreeSet<&String> = verified.file_keys.values().flatten().collect();
        let is_own = |key: &String| is_unfinished && own.contains(key);
        if let Some((key, _)) = listed.iter().find(|(key, _)| !is_own(key)) {
            bail!(
                "the attachment storage is not empty: it has {} files, such as {key}. Choose an empty storage with \
                 GARTH_ATTACHMENTS_URL",
                listed.len()
            );
        }
        match is_unfinished {
            true => remove_files(files, verified),
            false => Ok(()),
        }
    }

    /// Writes and checks the store, and removes its mark. Returns the number of files and the accepted findings.
    fn fill(
        &mut self,
        target: &RestoreTarget,
        verified: &Verified,
        files: Option<&Files>,
    ) -> anyhow::Result<(u64, Vec<Finding>)> {
        let schema = verified.contents.header.schema;
        let store = target.open(Schema::at(schema), (self.context)())?;
        let stored = self.load(&store, verified, files)?;
        close(store)?;
        let store = target.open(self.schema.clone(), (self.context)())?;
        let runtime = Handle::current();
        self.progress.begin("rebuilding the search index", 1);
        runtime.block_on(store.write(transfer::rebuild))?;
        let findings = self.check(&store, files, verified)?;
        if !findings.is_empty() && !self.accept_findings {
            bail!(describe(&findings));
        }
        runtime.block_on(store.write(unfinished_restore::finish))?;
        close(store)?;
        Ok((stored, findings))
    }

    /// Writes all rows and files. Returns the number of files.
    fn load(&mut self, store: &Store, verified: &Verified, files: Option<&Files>) -> anyhow::Result<u64> {
        let file_loader = files.map(|files| FileLoader {
            files,
            file_keys: &verified.file_keys,
            stored: 0,
        });
        let mut loader = Loader::new(store, file_loader);
        self.progress.begin("restoring", self.archive.metadata()?.len());
        let contents = read_file(&mut self.archive, &mut loader, &*self.progress)?;
        let is_same = contents.identity == verified.contents.identity;
        ensure!(is_same, "the archive was changed during the restore");
        let Loader { files, sums, .. } = loader;
        set_last_ids(store, &contents.manifest.tables)?;
        compare_rows(store, &sums)?;
        let Some(mut files) = files else { return Ok(0) };
        if let (Some(base), Some(needed)) = (&mut self.base, &contents.manifest.base) {
            let wanted: BTreeSet<&str> = needed
                .attachments
                .iter()
                .map(|file| file.sha256.as_str())
                .collect();
            let mut file_keys = verified.file_keys.clone();
            file_keys.retain(|sha256, _| wanted.contains(sha256.as_str()));
            let mut base_files = FileLoader {
                file_keys: &file_keys,
                ..files
            };
            self.progress
                .begin("restoring from the base", base.metadata()?.len());
            let found = read_file(base, &mut base_files, &*self.progress)?;
            ensure!(
                found.identity == needed.archive,
                "the base was changed during the restore"
            );
            return Ok(base_files.stored);
        }
        Ok(std::mem::take(&mut files.stored))
    }

    /// The problems of the restored store, except for files that the archive does not have.
    fn check(
        &self,
        store: &Store,
        files: Option<&Files>,
        verified: &Verified,
    ) -> anyhow::Result<Vec<Finding>> {
        self.progress
            .begin("checking the store", check::invariants().count() as u64);
        let runtime = Handle::current();
        if let Some(problem) = runtime.block_on(store.check(CheckDepth::Full))?.first() {
            bail!("the restored database is damaged: {problem}");
        }
        let progress = self.progress.clone();
        let checked = store.read_once(move |tx| {
            let findings = check::check_all(tx, |_| progress.advance(1));
            Ok::<_, Error>(findings?)
        });
        let mut findings = runtime.block_on(checked).unwrap_or_else(not_checked);
        // A restore can run without the settings of the server.
        findings.retain(|finding| !check::depends_on_settings(finding));
        if let Some(files) = files {
            let of_files = runtime.block_on(check_files(store, files));
            let is_expected = |finding: &Finding| {
                let mut missing = verified.missing().iter();
                missing.any(|file| {
                    finding.object == format!("attachment {} of ticket {}", file.attachment, file.ticket)
                })
            };
            let of_files = of_files.unwrap_or_else(not_checked).into_iter();
            findings.extend(of_files.filter(|finding| !is_expected(finding)));
        }
        Ok(findings)
    }
}

fn remove_files(files: &Files, verified: &Verified) -> anyhow::Result<()> {
    for key in verified.file_keys.values().flatten() {
        let removed = Handle::current().block_on(files.remove(key));
        removed.map_err(|cause| anyhow!("the attachment storage failed: {cause}"))?;
    }
    Ok(())
}

fn set_last_ids(store: &Store, tables: &[TableSummary]) -> anyhow::Result<()> {
    let mut last_ids = Vec::new();
    for summary in tables {
        last_ids.push((find_table(&summary.name)?, summary.last_id));
    }
    let set = store.write(move |tx| {
        for (table, last_id) in &last_ids {
            transfer::set_last_id(tx, table, *last_id)?;
        }
        Ok::<_, StoreError>(())
    });
    Ok(Handle::current().block_on(set)?)
}

/// Reads all rows back and compares them with the rows of the archive.
fn compare_rows(store: &Store, sums: &BTreeMap<&'static str, TableChecksum>) -> anyhow::Result<()> {
    for table in TABLES {
        let expected = sums.get(table.name).copied().unwrap_or_default();
        let read = store.read_once(move |tx| {
            let exists = transfer::tables(tx)?.iter().any(|known| known.name == table.name);
            match exists {
                true => transfer::checksum(tx, table),
                false => Ok(TableChecksum::default()),
            }
        });
        let stored = Handle::current().block_on(read)?;
        ensure!(
            stored == expected,
            "table {} differs from the archive ({} rows archived, {} rows stored)",
            table.name,
            expected.rows,
            stored.rows
        );
    }
    Ok(())
}

/// Removes the files and the database of a failed restore.
fn clean_up(target: RestoreTarget, files: Option<&Files>, verified: &Verified) -> anyhow::Result<()> {
    if let Some(files) = files {
        remove_files(files, verified)?;
    }
    target.abandon().context("the database")
}

/// A check that fails is a finding: for example, a query can exceed the timeout of a large database.
fn not_checked(cause: Error) -> Vec<Finding> {
    let cause = match cause {
        Error::Store(cause) => cause.to_string(),
        Error::Files(FilesFault::Storage(cause)) => cause,
        _ => "the check was refused".to_owned(),
    };
    let finding = Finding {
        invariant: "the store can be checked",
        object: "database".to_owned(),
        problem: format!("cannot be checked: {cause}"),
    };
    vec![finding]
}

fn close(store: Store) -> anyhow::Result<()> {
    Ok(Handle::current().block_on(store.close())?)
}

fn describe(findings: &[Finding]) -> String {
    const MAX_SHOWN: usize = 5;
    let shown: Vec<_> = findings
        .iter()
        .take(MAX_SHOWN)
        .map(|finding| format!("{}: {} {}", finding.invariant, finding.object, finding.problem))
        .collect();
    format!(
        "the restored store has {} problems. --accept-findings restores it anyway. The first problems:\n{}",
        findings.len(),
        shown.join("\n")
    )
}
