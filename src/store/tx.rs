//! Transactions, as rules see them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};

use super::changes::{Owner, PendingChanges};
use super::context::StoreContext;
use super::error::StoreError;
use super::notifier::Topic;
use super::sql::Sql;
use super::tallies::{Changes, Tally};
use super::value::{Read, Row, Value, args};
use crate::model::change::ChangeKind;
use crate::model::id::AccountId;
use crate::model::policy::Policy;
use crate::model::time::Time;

/// A question that was asked, and perhaps answered.
pub enum Asked<T> {
    Answered(Result<Vec<T>, StoreError>),
    /// On its way, under this number.
    Sent(usize, Read<T>),
}

/// A look at one moment of the store.
pub struct ReadTx<'a> {
    sql: &'a mut dyn Sql,
    context: &'a StoreContext,
    tallied: Tallied<'a>,
}

/// What was said of tallies and is not kept yet: in this transaction, and by those it will be committed with.
#[derive(Default)]
struct Tallied<'a> {
    here: Changes,
    /// Rows that were added and whose ids are still to be heard, with what to report of them as changed.
    awaited: Vec<(Tally, (AccountId, ChangeKind), Asked<i64>)>,
    before: Option<&'a Changes>,
}

impl<'a> ReadTx<'a> {
    pub(super) fn new(sql: &'a mut dyn Sql, context: &'a StoreContext) -> Self {
        let tallied = Tallied::default();
        Self {
            sql,
            context,
            tallied,
        }
    }

    /// The time, to the second: what is kept and shown.
    pub fn now(&self) -> Time {
        self.context.clock.now().to_second()
    }

    /// The time of a change to something that was last changed at `before`: never earlier, even if the system's clock was
    /// set back meanwhile.
    pub fn now_after(&self, before: Time) -> Time {
        self.now().max(before)
    }

    /// The time as exactly as the clock tells it, for what is due later.
    pub fn instant(&self) -> Time {
        self.context.clock.now()
    }

    pub fn policy(&self) -> &'a Policy {
        &self.context.policy
    }

    pub(super) fn dialect(&self) -> &dyn Sql {
        self.sql
    }

    pub(super) fn all(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row<'static>>, StoreError> {
        self.sql.query(sql, args)
    }

    /// All rows, as what they stand for.
    pub(super) fn read<T>(&mut self, sql: &str, args: &[Value], read: Read<T>) -> Result<Vec<T>, StoreError> {
        let mut found = Vec::new();
        let mut see = |row: &mut Row| {
            found.push(read(row).map_err(|cause| cause.of_statement(sql))?);
            Ok(())
        };
        self.sql.each(sql, args, &mut see)?;
        Ok(found)
    }

    /// The same in two steps, for those who have something else to ask before they need the answer.
    pub(super) fn ask<T>(&mut self, sql: &str, args: &[Value], read: Read<T>) -> Asked<T> {
        match self.sql.send(sql, args) {
            None => Asked::Answered(self.read(sql, args, read)),
            Some(Ok(number)) => Asked::Sent(number, read),
            Some(Err(cause)) => Asked::Answered(Err(cause)),
        }
    }

    pub(super) fn hear<T>(&mut self, asked: Asked<T>) -> Result<Vec<T>, StoreError> {
        match asked {
            Asked::Answered(answer) => answer,
            Asked::Sent(number, read) => self.sql.receive(number)?.iter_mut().map(read).collect(),
        }
    }

    pub(super) fn hear_one<T>(&mut self, asked: Asked<T>) -> Result<T, StoreError> {
        self.hear(asked)?.pop().ok_or_else(missing)
    }

    pub(super) fn find(&mut self, sql: &str, args: &[Value]) -> Result<Option<Row<'static>>, StoreError> {
        Ok(self.all(sql, args)?.into_iter().next())
    }

    /// By how much a tally has grown since it was last kept.
    pub(super) fn untold(&self, tally: &Tally) -> i64 {
        let Tallied {
            here,
            awaited,
            before,
        } = &self.tallied;
        let unheard = awaited.iter().filter(|(whose, ..)| whose == tally).count();
        here.of(tally) + unheard as i64 + before.map_or(0, |before| before.of(tally))
    }

    pub(super) fn last_number(&mut self, table: &str) -> Result<i64, StoreError> {
        self.sql.last_number(table)
    }

    /// The tables that are there, by name, with the one that records migrations.
    pub fn tables(&mut self) -> Result<Vec<String>, StoreError> {
        self.sql.tables()
    }

    pub(super) fn one(&mut self, sql: &str, args: &[Value]) -> Result<Row<'static>, StoreError> {
        self.find(sql, args)?.ok_or_else(missing)
    }
}

