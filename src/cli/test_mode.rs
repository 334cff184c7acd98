//! The settings `test_control` and `chaos`, which are refused unless the server listens on a loopback address.

use std::net::SocketAddr;
use std::path::Path;

use anyhow::{Context, ensure};
use serde_json::{Map, Value};

use super::listeners::DEFAULT_LISTEN;
use super::policy::policy_of;
use super::settings::Settings;
use crate::jobs::JobContext;
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason};
use crate::rules;
use crate::rules::error::FieldError;
use crate::store::context::{Clock, RandomSource};
use crate::store::table_snapshot::TableSnapshot;
use crate::store::{Store, StoreContext, VirtualClock};
use crate::test_control::{Chaos, Setup};
use crate::web::Options;

/// The temporary folder in which an empty store is created.
const EMPTY_STORE_FOLDER: &str = "empty-store";

pub struct TestMode {
    has_control: bool,
    chaos: Option<Chaos>,
}

impl TestMode {
    /// `None` if the settings enable neither test control nor chaos.
    pub fn find(settings: &Settings) -> anyhow::Result<Option<Self>> {
        let has_control = settings.test_control == Some(true);
        let random = RandomSource::System.bytes();
        let random_seed = u32::from_be_bytes([random[0], random[1], random[2], random[3]]);
        let parse = |raw: &String| {
            let chaos = Chaos::parse(raw, random_seed.into());
            chaos.with_context(|| format!("chaos: must be light, heavy or a seed such as heavy-7, not {raw}"))
        };
        let chaos = settings.chaos.as_ref().map(parse).transpose()?;
        if !has_control && chaos.is_none() {
            return Ok(None);
        }
        let mode = Self { has_control, chaos };
        mode.require_loopback(settings.listen.unwrap_or(DEFAULT_LISTEN.into()))?;
        Ok(Some(mode))
    }

    /// Refuses an address that other machines can reach.
    pub fn require_loopback(&self, address: SocketAddr) -> anyhow::Result<()> {
        let setting = match self.has_control {
            true => "test_control",
            false => "chaos",
        };
        ensure!(
            address.ip().is_loopback(),
            "{setting}: allowed only if the server listens on a loopback address such as 127.0.0.1:8080, not on {address}"
        );
        Ok(())
    }

    pub fn clock(&self) -> Clock {
        match self.has_control {
            true => Clock::Virtual(VirtualClock::default()),
            false => Clock::System,
        }
    }

    /// The lines of the startup message.
    pub fn message(&self, listen_url: &str) -> String {
        let mut message = String::new();
        if self.has_control {
            message += &format!("Test control: {listen_url}/_test\n");
        }
        if let Some(chaos) = &self.chaos {
            message += &format!("Chaos: repeat these faults with --chaos {chaos}\n");
        }
        message
    }

    fn log(&self) {
        if self.has_control {
            tracing::warn!("test control enabled, every local program can delete all data");
        }
        if let Some(chaos) = &self.chaos {
            tracing::warn!(seed = %chaos, "chaos enabled, requests fail on purpose");
        }
    }

    pub async fn setup(
        self,
        jobs: JobContext,
        options: Options,
        settings: &Settings,
        folder: &Path,
    ) -> anyhow::Result<Setup> {
        self.log();
        let empty = match self.has_control {
            true => Some(
                empty_rows(folder, settings)
                    .await
                    .context("cannot create an empty store for test control")?,
            ),
            false => None,
        };
        let settings = settings.clone();
        Ok(Setup {
            jobs,
            options,
            chaos: self.chaos,
            empty,
            change_policy: Box::new(move |changes| changed_policy(&settings, changes)),
        })
    }
}

/// The rows of a new store. They are the same for both engines.
async fn empty_rows(folder: &Path, settings: &Settings) -> anyhow::Result<TableSnapshot> {
    let folder = folder.join(EMPTY_STORE_FOLDER);
    let context = StoreContext {
        clock: Clock::System,
        random: RandomSource::System,
        policy: policy_of(settings)?.into(),
    };
    let store = Store::open_embedded(&folder, context)?;
    let rows = store.read_once(TableSnapshot::read).await;
    drop(store);
    std::fs::remove_dir_all(&folder)?;
    Ok(rows?)
}

/// The policy with some settings changed.
pub fn changed_policy(settings: &Settings, changes: &Map<String, Value>) -> rules::Result<Policy> {
    let mut settings = settings.clone();
    let mut errors = Vec::new();
    for (name, value) in changes {
        let Some(setting) = changeable_setting(&mut settings, name) else {
            let reason = format!("Must be one of {}", CHANGEABLE_SETTINGS.join(", "));
            errors.push(FieldError::on(name, Reason::new(Code::ChoiceInvalid, reason)));
            continue;
        };
        match value.as_i64() {
            Some(number) => *setting = Some(number),
            None => {
                let reason = Reason::new(
                    Code::WrongType,
                    "Must be an integer, or null for the value of the server",
                );
                errors.push(FieldError::on(name, reason));
            }
        }
    }
    if !errors.is_empty() {
        return Err(rules::Error::Refused(errors));
    }
    policy_of(&settings).map_err(|cause| {
        let reason = Reason::new(Code::OutOfRange, format!("{cause:#}"));
        rules::Error::Refused(vec![FieldError::whole(reason)])
    })
}

const CHANGEABLE_SETTINGS: [&str; 7] = [
    "compute.additional_addresses",
    "compute.settle_ms",
    "event_days",
    "page_size_min",
    "quota.attachment_bytes",
    "quota.subnets_per_vpc",
    "quota.vpcs_per_region",
];

fn changeable_setting<'a>(settings: &'a mut Settings, name: &str) -> Option<&'a mut Option<i64>> {
    match name {
        "compute.additional_addresses" => Some(&mut settings.compute.additional_addresses),
        "compute.settle_ms" => Some(&mut settings.compute.settle_ms),
        "event_days" => Some(&mut settings.event_days),
        "page_size_min" => Some(&mut settings.page_size_min),
        "quota.attachment_bytes" => Some(&mut settings.quota.attachment_bytes),
        "quota.subnets_per_vpc" => Some(&mut settings.quota.subnets_per_vpc),
        "quota.vpcs_per_region" => Some(&mut settings.quota.vpcs_per_region),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_setting_can_be_changed() {
        for name in CHANGEABLE_SETTINGS {
            let changed = changed_policy(
                &Settings::default(),
                &Map::from_iter([(name.to_owned(), 3.into())]),
            );
            assert!(changed.is_ok(), "{name}");
        }
    }
}
