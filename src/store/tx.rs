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

    pub(super) fn execute(&mut self, sql: &str, args: &[Value]) -> Result<u64, StoreError> {
        self.tx.sql.execute(sql, args)
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