fn missing() -> StoreError {
    StoreError::Unexpected("a row that must be there is not".to_owned())
}

/// A look that can also change things. It goes wherever a `ReadTx` is asked for.
pub struct WriteTx<'a> {
    tx: ReadTx<'a>,
    /// The topics whose subscribers are notified once this is committed.
    topics: BTreeSet<Topic>,
    changes: PendingChanges,
    /// The accounts of owners that were looked up.
    accounts: BTreeMap<Owner, AccountId>,
}

/// What a transaction leaves to be done with its commit.
#[derive(Default)]
pub struct Finished {
    /// The topics whose subscribers are to be notified.
    pub topics: BTreeSet<Topic>,
    pub tallied: Changes,
    pub changes: PendingChanges,
}

impl<'a> WriteTx<'a> {
    /// `before` is what others have said of tallies with whom this will be committed.
    pub(super) fn new(sql: &'a mut dyn Sql, context: &'a StoreContext, before: Option<&'a Changes>) -> Self {
        let mut tx = ReadTx::new(sql, context);
        tx.tallied.before = before;
        Self {
            tx,
            topics: BTreeSet::new(),
            changes: PendingChanges::default(),
            accounts: BTreeMap::new(),
        }
    }

    /// Reports that a thing of an account was created, changed or is about to be deleted: the commit raises the
    /// account's revision and logs it.
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

    /// The account that something belongs to; `None` if it is not there.
    pub(super) fn account_of(&mut self, owner: impl Into<Owner>) -> Result<Option<AccountId>, StoreError> {
        let owner = owner.into();
        let (sql, id) = match owner.account() {
            Ok(account) => return Ok(Some(account)),
            Err(query) => query,
        };
        if let Some(known) = self.accounts.get(&owner) {
            return Ok(Some(*known));
        }
        let row = self.tx.find(sql, args![id])?;
        let found: Option<AccountId> = row.map(|mut row| row.take()).transpose()?;
        self.accounts.extend(found.map(|account| (owner, account)));
        Ok(found)
    }

    /// Says that a collection has got, or lost, the row with this id.
    pub(super) fn tally(&mut self, tally: Tally, id: i64, by: i64) {
        self.tx.tallied.here.add(tally, id, by);
    }

    /// Says that a collection of an account has got a row whose id comes with the answer to a question.
    pub(super) fn tally_when_heard(
        &mut self,
        tally: Tally,
        (account, kind): (AccountId, ChangeKind),
        id: Asked<i64>,
    ) -> Result<(), StoreError> {
        match id {
            Asked::Sent(..) => self.tx.tallied.awaited.push((tally, (account, kind), id)),
            Asked::Answered(_) => {
                let id = self.tx.hear_one(id)?;
                self.tally(tally, id, 1);
                self.changes.add(account, kind, id);
            }
        }
        Ok(())
    }

    /// 32 bytes nobody can guess.
    pub fn random(&self) -> [u8; 32] {
        self.tx.context.random.bytes()
    }

    pub(super) fn order_events(&mut self, account: AccountId) -> Result<(), StoreError> {
        self.tx.sql.order_events(account)
    }

    pub(super) fn execute(&mut self, sql: &str, args: &[Value]) -> Result<u64, StoreError> {
        self.tx.sql.execute(sql, args)
    }

    pub(super) fn later(&mut self, sql: &str, args: &[Value]) -> Result<(), StoreError> {
        self.tx.sql.later(sql, args)
    }

    pub(super) fn set_last_number(&mut self, table: &str, number: i64) -> Result<(), StoreError> {
        self.tx.sql.set_last_number(table, number)
    }

    pub(super) fn notify_on_commit(&mut self, topic: Topic) {
        self.topics.insert(topic);
    }

    pub(super) fn finish(mut self) -> Result<Finished, StoreError> {
        for (tally, (account, kind), asked) in std::mem::take(&mut self.tx.tallied.awaited) {
            let id = self.tx.hear_one(asked)?;
            self.tally(tally, id, 1);
            self.changes.add(account, kind, id);
        }
        Ok(Finished {
            topics: self.topics,
            tallied: self.tx.tallied.here,
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
