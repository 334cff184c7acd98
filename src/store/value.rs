//! The arguments and result rows of SQL statements, for both engines.

use std::borrow::Cow;

use super::error::StoreError;
use crate::model::attachment::FileName;
use crate::model::canned_reply::Template;
use crate::model::config::ConfigLabel;
use crate::model::disk::DiskLabel;
use crate::model::id::{
    AccountId, AnnouncementId, AttachmentId, CannedReplyId, ConfigId, DiskId, EventId, HistoryId, HostId,
    InstanceId, InterfaceId, JobId, LoginRecordId, NoteId, OutgoingMailId, ReceivedMailId, ReplyId,
    SavedViewId, SshKeyId, SubnetId, SuppressedAddressId, TicketId, TokenId, UserId, VpcId,
};
use crate::model::instance::InstanceLabel;
use crate::model::ip::Hostname;
use crate::model::label::Label;
use crate::model::object_tag::TagLabel;
use crate::model::region::RegionId;
use crate::model::ssh_key::PublicKey;
use crate::model::text::{Description, Line, OptionalLine, Prose};
use crate::model::ticket_tag::TicketTag;
use crate::model::time::Time;
use crate::model::user::{Email, Username};

/// A value in SQL. `Null` sorts before numbers, and numbers sort before text. The value of an argument borrows its text
/// from the caller. The value of a column borrows its text from the engine while the statement runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value<'a> {
    Null,
    Int(i64),
    Text(Cow<'a, str>),
}

impl Value<'_> {
    /// The value with its text borrowed from `self`.
    pub fn borrowed(&self) -> Value<'_> {
        match self {
            Value::Null => Value::Null,
            Value::Int(number) => Value::Int(*number),
            Value::Text(text) => Value::Text(Cow::Borrowed(text)),
        }
    }

    /// The value with its text owned.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Value::Null => Value::Null,
            Value::Int(number) => Value::Int(number),
            Value::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
        }
    }

    /// The text, if the value is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The arguments of a statement: `args![account, &label]` are `$1, $2`.
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::store::value::Value::from($value)),*] };
}
pub(super) use args;

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Value::Int(number.into())
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Value::Int(value.into())
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(Cow::Owned(text))
    }
}

impl From<Time> for Value<'_> {
    fn from(time: Time) -> Self {
        Value::Int(time.micros())
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

macro_rules! from_ids {
    ($($id:ty),+) => {$(
        impl From<$id> for Value<'_> {
            fn from(id: $id) -> Self {
                Value::Int(id.0)
            }
        }

        impl FromValue for $id {
            fn from_value(value: Value) -> Option<Self> {
                i64::from_value(value).map(Self)
            }
        }
    )+};
}
from_ids!(
    AccountId,
    AnnouncementId,
    AttachmentId,
    CannedReplyId,
    ConfigId,
    DiskId,
    EventId,
    HistoryId,
    HostId,
    InstanceId,
    InterfaceId,
    JobId,
    LoginRecordId,
    NoteId,
    OutgoingMailId,
    ReceivedMailId,
    ReplyId,
    SavedViewId,
    SshKeyId,
    SubnetId,
    SuppressedAddressId,
    TicketId,
    TokenId,
    UserId,
    VpcId
);

macro_rules! from_texts {
    ($($text:ty),+) => {$(
        impl<'a> From<&'a $text> for Value<'a> {
            fn from(text: &'a $text) -> Self {
                Value::from(text.as_str())
            }
        }

        impl FromValue for $text {
            fn from_value(value: Value) -> Option<Self> {
                String::from_value(value).and_then(Self::checked)
            }
        }
    )+};
}
from_texts!(
    ConfigLabel,
    Description,
    DiskLabel,
    Email,
    FileName,
    Hostname,
    InstanceLabel,
    Label,
    PublicKey,
    TagLabel,
    Template,
    TicketTag,
    Username
);

impl<'a, const MAX: usize> From<&'a Prose<MAX>> for Value<'a> {
    fn from(text: &'a Prose<MAX>) -> Self {
        Value::from(text.as_str())
    }
}

