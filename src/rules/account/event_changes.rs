//! The differences that the events of updates show: each field with its old and its new value.

use crate::model::account::Account;
use crate::model::account::settings::AccountSettings;
use crate::model::config::{Config, DEVICES, HELPERS};
use crate::model::event_change::Changes;
use crate::model::id::DiskId;
use crate::model::instance::Instance;
use crate::model::interface::{Interface, write_address};
use crate::model::label::Label;
use crate::model::text::Description;
use crate::model::upkeep::ALERTS;
use crate::model::user::User;
use crate::model::vpc::Vpc;

/// The changes of a VPC, from its old label and description.
pub fn of_vpc((label, description): (&Label, &Description), vpc: &Vpc) -> Changes {
    let mut changes = Changes::default();
    changes.add("label", label.as_str(), vpc.label.as_str());
    changes.add("description", description.as_str(), vpc.description.as_str());
    changes
}

/// The change of one value.
pub fn of_field(field: &str, before: impl ToString, after: impl ToString) -> Changes {
    let mut changes = Changes::default();
    changes.add(field, before, after);
    changes
}

pub fn of_instance(before: &Instance, after: &Instance) -> Changes {
    let mut changes = Changes::default();
    changes.add("label", before.label.as_str(), after.label.as_str());
    changes.add("group", &before.group, &after.group);
    changes.add("tags", before.tags.join(", "), after.tags.join(", "));
    changes.add("watchdog_enabled", before.watchdog, after.watchdog);
    let (old, new) = (&before.upkeep, &after.upkeep);
    for (at, (name, _)) in ALERTS.iter().enumerate() {
        changes.add(format!("alerts.{name}"), old.alerts.0[at], new.alerts.0[at]);
    }
    let (day, window) = (old.schedule.day, old.schedule.window);
    changes.add(
        "backups.day",
        day.unwrap_or_default(),
        new.schedule.day.unwrap_or_default(),
    );
    changes.add(
        "backups.window",
        window.unwrap_or_default(),
        new.schedule.window.unwrap_or_default(),
    );
    changes.add(
        "maintenance_policy",
        old.maintenance.word(),
        new.maintenance.word(),
    );
    changes
}

pub fn of_config(before: &Config, after: &Config) -> Changes {
    let mut changes = Changes::default();
    changes.add("label", before.label.as_str(), after.label.as_str());
    let (old, new) = (&before.settings, &after.settings);
    changes.add("comments", &old.comments, &new.comments);
    changes.add("kernel", &old.kernel, &new.kernel);
    changes.add("memory_limit", old.memory_limit, new.memory_limit);
    changes.add("root_device", &old.root_device, &new.root_device);
    changes.add("run_level", &old.run_level, &new.run_level);
    changes.add("virt_mode", &old.virt_mode, &new.virt_mode);
    for (at, name) in HELPERS.iter().enumerate() {
        changes.add(format!("helpers.{name}"), old.helpers[at], new.helpers[at]);
    }
    for (at, name) in DEVICES.iter().enumerate() {
        let disk = |devices: &[Option<_>]| devices[at].map(|disk: DiskId| disk.to_string());
        let (old, new) = (disk(&old.devices), disk(&new.devices));
        changes.add(
            format!("devices.{name}"),
            old.unwrap_or_default(),
            new.unwrap_or_default(),
        );
    }
    let written = |config: &Config| {
        let interfaces: Vec<_> = config.interfaces.iter().map(write_interface).collect();
        interfaces.join("; ")
    };
    changes.add("interfaces", written(before), written(after));
    changes
}

/// Adds the change of one interface. `None` means that the interface does not exist.
pub fn add_interface(changes: &mut Changes, before: Option<&Interface>, after: Option<&Interface>) {
    let Some(interface) = before.or(after) else {
        return;
    };
    let written = |interface: Option<&Interface>| interface.map(write_interface).unwrap_or_default();
    changes.add(
        format!("interface {}", interface.id),
        written(before),
        written(after),
    );
}

