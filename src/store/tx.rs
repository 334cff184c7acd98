//! The transactions that rules run in.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};

use super::changes::{Owner, PendingChanges};
use super::context::StoreContext;
use super::diagnosis::Diagnosis;
use super::error::StoreError;
use super::notifier::Topic;
use super::sql::Sql;
use super::tallies::{Tally, TallyChanges};
use super::value::{ReadRow, Row, Value, args};
use crate::model::change::ChangeKind;
use crate::model::id::AccountId;
use crate::model::policy::Policy;
use crate::model::time::Time;

/// A query whose rows are not needed yet.
pub enum PendingQuery<T> {
    /// The result is known: the engine has run the query without pipelining it, or has failed to send it.
    Complete(Result<Vec<T>, StoreError>),
    /// The engine has pipelined the query under this number.
    Sent(usize, ReadRow<T>),
}

impl<T> PendingQuery<T> {
    /// The number of rows. `None` if it is not known yet.
    pub(super) fn known_rows(&self) -> Option<usize> {
        match self {
            Self::Complete(Ok(rows)) => Some(rows.len()),
            _ => None,
        }
    }
}

/// A read transaction: a snapshot of the store.
pub struct ReadTx<'a> {
    sql: &'a mut dyn Sql,
    context: &'a StoreContext,
    /// The policy at the start of the transaction.
    policy: &'a Policy,
    pending_tallies: PendingTallies<'a>,
}

/// The changes of tallies that are not written yet.
#[derive(Default)]
struct PendingTallies<'a> {
    /// The changes of this transaction.
    transaction: TallyChanges,
    /// The inserted rows whose IDs are not received yet. Each has the tally that counts the row, the account
    /// and kind of the change to log, and the query that returns the ID.
    inserts: Vec<(Tally, (AccountId, ChangeKind), PendingQuery<i64>)>,
    /// The changes of earlier jobs in the same batch.
    batch: Option<&'a TallyChanges>,
}

impl<'a> ReadTx<'a> {
    pub(super) fn new(sql: &'a mut dyn Sql, context: &'a StoreContext, policy: &'a Policy) -> Self {
        let pending_tallies = PendingTallies::default();
        Self {
            sql,
            context,
            policy,
            pending_tallies,
        }
    }

    /// The current time in whole seconds, as it is stored and shown.
    pub fn now(&self) -> Time {
        self.context.clock.now().to_second()
    }

    /// The current time, or `before` if the system's clock was set back to an earlier time. `before` is the
    /// time of an object's last change.
    pub fn now_after(&self, before: Time) -> Time {
        self.now().max(before)
    }

    /// The current time with the full precision of the clock, for due times.
    pub fn instant(&self) -> Time {
        self.context.clock.now()
    }

