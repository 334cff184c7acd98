//! Parses the upkeep of an instance: alerts, backups, maintenance and the watchdog.

use crate::model::reason::{Code, Reason};
use crate::model::upkeep::{ALERTS, BackupSchedule, MaintenancePolicy, Upkeep};
use crate::rules::form::{Form, one_of};
use crate::rules::not_offered::refuse_field;

const NO_BACKUPS: &str = "Garth makes no backups of instances: leave this field out, or send false";
const NO_ALERTS: &str = "Garth has no alert definitions: leave this field out, or send an empty list";

/// The upkeep in a request body. A field that is `None` is not changed.
#[derive(Clone, Debug)]
pub struct UpkeepDraft {
    pub watchdog: Option<bool>,
    alerts: [Option<i64>; ALERTS.len()],
    day: Option<&'static str>,
    window: Option<&'static str>,
    maintenance: Option<MaintenancePolicy>,
}

impl UpkeepDraft {
    pub fn read(form: &mut Form) -> Self {
        let watchdog = form.boolean("watchdog_enabled");
        let alerts = form.within("alerts", |form| {
            let alerts = ALERTS.map(|(name, max)| read_threshold(form, name, max));
            refuse_field(form, "system_alerts", NO_ALERTS);
            refuse_field(form, "user_alerts", NO_ALERTS);
            alerts
        });
        let schedule = form.within("backups", |form| {
            refuse_field(form, "enabled", NO_BACKUPS);
            form.within("schedule", |form| {
                let day = form.optional("day", |raw| one_of(raw, &BackupSchedule::DAYS));
                let window = form.optional("window", |raw| one_of(raw, &BackupSchedule::WINDOWS));
                (day, window)
            })
        });
        let (day, window) = schedule.flatten().unwrap_or_default();
        let maintenance = form.optional("maintenance_policy", MaintenancePolicy::parse);
        Self {
            watchdog,
            alerts: alerts.unwrap_or_default(),
            day,
            window,
            maintenance: maintenance.flatten(),
        }
    }

    /// Applies the draft to the current upkeep.
    pub fn over(&self, mut upkeep: Upkeep) -> Upkeep {
        for (threshold, new_threshold) in upkeep.alerts.0.iter_mut().zip(self.alerts) {
            *threshold = new_threshold.unwrap_or(*threshold);
        }
        upkeep.schedule.day = self.day.or(upkeep.schedule.day);
        upkeep.schedule.window = self.window.or(upkeep.schedule.window);
        upkeep.maintenance = self.maintenance.unwrap_or(upkeep.maintenance);
        upkeep
    }
}

/// Refuses `backups_enabled` for a new instance.
pub fn refuse_backups(form: &mut Form) {
    refuse_field(form, "backups_enabled", NO_BACKUPS);
}

fn read_threshold(form: &mut Form, name: &'static str, max: i64) -> Option<i64> {
    let threshold = form.integer(name)?;
    if !(0..=max).contains(&threshold) {
        let field = form.path(name);
        form.refuse(
            field,
            Reason::new(Code::OutOfRange, format!("Must be 0 to {max}")),
        );
        return None;
    }
    Some(threshold)
}
