//! Converts values to and from PostgreSQL: integers of any width, booleans and text. The schema uses no other types.

use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::store::value::Value;

type Fault = Box<dyn Error + Sync + Send>;

impl ToSql for Value<'_> {
    fn to_sql(&self, expected: &Type, out: &mut BytesMut) -> Result<IsNull, Fault> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(number) => match *expected {
                Type::INT8 => number.to_sql(expected, out),
                Type::INT4 => i32::try_from(*number)?.to_sql(expected, out),
                Type::INT2 => i16::try_from(*number)?.to_sql(expected, out),
                Type::BOOL => (*number != 0).to_sql(expected, out),
                _ => Err(format!("expected {expected}, got a number").into()),
            },
            Value::Text(text) => match <&str as ToSql>::accepts(expected) {
                true => (&**text).to_sql(expected, out),
                false => Err(format!("expected {expected}, got text").into()),
            },
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl FromSql<'_> for Value<'static> {
    fn from_sql(ty: &Type, raw: &[u8]) -> Result<Self, Fault> {
        Ok(match *ty {
            Type::INT8 => Value::Int(i64::from_sql(ty, raw)?),
            Type::INT4 => Value::Int(i32::from_sql(ty, raw)?.into()),
            Type::INT2 => Value::Int(i16::from_sql(ty, raw)?.into()),
            Type::BOOL => Value::Int(bool::from_sql(ty, raw)?.into()),
            // The result of `SELECT pg_advisory_xact_lock(…)`.
            Type::VOID => Value::Null,
            _ => Value::from(<&str>::from_sql(ty, raw)?.to_owned()),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Fault> {
        Ok(Value::Null)
    }

    fn accepts(ty: &Type) -> bool {
        matches!(
            *ty,
            Type::INT8 | Type::INT4 | Type::INT2 | Type::BOOL | Type::VOID
        ) || <&str as FromSql>::accepts(ty)
    }
}
