//! Transactions, as rules see them.

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};

use super::error::StoreError;
use super::value::{Row, Value};
use super::world::World;
use crate::model::id::AccountId;
use crate::model::policy::Policy;
use crate::model::time::Time;

/// What an engine's connection must do.
pub trait Sql {
    fn query(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row>, StoreError>;
    fn execute(&mut self, sql: &str, args: &[Value]) -> Result<u64, StoreError>;
    /// The condition that a row of `ticket_text` has what an argument asks for.
    fn matches(&self, argument: usize) -> String;
    /// That argument, for a word that begins like this one.
    fn beginning(&self, word: &str) -> String;

    /// The last number that a table's key has given out, if only to a row that is gone.
    fn last_number(&mut self, table: &str) -> Result<i64, StoreError>;
    fn set_last_number(&mut self, table: &str, number: i64) -> Result<(), StoreError>;
    /// The tables that are there, by name.
    fn tables(&mut self) -> Result<Vec<String>, StoreError>;

    /// Makes sure that the account's events get their ids in the order in which they are committed. An
    /// engine with a single writer need do nothing.
    fn order_events(&mut self, _account: AccountId) -> Result<(), StoreError> {
        Ok(())
    }

    /// Whether this transaction is the one that does a chore now; an engine without other nodes has no
    /// other.
    fn claim(&mut self, _chore: Chore) -> Result<bool, StoreError> {
        Ok(true)
    }
}

/// What is to be done by one node at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chore {
    /// What instances have under way.
    DueWork,
    /// Removing what is kept no longer.
    Sweep,
}

/// A look at one moment of the store.
pub struct ReadTx<'a> {
    sql: &'a mut dyn Sql,
    world: &'a World,
}

impl<'a> ReadTx<'a> {
    pub(super) fn new(sql: &'a mut dyn Sql, world: &'a World) -> Self {
        Self { sql, world }
    }

    /// The time, to the second: what is kept and shown.
    pub fn now(&self) -> Time {
        self.world.clock.now().to_second()
    }

    /// The time as exactly as the clock tells it, for what is due later.
    pub fn instant(&self) -> Time {
        self.world.clock.now()
    }

    pub fn policy(&self) -> &'a Policy {
        &self.world.policy
    }

    pub(super) fn dialect(&self) -> &dyn Sql {
        self.sql
    }

    pub(super) fn all(&mut self, sql: &str, args: &[Value]) -> Result<Vec<Row>, StoreError> {
        self.sql.query(sql, args)
    }

    pub(super) fn find(&mut self, sql: &str, args: &[Value]) -> Result<Option<Row>, StoreError> {
        Ok(self.all(sql, args)?.into_iter().next())
    }

    pub(super) fn last_number(&mut self, table: &str) -> Result<i64, StoreError> {
        self.sql.last_number(table)
    }

    /// The tables that are there, by name, with the one that records migrations.
    pub fn tables(&mut self) -> Result<Vec<String>, StoreError> {
        self.sql.tables()
    }

    pub(super) fn one(&mut self, sql: &str, args: &[Value]) -> Result<Row, StoreError> {
        let row = self.find(sql, args)?;
        row.ok_or_else(|| StoreError::Unexpected("a row that must be there is not".to_owned()))
    }
}

/// A look that can also change things. It goes wherever a `ReadTx` is asked for.
pub struct WriteTx<'a> {
    tx: ReadTx<'a>,
    /// Whose event readers are to be woken once this is committed.
    touched: BTreeSet<AccountId>,
}

impl<'a> WriteTx<'a> {
    pub(super) fn new(sql: &'a mut dyn Sql, world: &'a World) -> Self {
        Self {
            tx: ReadTx::new(sql, world),
            touched: BTreeSet::new(),
        }
    }

    /// 32 bytes nobody can guess.
    pub fn random(&self) -> [u8; 32] {
        self.tx.world.chance.bytes()
    }

    /// Whether this node is to do a chore now. The claim ends with the transaction, however it ends.
    pub fn claim(&mut self, chore: Chore) -> Result<bool, StoreError> {
        self.tx.sql.claim(chore)
    }

    pub(super) fn order_events(&mut self, account: AccountId) -> Result<(), StoreError> {
        self.tx.sql.order_events(account)
    }

    pub(super) fn execute(&mut self, sql: &str, args: &[Value]) -> Result<u64, StoreError> {
        self.tx.sql.execute(sql, args)
    }

    pub(super) fn set_last_number(&mut self, table: &str, number: i64) -> Result<(), StoreError> {
        self.tx.sql.set_last_number(table, number)
    }

    pub(super) fn touch(&mut self, account: AccountId) {
        self.touched.insert(account);
    }

    pub(super) fn into_touched(self) -> BTreeSet<AccountId> {
        self.touched
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
