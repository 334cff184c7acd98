//! Encryption between hosts: the setting of each region, the keys that agents report, and their rotation (decision
//! 0033).

use crate::agent_protocol::{Encryption, EncryptionReport, GenerationKey, HostKeys};
use crate::model::encryption::{HostKey, KeyDays, KeyHolder, PublicKey, RegionEncryption, RotationObstacle};
use crate::model::host::Host;
use crate::model::id::HostId;
use crate::model::reason::{Code, Reason};
use crate::rules::error::{Error, Result};
use crate::rules::request::Request;
use crate::store::{self, ReadTx, WriteTx};

/// The encryption of a region with the state of its hosts.
#[derive(Clone, Debug, Hash)]
pub struct EncryptionState {
    pub setting: RegionEncryption,
    /// The hosts of the region with a credential.
    pub hosts: Vec<KeyHolder>,
}

impl EncryptionState {
    /// The hosts for which a rotation waits.
    pub fn waiting(&self) -> impl Iterator<Item = &KeyHolder> {
        let (setting, hosts) = (&self.setting, self.hosts.iter());
        hosts.filter(|host| setting.is_rotating() && host.needs_older_than(setting.generation))
    }

    /// The hosts that block a rotation, with the reason. The other hosts wait for them: without the new key of a host,
    /// they have no session with it.
    pub fn blockers(&self) -> Vec<(&KeyHolder, RotationObstacle)> {
        let generation = self.setting.generation;
        let waiting = self.waiting().map(|host| (host, host.obstacle(generation)));
        let (others, blockers): (Vec<_>, Vec<_>) =
            waiting.partition(|(_, obstacle)| *obstacle == RotationObstacle::NoSessions);
        if blockers.is_empty() { others } else { blockers }
    }

    pub fn without_key(&self) -> impl Iterator<Item = &KeyHolder> {
        self.hosts.iter().filter(|host| host.key.is_none())
    }
}

pub fn view(tx: &mut ReadTx, region: &str) -> Result<EncryptionState> {
    if !tx.policy().regions.iter().any(|known| known.id == region) {
        return Err(Error::NotFound);
    }
    let stored = store::encryption::find(tx, region)?;
    Ok(EncryptionState {
        setting: stored.unwrap_or_else(|| RegionEncryption::off(region)),
        hosts: store::encryption::holders(tx, region)?,
    })
}

/// The newest key of a host, for staff.
pub fn key_of(tx: &mut ReadTx, host: HostId) -> Result<Option<HostKey>> {
    Ok(store::encryption::newest_key(tx, host)?)
}

/// The regions that encrypt, with the state of their hosts.
pub fn enabled(tx: &mut ReadTx) -> Result<Vec<EncryptionState>> {
    let settings = store::encryption::enabled(tx)?;
    let states = settings.into_iter().map(|setting| {
        let hosts = store::encryption::holders(tx, &setting.region)?;
        Ok(EncryptionState { setting, hosts })
    });
    states.collect()
}

/// Switches encryption on or off, changes the lifetime of keys, and starts a rotation. A rotation in progress continues.
pub fn update(tx: &mut WriteTx, region: &str, request: &Request) -> Result<EncryptionState> {
    let before = view(tx, region)?;
    request.check_if_match(&before)?;
    let mut form = request.form()?;
    let enabled = form.boolean("enabled");
    let key_days = form.integer("key_days").map(KeyDays::new);
    let key_days = key_days.and_then(|days| days.map_err(|reason| form.refuse("key_days", reason)).ok());
    let rotate = form.boolean("rotate").unwrap_or_default();
    let mut new = before.setting.clone();
    new.is_enabled = enabled.unwrap_or(new.is_enabled);
    new.key_days = key_days.unwrap_or(new.key_days);
    if rotate && !new.is_enabled {
        let text = "The region does not encrypt, so it has no keys to rotate";
        form.refuse("rotate", Reason::new(Code::EncryptionOff, text));
    }
    form.finish(|| Some(()))?;

    let is_switched = new.is_enabled != before.setting.is_enabled;
    if is_switched && new.is_enabled {
        // Keys from before encryption was switched off are never used again.
        new.generation += 1;
        new.oldest_generation = new.generation;
        new.rotated = tx.now();
    }
    if is_switched && !new.is_enabled {
        store::encryption::delete_keys_before(tx, region, i64::MAX)?;
    }
    let rotates = rotate && !is_switched && !new.is_rotating();
    if rotates {
        begin_rotation(tx, &mut new);
    }
    if new != before.setting {
        new.updated = tx.now();
        store::encryption::set(tx, &new)?;
    }
    if is_switched || rotates {
        store::host_revisions::underlay_changed(tx, region)?;
    }
    view(tx, region)
}