    pub fn policy(&self) -> &'a Policy {
        self.policy
    }

    pub(super) fn dialect(&self) -> &dyn Sql {
        self.sql
    }

    pub(super) fn all(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row<'static>>, StoreError> {
        self.sql.query(sql, args)
    }

    /// Runs a query and converts its rows.
    pub(super) fn read<T>(
        &mut self,
        sql: &str,
        args: &[Value],
        read: ReadRow<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut found = Vec::new();
        self.for_each(sql, args, |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Runs a query and calls `visit` with each row.
    pub(super) fn for_each(
        &mut self,
        sql: &str,
        args: &[Value],
        mut visit: impl FnMut(&mut Row) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut visit = |row: &mut Row| visit(row).map_err(|cause| cause.of_statement(sql));
        self.sql.for_each(sql, args, &mut visit)
    }

    /// Sends a query whose rows are needed only after the next query. `receive` returns the rows.
    pub(super) fn send<T>(&mut self, sql: &str, args: &[Value], read: ReadRow<T>) -> PendingQuery<T> {
        match self.sql.send(sql, args) {
            None => PendingQuery::Complete(self.read(sql, args, read)),
            Some(Ok(number)) => PendingQuery::Sent(number, read),
            Some(Err(cause)) => PendingQuery::Complete(Err(cause)),
        }
    }

    pub(super) fn receive<T>(&mut self, pending: PendingQuery<T>) -> Result<Vec<T>, StoreError> {
        match pending {
            PendingQuery::Complete(result) => result,
            PendingQuery::Sent(number, read) => self.sql.receive(number)?.iter_mut().map(read).collect(),
        }
    }

    pub(super) fn receive_one<T>(&mut self, pending: PendingQuery<T>) -> Result<T, StoreError> {
        self.receive(pending)?.pop().ok_or_else(missing)
    }

    pub(super) fn find(&mut self, sql: &str, args: &[Value]) -> Result<Option<Row<'static>>, StoreError> {
        Ok(self.all(sql, args)?.into_iter().next())
    }

    /// The sum of the changes of a tally that are not written yet.
    pub(super) fn pending_delta(&self, tally: &Tally) -> i64 {
        let PendingTallies {
            transaction,
            inserts,
            batch,
        } = &self.pending_tallies;
        let inserted = inserts.iter().filter(|(of, ..)| of == tally).count();
        transaction.of(tally) + inserted as i64 + batch.map_or(0, |batch| batch.of(tally))
    }

    pub(super) fn last_generated_id(&mut self, table: &str) -> Result<i64, StoreError> {
        self.sql.last_generated_id(table)
    }

    pub(super) fn mistyped_condition(&mut self, table: &str) -> Result<Option<String>, StoreError> {
        self.sql.mistyped_condition(table)
    }

    /// The names of all tables, including `migration`.
    pub fn tables(&mut self) -> Result<Vec<String>, StoreError> {
        self.sql.tables()
    }

    /// Problems of the database's configuration, for `garth doctor`.
    pub fn diagnose(&mut self) -> Result<Vec<Diagnosis>, StoreError> {
        self.sql.diagnose()
    }

    pub(super) fn continues_after_failure(&self) -> bool {
        self.sql.continues_after_failure()
    }

    /// Lets the statements of this transaction run for a long time, for work that reads whole tables.
    pub(super) fn allow_long_statements(&mut self) {
        self.sql.allow_long_statements();
    }

    pub(super) fn indexes(&mut self) -> Result<Vec<String>, StoreError> {
        self.sql.indexes()
    }

    pub(super) fn columns(&mut self, table: &str) -> Result<Vec<String>, StoreError> {
        self.sql.columns(table)
    }

    pub(super) fn one(&mut self, sql: &str, args: &[Value]) -> Result<Row<'static>, StoreError> {
        self.find(sql, args)?.ok_or_else(missing)
    }
}

fn missing() -> StoreError {
    StoreError::Unexpected("a required row is missing".to_owned())
}

/// A write transaction. It dereferences to a `ReadTx`.
pub struct WriteTx<'a> {
    tx: ReadTx<'a>,
    /// The commit notifies the subscribers of these topics.
    topics: BTreeSet<Topic>,
    changes: PendingChanges,
    /// A cache: the account of each owner that was looked up.
    accounts: BTreeMap<Owner, AccountId>,
}

/// The result of a write transaction: the rows to write before the commit, and the topics to notify after the
/// commit.
#[derive(Default)]
pub struct Finished {
    pub topics: BTreeSet<Topic>,
    pub tallies: TallyChanges,
    pub changes: PendingChanges,
}

impl<'a> WriteTx<'a> {
    /// `batch` has the tally changes of earlier jobs in the same commit.
    pub(super) fn new(
        sql: &'a mut dyn Sql,
        context: &'a StoreContext,
        policy: &'a Policy,
        batch: Option<&'a TallyChanges>,
    ) -> Self {
        let mut tx = ReadTx::new(sql, context, policy);
        tx.pending_tallies.batch = batch;
        Self {
            tx,
            topics: BTreeSet::new(),
            changes: PendingChanges::default(),
            accounts: BTreeMap::new(),
        }
    }

