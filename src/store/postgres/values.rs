//! Values on the wire: numbers of any width, truths and texts, and nothing else.

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::store::value::Value;

type Fault = Box<dyn Error + Sync + Send>;

impl ToSql for Value<'_> {
    fn to_sql(&self, wanted: &Type, out: &mut BytesMut) -> Result<IsNull, Fault> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(number) => match *wanted {
                Type::INT8 => number.to_sql(wanted, out),
                Type::INT4 => i32::try_from(*number)?.to_sql(wanted, out),
                Type::INT2 => i16::try_from(*number)?.to_sql(wanted, out),
                Type::BOOL => (*number != 0).to_sql(wanted, out),
                _ => Err(format!("a number was given where {wanted} is wanted").into()),
            },
            Value::Text(text) => match <&str as ToSql>::accepts(wanted) {
                true => (&**text).to_sql(wanted, out),
                false => Err(format!("a text was given where {wanted} is wanted").into()),
            },
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl FromSql<'_> for Value<'static> {
    fn from_sql(is: &Type, raw: &[u8]) -> Result<Self, Fault> {
        Ok(match *is {
            Type::INT8 => Value::Int(i64::from_sql(is, raw)?),
            Type::INT4 => Value::Int(i32::from_sql(is, raw)?.into()),
            Type::INT2 => Value::Int(i16::from_sql(is, raw)?.into()),
            Type::BOOL => Value::Int(bool::from_sql(is, raw)?.into()),
            // What `SELECT pg_advisory_xact_lock(…)` answers.
            Type::VOID => Value::Null,
            _ => Value::from(<&str>::from_sql(is, raw)?.to_owned()),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Fault> {
        Ok(Value::Null)
    }

    fn accepts(is: &Type) -> bool {
        matches!(
            *is,
            Type::INT8 | Type::INT4 | Type::INT2 | Type::BOOL | Type::VOID
        ) || <&str as FromSql>::accepts(is)
    }
}
