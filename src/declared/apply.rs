//! Exports an account as a document, and applies a document to an account.

use super::current;
use super::description::{ChangeLine, describe};
use super::document::{Document, User};
use super::execute::{self, StepError};
use super::fault::Fault;
use super::plan::plan;
use super::step::Change;
use crate::model::id::AccountId;
use crate::rules::Error;
use crate::rules::caller::Caller;
use crate::store::{ReadTx, StoreError, WriteTx};

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub account: AccountId,
    /// Runs all steps, and then rolls them back.
    pub dry_run: bool,
    /// Deletes objects that the document does not have.
    pub prune: bool,
}

/// The result of an application.
#[derive(Debug, Default)]
pub struct Applied {
    pub changes: Vec<ChangeLine>,
    /// The deletions that only `prune` allows.
    pub unlisted: Vec<ChangeLine>,
}

/// Why nothing was changed.
#[derive(Debug)]
pub enum ApplyError {
    /// It was a dry run, with this result.
    DryRun(Applied),
    /// The document is refused.
    Refused(Vec<Fault>),
    /// The account cannot be read or changed.
    Account(Error),
}

impl From<StoreError> for ApplyError {
    fn from(cause: StoreError) -> Self {
        ApplyError::Account(cause.into())
    }
}

impl From<StepError> for ApplyError {
    fn from(error: StepError) -> Self {
        match error {
            StepError::Refused(faults) => ApplyError::Refused(faults),
            StepError::Store(cause) => cause.into(),
        }
    }
}

/// The networks, instances and users of an account, in a fixed order and without secrets.
pub fn export(tx: &mut ReadTx, account: AccountId) -> Result<Document, Error> {
    let caller = Caller::provider(tx, account)?;
    let (document, _) = current::read(tx, &caller)?;
    Ok(document.portable())
}

/// Makes an account match a document. After an error, the caller must roll the transaction back. This includes a dry
/// run, which runs the steps to find the errors of the rules.
pub fn apply(tx: &mut WriteTx, document: &Document, options: Options) -> Result<Applied, ApplyError> {
    let caller = Caller::provider(tx, options.account).map_err(ApplyError::Account)?;
    let (current, mut ids) = current::read(tx, &caller).map_err(ApplyError::Account)?;
    let plan = plan(&current, document, options.prune).map_err(ApplyError::Refused)?;
    if removes_last_unrestricted_user(&current, document, options.prune) {
        let text = "the account would have no unrestricted user, and only the provider could manage it; \
                    keep one user with restricted: false";
        return Err(ApplyError::Refused(vec![Fault::new("users", text)]));
    }
    for step in &plan.steps {
        execute::run(tx, &caller, &mut ids, step)?;
    }
    let lines = |change: &Change| describe(change);
    let changes = plan.steps.iter().map(|step| &step.change);
    // The grants of a new user are part of its creation.
    let is_part = |change: &Change| match change {
        Change::SetGrants { username, .. } => changes
            .clone()
            .any(|other| matches!(other, Change::CreateUser(user) if user.username == *username)),
        _ => false,
    };
    let applied = Applied {
        changes: changes
            .clone()
            .filter(|change| !is_part(change))
            .flat_map(lines)
            .collect(),
        unlisted: plan.unlisted.iter().flat_map(lines).collect(),
    };
    match options.dry_run {
        true => Err(ApplyError::DryRun(applied)),
        false => Ok(applied),
    }
}

/// Whether the account has an unrestricted user now, and would have none afterward.
fn removes_last_unrestricted_user(current: &Document, wanted: &Document, prune: bool) -> bool {
    let Some(wanted_users) = &wanted.users else {
        return false;
    };
    let is_unrestricted = |user: &&User| user.restricted == Some(false);
    let same = |user: &User, other: &User| user.username.eq_ignore_ascii_case(&other.username);
    let remains = |user: &&User| match wanted_users.iter().find(|wanted| same(wanted, user)) {
        Some(wanted) => wanted.restricted != Some(true),
        None => !prune,
    };
    let mut before = current.users.iter().flatten().filter(is_unrestricted).peekable();
    before.peek().is_some()
        && !before.any(|user| remains(&user))
        && !wanted_users.iter().any(|user| is_unrestricted(&user))
}
