//! The settings of an account.

use crate::model::account::settings::AccountSettings;
use crate::model::event::Action;
use crate::model::upkeep::MaintenancePolicy;
use crate::rules::caller::Caller;
use crate::rules::error::Result;
use crate::rules::form::Form;
use crate::rules::request::Request;
use crate::rules::{accounts, event_changes, events, not_offered};
use crate::store::{self, ReadTx, WriteTx};

/// The account's settings. Clients read them for every user, so no account access is needed.
pub fn view(tx: &mut ReadTx, caller: &Caller) -> Result<AccountSettings> {
    Ok(accounts::load(tx, caller.account)?.settings)
}

pub fn update(tx: &mut WriteTx, caller: &Caller, request: &Request) -> Result<AccountSettings> {
    accounts::require_change(caller)?;
    let before = view(tx, caller)?;
    let mut settings = before;
    request.check_if_match(&settings)?;
    let mut form = request.form()?;
    let network_helper = form.boolean("network_helper");
    let policy = form
        .optional("maintenance_policy", MaintenancePolicy::parse)
        .flatten();
    refuse_not_offered(&mut form);
    form.finish(|| Some(()))?;

    settings.network_helper = network_helper.unwrap_or(settings.network_helper);
    settings.maintenance_policy = policy.unwrap_or(settings.maintenance_policy);
    store::accounts::set_settings(tx, caller.account, settings)?;
    let changes = event_changes::of_settings(before, settings);
    events::record_account_update(tx, caller, Action::AccountSettingsUpdate, None, &changes)?;
    Ok(settings)
}

/// Refuses settings of services that Garth does not offer.
fn refuse_not_offered(form: &mut Form) {
    let not_offered_fields = [
        ("managed", "Managed services are not offered; must be false"),
        ("backups_enabled", "Backups are not offered; must be false"),
        ("longview_subscription", "Longview is not offered; must be null"),
    ];
    for (name, text) in not_offered_fields {
        not_offered::refuse_field(form, name, text);
    }
    let fixed = [
        (
            "object_storage",
            AccountSettings::OBJECT_STORAGE,
            "Object storage is not offered; must be disabled",
        ),
        (
            "interfaces_for_new_linodes",
            AccountSettings::INTERFACES_FOR_NEW_LINODES,
            "Instances have the interfaces of their configs; must be legacy_config_only",
        ),
    ];
    for (name, allowed, text) in fixed {
        not_offered::refuse_other_than(form, name, allowed, text);
    }
}
