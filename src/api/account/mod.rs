//! Operations on accounts and events.

pub mod accounts;
pub mod events;
pub mod tags;

use crate::api::handlers::{change, change_at, done, list, list_at, view, view_at};
use crate::model::scope::Scope;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::caller::Caller;
use crate::web::operation::{Needs, Operation, delete, get, handler, post, put};

const TAGS: &str = "/tags";
const TAG: &str = "/tags/{tagLabel}";

pub fn operations() -> Vec<Operation> {
    vec![
        // Events (interface §6)
        get(
            "getEvents",
            "/account/events",
            list(rules::events::list, events::page),
        )
        .scope(Scope::EVENTS_READ_ONLY)
        .list(),
        get("streamEvents", "/account/events/stream", handler(events::stream)).scope(Scope::EVENTS_READ_ONLY),
        get(
            "getEvent",
            "/account/events/{eventId}",
            view_at(rules::events::view, events::one),
        )
        .scope(Scope::EVENTS_READ_ONLY),
        post(
            "markEventSeen",
            "/account/events/{eventId}/seen",
            change_at(rules::events::mark_seen, done),
        )
        .scope(Scope::EVENTS_READ_ONLY),
        post(
            "markEventRead",
            "/account/events/{eventId}/read",
            change_at(rules::events::mark_read, done),
        )
        .scope(Scope::EVENTS_READ_ONLY),
        // The account
        get(
            "getQuotas",
            "/account/quotas",
            view(rules::accounts::quota_use, accounts::quotas),
        ),
        get(
            "getAccount",
            "/account",
            view(rules::accounts::view, accounts::one),
        )
        .on_account()
        .needs(Needs::AccountReadOnly),
        put(
            "updateAccount",
            "/account",
            change(rules::accounts::update, accounts::one),
        )
        .with_account_access(),
        get(
            "getAccountSettings",
            "/account/settings",
            view(rules::settings::view, accounts::settings),
        )
        .on_account(),
        put(
            "updateAccountSettings",
            "/account/settings",
            change(rules::settings::update, accounts::settings),
        )
        .with_account_access(),
        get(
            "getAccountTransfer",
            "/account/transfer",
            view(rules::accounts::transfer, accounts::transfer),
        )
        .on_account(),
        get(
            "getAvailability",
            "/account/availability",
            list(
                |tx, _: &Caller, list| rules::regions::list_named(tx.policy(), list),
                accounts::availability_page,
            ),
        )
        .on_account()
        .list(),
        get(
            "getRegionAvailability",
            "/account/availability/{regionId}",
            view_at(
                |tx, _: &Caller, id: String| rules::regions::view(tx.policy(), &id),
                accounts::availability,
            ),
        )
        .on_account(),
        // Tags of the account's objects
        get("getTags", TAGS, list(rules::tags::list, tags::page))
            .unrestricted()
            .list(),
        post("createTag", TAGS, change(rules::tags::create, tags::one)).unrestricted(),
        get(
            "getTaggedObjects",
            TAG,
            list_at(rules::tags::objects, tags::objects),
        )
        .unrestricted()
        .list(),
        delete("deleteTag", TAG, change_at(rules::tags::delete, done)).unrestricted(),
    ]
}

/// The operations on accounts for the provider's staff.
pub fn desk_operations() -> Vec<Operation> {
    vec![
        get(
            "getDeskAccounts",
            "/desk/accounts",
            list(
                |tx, _: &Staff, list| rules::accounts::desk_list(tx, list),
                accounts::desk_page,
            ),
        )
        .at_desk()
        .list(),
        get(
            "getDeskAccount",
            "/desk/accounts/{accountId}",
            view_at(
                |tx, _: &Staff, id| rules::accounts::desk_view(tx, id),
                accounts::desk_one,
            ),
        )
        .at_desk(),
    ]
}
