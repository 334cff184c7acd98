//! Problems of the PostgreSQL server's configuration, for `garth doctor`.

use super::connection::Connection;
use crate::store::context::Clock;
use crate::store::diagnosis::Diagnosis;
use crate::store::error::StoreError;
use crate::store::sql::Sql;
use crate::store::value::Row;

/// Settings that put data at risk if they are off.
const SAFETY: [(&str, &str); 3] = [
    ("fsync", "a crash of the database server can damage the database"),
    (
        "full_page_writes",
        "a crash of the database server can damage the database",
    ),
    (
        "synchronous_commit",
        "a crash of the database server can lose writes that Garth has acknowledged",
    ),
];
/// The oldest major version that still gets security updates.
const OLDEST_VERSION: i64 = 14;
/// The maximum difference between the clocks.
const MAX_SKEW_MICROS: i64 = 2_000_000;

pub fn find(connection: &mut Connection) -> Result<Vec<Diagnosis>, StoreError> {
    let mut found = Vec::new();
    for (name, risk) in SAFETY {
        if setting(connection, name)? == "off" {
            found.push(Diagnosis::new(
                format!("{name} is off: {risk}"),
                format!("set {name} = on in postgresql.conf; ALTER ROLE and ALTER DATABASE can override it"),
            ));
        }
    }
    found.extend(version(connection)?);
    found.extend(connections(connection)?);
    found.extend(clock(connection)?);
    Ok(found)
}

fn setting(connection: &mut Connection, name: &str) -> Result<String, StoreError> {
    let mut rows = connection.query("SELECT current_setting($1)", &[name.into()])?;
    rows.first_mut().map_or(Ok(String::new()), Row::take)
}

fn number(connection: &mut Connection, sql: &str) -> Result<i64, StoreError> {
    let mut rows = connection.query(sql, &[])?;
    rows.first_mut().map_or(Ok(0), Row::take)
}

fn version(connection: &mut Connection) -> Result<Option<Diagnosis>, StoreError> {
    let major = number(
        connection,
        "SELECT CAST(current_setting('server_version_num') AS BIGINT) / 10000",
    )?;
    Ok((major < OLDEST_VERSION).then(|| {
        Diagnosis::new(
            format!("PostgreSQL {major} no longer gets security updates"),
            format!("upgrade to PostgreSQL {OLDEST_VERSION} or later"),
        )
    }))
}

/// A node that cannot open its connections answers 503.
fn connections(connection: &mut Connection) -> Result<Option<Diagnosis>, StoreError> {
    let max = number(
        connection,
        "SELECT CAST(current_setting('max_connections') AS BIGINT)",
    )?;
    let used = number(
        connection,
        "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'",
    )?;
    Ok((used * 10 >= max * 8).then(|| {
        Diagnosis::new(
            format!("{used} of {max} database connections are in use"),
            "raise max_connections in postgresql.conf, or lower database_connections of the nodes",
        )
    }))
}

fn clock(connection: &mut Connection) -> Result<Option<Diagnosis>, StoreError> {
    let sql = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)";
    let skew = (number(connection, sql)? - Clock::System.now().micros()).abs();
    Ok((skew > MAX_SKEW_MICROS).then(|| {
        Diagnosis::new(
            format!(
                "the clocks of this machine and of the database server differ by {} seconds",
                skew / 1_000_000
            ),
            "synchronize both clocks with NTP",
        )
    }))
}