fn begin_rotation(tx: &mut WriteTx, setting: &mut RegionEncryption) {
    setting.generation += 1;
    setting.rotated = tx.now();
}

/// Stores the keys that an agent reports. Ends a rotation when no host needs the old keys, and starts one when the keys
/// have reached their lifetime.
pub fn record(tx: &mut WriteTx, host: &Host, report: Option<&EncryptionReport>) -> Result<()> {
    let setting = store::encryption::find(tx, &host.region)?;
    let Some(mut setting) = setting.filter(|setting| setting.is_enabled) else {
        return Ok(());
    };
    let mut is_changed = false;
    let in_use = setting.oldest_generation..=setting.generation;
    for reported in report.iter().flat_map(|report| &report.keys) {
        let generation = i64::from(reported.generation);
        let key = PublicKey::parse(&reported.public_key).filter(|_| in_use.contains(&generation));
        let Some(key) = key else {
            continue;
        };
        // WireGuard knows its peers by their keys. A copied state folder must not disconnect the original.
        if store::encryption::is_key_of_another_host(tx, host.id, &key)? {
            tracing::warn!(host = %host.id, generation, "key refused: another host has the same key");
            continue;
        }
        is_changed |= store::encryption::set_key(tx, host.id, generation, &key)?;
    }
    let is_over = setting.is_rotating() && {
        let holders = store::encryption::holders(tx, &host.region)?;
        !holders
            .iter()
            .any(|holder| holder.needs_older_than(setting.generation))
    };
    if is_over {
        setting.oldest_generation = setting.generation;
        store::encryption::delete_keys_before(tx, &host.region, setting.generation)?;
    } else if setting.is_due(tx.now()) {
        begin_rotation(tx, &mut setting);
    } else if !is_changed {
        return Ok(());
    }
    store::encryption::set(tx, &setting)?;
    Ok(store::host_revisions::underlay_changed(tx, &host.region)?)
}

/// The encryption of a host's underlay; `None` if its region does not encrypt.
pub fn of_underlay(tx: &mut ReadTx, host: &Host) -> Result<Option<Encryption>> {
    let setting = store::encryption::find(tx, &host.region)?;
    let Some(setting) = setting.filter(|setting| setting.is_enabled) else {
        return Ok(None);
    };
    let mut peers: Vec<HostKeys> = Vec::new();
    for stored in store::encryption::peer_keys(tx, &host.region, host.id)? {
        let Ok(address) = stored.underlay_address.parse() else {
            continue;
        };
        let key = GenerationKey {
            generation: number(stored.generation),
            public_key: stored.public_key,
        };
        match peers.last_mut().filter(|last| last.host_id == stored.host.0) {
            Some(last) => last.keys.push(key),
            None => peers.push(HostKeys {
                host_id: stored.host.0,
                address,
                keys: vec![key],
            }),
        }
    }
    Ok(Some(Encryption {
        generations: (setting.oldest_generation..=setting.generation)
            .map(number)
            .collect(),
        peers,
    }))
}

fn number(generation: i64) -> u32 {
    u32::try_from(generation).unwrap_or(u32::MAX)
}
