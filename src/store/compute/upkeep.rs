//! The columns of `instance` for alerts, backups and maintenance.

use crate::model::upkeep::{Alerts, BackupSchedule, DiskEncryption, MaintenancePolicy, Upkeep};
use crate::store::error::StoreError;
use crate::store::value::{FromValue, Row, Value};

pub(super) fn read_upkeep(row: &mut Row) -> Result<Upkeep, StoreError> {
    Ok(Upkeep {
        alerts: row.take()?,
        schedule: BackupSchedule {
            day: choice_of(row.take()?, &BackupSchedule::DAYS),
            window: choice_of(row.take()?, &BackupSchedule::WINDOWS),
        },
        maintenance: row.take()?,
    })
}

/// The choice that is equal to the stored text. `None` if no choice is equal.
fn choice_of(text: Option<String>, choices: &[&'static str]) -> Option<&'static str> {
    let text = text?;
    choices.iter().find(|choice| **choice == text).copied()
}

/// The stored form of alerts: their thresholds, such as `90,10,10,80,10000`.
pub(super) fn encode_alerts(alerts: &Alerts) -> String {
    let thresholds: Vec<String> = alerts.0.iter().map(i64::to_string).collect();
    thresholds.join(",")
}

impl FromValue for Alerts {
    fn from_value(value: Value) -> Option<Self> {
        let thresholds: Option<Vec<i64>> = value
            .as_text()?
            .split(',')
            .map(|text| text.parse().ok())
            .collect();
        thresholds?.try_into().ok().map(Alerts)
    }
}

impl FromValue for MaintenancePolicy {
    fn from_value(value: Value) -> Option<Self> {
        MaintenancePolicy::with_word(value.as_text()?)
    }
}

impl FromValue for DiskEncryption {
    fn from_value(value: Value) -> Option<Self> {
        DiskEncryption::with_word(value.as_text()?)
    }
}