    /// Reports that an object was created, changed or deleted. The caller can also report a deletion just
    /// before it deletes the object. The commit raises the revision of the owner's account and logs the
    /// change.
    pub(super) fn changed(
        &mut self,
        owner: impl Into<Owner>,
        kind: ChangeKind,
        id: i64,
    ) -> Result<(), StoreError> {
        if let Some(account) = self.account_of(owner)? {
            self.changes.add(account, kind, id);
        }
        Ok(())
    }

    /// The account that the owner belongs to; `None` if the owner does not exist.
    pub(super) fn account_of(&mut self, owner: impl Into<Owner>) -> Result<Option<AccountId>, StoreError> {
        let owner = owner.into();
        let (sql, id) = match owner.account() {
            Ok(account) => return Ok(Some(account)),
            Err(query) => query,
        };
        if let Some(cached) = self.accounts.get(&owner) {
            return Ok(Some(*cached));
        }
        let row = self.tx.find(sql, args![id])?;
        let found: Option<AccountId> = row.map(|mut row| row.take()).transpose()?;
        self.accounts.extend(found.map(|account| (owner, account)));
        Ok(found)
    }

    /// Adds `by` to a tally, because the row with this ID was inserted or deleted.
    pub(super) fn tally(&mut self, tally: Tally, id: i64, by: i64) {
        self.tx.pending_tallies.transaction.add(tally, id, by);
    }

    /// Counts an inserted row and logs it as a change of the account, as soon as the ID of the row is received.
    pub(super) fn count_on_receipt(
        &mut self,
        tally: Tally,
        (account, kind): (AccountId, ChangeKind),
        id: PendingQuery<i64>,
    ) -> Result<(), StoreError> {
        match id {
            PendingQuery::Sent(..) => self.tx.pending_tallies.inserts.push((tally, (account, kind), id)),
            PendingQuery::Complete(_) => {
                let id = self.tx.receive_one(id)?;
                self.tally(tally, id, 1);
                self.changes.add(account, kind, id);
            }
        }
        Ok(())
    }

    /// 32 unpredictable bytes.
    pub fn random(&self) -> [u8; 32] {
        self.tx.context.random.bytes()
    }

    pub(super) fn order_events(&mut self, account: AccountId) -> Result<(), StoreError> {
        self.tx.sql.order_events(account)
    }

    pub(super) fn execute(&mut self, sql: &str, args: &[Value]) -> Result<u64, StoreError> {
        self.tx.sql.execute(sql, args)
    }

    pub(super) fn execute_deferred(&mut self, sql: &str, args: &[Value]) -> Result<(), StoreError> {
        self.tx.sql.execute_deferred(sql, args)
    }

    pub(super) fn set_last_generated_id(&mut self, table: &str, number: i64) -> Result<(), StoreError> {
        self.tx.sql.set_last_generated_id(table, number)
    }

    pub(super) fn notify_on_commit(&mut self, topic: Topic) {
        self.topics.insert(topic);
    }

    /// Receives the IDs of all pending inserts, and ends the transaction.
    pub(super) fn finish(mut self) -> Result<Finished, StoreError> {
        for (tally, (account, kind), pending) in std::mem::take(&mut self.tx.pending_tallies.inserts) {
            let id = self.tx.receive_one(pending)?;
            self.tally(tally, id, 1);
            self.changes.add(account, kind, id);
        }
        Ok(Finished {
            topics: self.topics,
            tallies: self.tx.pending_tallies.transaction,
            changes: self.changes,
        })
    }
}

impl<'a> Deref for WriteTx<'a> {
    type Target = ReadTx<'a>;

    fn deref(&self) -> &ReadTx<'a> {
        &self.tx
    }
}

impl<'a> DerefMut for WriteTx<'a> {
    fn deref_mut(&mut self) -> &mut ReadTx<'a> {
        &mut self.tx
    }
}