impl<const MAX: usize> FromValue for Prose<MAX> {
    fn from_value(value: Value) -> Option<Self> {
        String::from_value(value).and_then(Self::checked)
    }
}

impl<'a, const MAX: usize> From<&'a Line<MAX>> for Value<'a> {
    fn from(line: &'a Line<MAX>) -> Self {
        Value::from(line.as_str())
    }
}

impl<const MAX: usize> FromValue for OptionalLine<MAX> {
    fn from_value(value: Value) -> Option<Self> {
        String::from_value(value).and_then(Self::checked)
    }
}

impl<const MAX: usize> FromValue for Line<MAX> {
    fn from_value(value: Value) -> Option<Self> {
        String::from_value(value).and_then(Self::checked)
    }
}

impl<'a> From<&'a RegionId> for Value<'a> {
    fn from(region: &'a RegionId) -> Self {
        Value::from(region.0.as_str())
    }
}

/// A type to which a column can be converted. The result is `None` if the value is invalid for the type.
pub trait FromValue: Sized {
    fn from_value(value: Value) -> Option<Self>;
}

impl FromValue for i64 {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Int(number) => Some(number),
            _ => None,
        }
    }
}

impl FromValue for u32 {
    fn from_value(value: Value) -> Option<Self> {
        i64::from_value(value).and_then(|number| number.try_into().ok())
    }
}

impl FromValue for bool {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Int(number) => Some(number != 0),
            _ => None,
        }
    }
}

impl FromValue for String {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.into_owned()),
            _ => None,
        }
    }
}

impl FromValue for Time {
    fn from_value(value: Value) -> Option<Self> {
        i64::from_value(value).map(Time::from_micros)
    }
}

impl FromValue for RegionId {
    fn from_value(value: Value) -> Option<Self> {
        String::from_value(value).map(RegionId)
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

/// A row of a result. `take` returns its columns one by one, in the order of the statement. The number in each variant
/// is the index of the next column.
pub enum Row<'r> {
    /// A copy of the row.
    Owned(Vec<Value<'static>>, usize),
    /// The current row of a running statement.
    Borrowed(&'r dyn Columns, usize),
}

/// The current row of a running statement.
pub trait Columns {
    fn column(&self, at: usize) -> Option<Value<'_>>;
}

impl<'r> Row<'r> {
    pub fn owned(columns: Vec<Value<'static>>) -> Row<'static> {
        Row::Owned(columns, 0)
    }

    /// Takes the remaining columns.
    pub fn rest(&mut self) -> Vec<Value<'static>> {
        std::iter::from_fn(|| self.next().map(Value::into_owned)).collect()
    }

    fn next(&mut self) -> Option<Value<'r>> {
        match self {
            Row::Owned(columns, at) => {
                *at += 1;
                // Numbers are copied, not moved, so that an error can name the row by its ID.
                Some(match columns.get_mut(*at - 1)? {
                    Value::Int(number) => Value::Int(*number),
                    other => std::mem::replace(other, Value::Null),
                })
            }
            Row::Borrowed(columns, at) => {
                *at += 1;
                columns.column(*at - 1)
            }
        }
    }

    /// Takes the next column.
    pub fn take<T: FromValue>(&mut self) -> Result<T, StoreError> {
        match self.next().and_then(T::from_value) {
            Some(value) => Ok(value),
            None => Err(self.corrupt(std::any::type_name::<T>())),
        }
    }

    #[cold]
    fn corrupt(&self, expected: &'static str) -> StoreError {
        let (first, column) = match self {
            Row::Owned(columns, at) => (columns.first().map(Value::borrowed), *at),
            Row::Borrowed(columns, at) => (columns.column(0), *at),
        };
        let row = match first {
            Some(Value::Int(id)) if column > 1 => id.to_string(),
            _ => "unknown".to_owned(),
        };
        StoreError::Corrupt {
            table: "unknown".to_owned(),
            row,
            column,
            expected,
        }
    }
}

/// A function that converts a row.
pub type ReadRow<T> = fn(&mut Row) -> Result<T, StoreError>;
