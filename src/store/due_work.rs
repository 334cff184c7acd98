//! Work that is to be done to an instance at a later time, kept so that a restart forgets none.

use super::bell::Topic;
use super::error::StoreError;
use super::tx::{ReadTx, WriteTx};
use super::value::{FromValue, Row, Value, args};
use crate::model::id::{EventId, InstanceId};
use crate::model::time::Time;

#[derive(Clone, Copy, Debug)]
pub struct DueWork {
    pub id: i64,
    pub instance: InstanceId,
    pub event: EventId,
    pub step: Step,
    pub due: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Start,
    Finish,
}

impl Step {
    const fn word(self) -> &'static str {
        match self {
            Step::Start => "start",
            Step::Finish => "finish",
        }
    }
}

pub fn add(
    tx: &mut WriteTx,
    instance: InstanceId,
    event: EventId,
    step: Step,
    due: Time,
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO due_work (instance, event, step, due) VALUES ($1, $2, $3, $4)",
        args![instance, event, step.word(), due],
    )?;
    tx.touch(Topic::Jobs);
    Ok(())
}

/// When the next work is due.
pub fn next(tx: &mut ReadTx) -> Result<Option<Time>, StoreError> {
    let row = tx.find("SELECT due FROM due_work ORDER BY due LIMIT 1", args![])?;
    row.map(|mut row| row.take()).transpose()
}

/// Work that was due by a time, in the order in which it was due.
pub fn until(tx: &mut ReadTx, time: Time, most: i64) -> Result<Vec<DueWork>, StoreError> {
    let sql = "SELECT id, instance, event, step, due FROM due_work WHERE due <= $1 ORDER BY due, id LIMIT $2";
    let read = |mut row: Row| {
        Ok(DueWork {
            id: row.take()?,
            instance: row.take()?,
            event: row.take()?,
            step: row.take()?,
            due: row.take()?,
        })
    };
    tx.all(sql, args![time, most])?.into_iter().map(read).collect()
}

/// The events of what an instance has under way.
pub fn events_of(tx: &mut ReadTx, instance: InstanceId) -> Result<Vec<EventId>, StoreError> {
    let rows = tx.all(
        "SELECT DISTINCT event FROM due_work WHERE instance = $1",
        args![instance],
    )?;
    rows.into_iter().map(|mut row| row.take()).collect()
}

pub fn remove(tx: &mut WriteTx, id: i64) -> Result<(), StoreError> {
    tx.execute("DELETE FROM due_work WHERE id = $1", args![id])?;
    Ok(())
}

impl FromValue for Step {
    fn from_value(value: Value) -> Option<Self> {
        match value.as_text()? {
            "start" => Some(Step::Start),
            "finish" => Some(Step::Finish),
            _ => None,
        }
    }
}