/// The facts about an interface that its owner can set.
pub fn write_interface(interface: &Interface) -> String {
    let mut text = interface.purpose.word().to_owned();
    for value in [&interface.label, &interface.ipam_address].into_iter().flatten() {
        text += &format!(" {value}");
    }
    if let Some(vpc) = &interface.vpc {
        text += &format!(" {} in subnet {}", write_address(vpc.address), vpc.subnet);
        for range in &vpc.ranges {
            text += &format!(", routed {range}");
        }
        for network in vpc.networks6() {
            text += &format!(", {network}");
        }
        if let Some(address) = vpc.nat_1_1 {
            text += &format!(", 1:1 NAT {}", write_address(address));
        }
    }
    if interface.primary {
        text += ", primary";
    }
    text
}

pub fn of_user(before: &User, after: &User) -> Changes {
    let mut changes = Changes::default();
    changes.add("username", before.username.as_str(), after.username.as_str());
    changes.add("email", before.email.as_str(), after.email.as_str());
    changes.add("restricted", before.restricted, after.restricted);
    changes.add("timezone", &before.timezone, &after.timezone);
    changes.add(
        "email_notifications",
        before.email_notifications,
        after.email_notifications,
    );
    changes.add(
        "lish_auth_method",
        &before.lish_auth_method,
        &after.lish_auth_method,
    );
    let keys = |user: &User| {
        user.authorized_keys
            .as_deref()
            .map_or(0, |keys| keys.lines().count())
    };
    let written = |user: &User| format!("{} keys", keys(user));
    if before.authorized_keys != after.authorized_keys {
        changes.add(
            "authorized_keys",
            written(before),
            format!("{} (new)", written(after)),
        );
    }
    changes
}

pub fn of_settings(before: AccountSettings, after: AccountSettings) -> Changes {
    let mut changes = Changes::default();
    changes.add("network_helper", before.network_helper, after.network_helper);
    let (old, new) = (before.maintenance_policy, after.maintenance_policy);
    changes.add("maintenance_policy", old.word(), new.word());
    changes
}

/// The changes of the details, the status and the quotas of an account.
pub fn of_account(before: &Account, after: &Account) -> Changes {
    let mut changes = Changes::default();
    changes.add("email", &before.email, &after.email);
    changes.add("company", &before.company, &after.company);
    let (old, new) = (&before.contact, &after.contact);
    changes.add("first_name", old.first_name.as_str(), new.first_name.as_str());
    changes.add("last_name", old.last_name.as_str(), new.last_name.as_str());
    changes.add("address_1", old.address_1.as_str(), new.address_1.as_str());
    changes.add("address_2", old.address_2.as_str(), new.address_2.as_str());
    changes.add("city", old.city.as_str(), new.city.as_str());
    changes.add("state", old.state.as_str(), new.state.as_str());
    changes.add("zip", old.zip.as_str(), new.zip.as_str());
    changes.add("country", old.country.as_str(), new.country.as_str());
    changes.add("phone", old.phone.as_str(), new.phone.as_str());
    changes.add("tax_id", old.tax_id.as_str(), new.tax_id.as_str());
    changes.add("status", before.status.word(), after.status.word());
    let limit = |limit: Option<i64>| limit.map_or_else(|| "default".to_owned(), |limit| limit.to_string());
    let (old, new) = (before.quota, after.quota);
    changes.add(
        "vpcs_per_region",
        limit(old.vpcs_per_region),
        limit(new.vpcs_per_region),
    );
    changes.add(
        "subnets_per_vpc",
        limit(old.subnets_per_vpc),
        limit(new.subnets_per_vpc),
    );
    changes.add(
        "attachment_bytes",
        limit(old.attachment_bytes),
        limit(new.attachment_bytes),
    );
    changes
}
