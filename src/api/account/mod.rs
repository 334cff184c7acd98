//! Operations on accounts and events.

pub mod accounts;
pub mod announcements;
pub mod branding;
pub mod events;
pub mod provider_accounts;
pub mod tags;

use crate::api::handlers::{change, change_at, done, list, list_at, view, view_at};
use crate::api::{instances, vpc_ips, vpcs};
use crate::declared;
use crate::model::brand_image::ImageSlot;
use crate::model::id::AccountId;
use crate::model::scope::Scope;
use crate::model::staff_role::StaffRole;
use crate::rules::agent::{Agent, Staff};
use crate::rules::caller::Caller;
use crate::rules::provider_accounts::AccountDetails;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::store::WriteTx;
use crate::web::operation::{Handling, Needs, Operation, delete, get, handler, post, put};

const TAGS: &str = "/tags";
const TAG: &str = "/tags/{tagLabel}";
const ANNOUNCEMENTS: &str = "/provider/announcements";
const ANNOUNCEMENT: &str = "/provider/announcements/{announcementId}";
const BRANDING: &str = "/provider/branding";
const BRANDING_LOGO: &str = "/provider/branding/logo";
const BRANDING_FAVICON: &str = "/provider/branding/favicon";
const PROVIDER_ACCOUNTS: &str = "/provider/accounts";
const PROVIDER_ACCOUNT: &str = "/provider/accounts/{accountId}";
const ACCOUNT_VPCS: &str = "/provider/accounts/{accountId}/vpcs";
const ACCOUNT_IPS: &str = "/provider/accounts/{accountId}/vpcs/ips";
const ACCOUNT_IPV6S: &str = "/provider/accounts/{accountId}/vpcs/ipv6s";
const ACCOUNT_EVENTS: &str = "/provider/accounts/{accountId}/events";
const ACCOUNT_INSTANCES: &str = "/provider/accounts/{accountId}/instances";

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
            "getNotifications",
            "/account/notifications",
            list(rules::announcements::notifications, announcements::notifications),
        )
        .on_account()
        .list(),
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

/// The operations with which the provider manages accounts (decision 0034).
pub fn provider_operations() -> Vec<Operation> {
    vec![
        get(
            "getProviderAccounts",
            PROVIDER_ACCOUNTS,
            list(
                |tx, _: &Staff, list| rules::provider_accounts::list(tx, list),
                provider_accounts::page,
            ),
        )
        .of_provider(StaffRole::Support)
        .list(),
        post(
            "createProviderAccount",
            PROVIDER_ACCOUNTS,
            change(
                |tx, staff: &Staff, request| rules::provider_accounts::create(tx, &staff.agent, request),
                provider_accounts::one,
            ),
        )
        .of_provider(StaffRole::Admin),
        get(
            "getProviderAccount",
            PROVIDER_ACCOUNT,
            view_at(
                |tx, _: &Staff, id| rules::provider_accounts::view(tx, id),
                provider_accounts::one,
            ),
        )
        .of_provider(StaffRole::Support),
        put(
            "updateProviderAccount",
            PROVIDER_ACCOUNT,
            change_at(by_staff(rules::provider_accounts::update), provider_accounts::one),
        )
        .of_provider(StaffRole::Operator),
        put(
            "updateProviderAccountQuotas",
            "/provider/accounts/{accountId}/quotas",
            change_at(
                by_staff(rules::provider_accounts::update_quotas),
                provider_accounts::one,
            ),
        )
        .of_provider(StaffRole::Operator),
        post(
            "suspendProviderAccount",
            "/provider/accounts/{accountId}/suspend",
            change_at(
                by_staff(rules::provider_accounts::suspend),
                provider_accounts::one,
            ),
        )
        .of_provider(StaffRole::Operator),
        post(
            "reactivateProviderAccount",
            "/provider/accounts/{accountId}/reactivate",
            change_at(
                by_staff(rules::provider_accounts::reactivate),
                provider_accounts::one,
            ),
        )
        .of_provider(StaffRole::Operator),
        get(
            "exportProviderAccount",
            "/provider/accounts/{accountId}/export",
            view_at(
                |tx, _: &Staff, id| declared::export_account(tx, id),
                provider_accounts::export,
            ),
        )
        .of_provider(StaffRole::Admin),
        post(
            "closeProviderAccount",
            "/provider/accounts/{accountId}/close",
            change_at(by_staff(rules::provider_accounts::close), provider_accounts::one),
        )
        .of_provider(StaffRole::Admin),
    ]
}

/// The operations with which staff see the networks, instances and events of an account (decision 0034).
pub fn network_operations() -> Vec<Operation> {
    let operations = vec![
        get(
            "getProviderAccountVpcs",
            ACCOUNT_VPCS,
            list_at(
                |tx, _: &Staff, id, list| rules::account_networks::vpcs(tx, id, list),
                vpcs::page,
            ),
        ),
        get(
            "getProviderAccountVpcIps",
            ACCOUNT_IPS,
            list_at(
                |tx, _: &Staff, id, list| rules::account_networks::ips(tx, id, list),
                vpc_ips::page,
            ),
        ),
        get(
            "getProviderAccountVpcIpv6s",
            ACCOUNT_IPV6S,
            list_at(
                |tx, _: &Staff, id, list| rules::account_networks::ipv6s(tx, id, list),
                vpc_ips::ipv6_page,
            ),
        ),
        get(
            "getProviderAccountInstances",
            ACCOUNT_INSTANCES,
            list_at(
                |tx, _: &Staff, id, list| rules::account_networks::instances(tx, id, list),
                instances::page,
            ),
        ),
        get(
            "getProviderAccountEvents",
            ACCOUNT_EVENTS,
            list_at(
                |tx, _: &Staff, id, list| rules::account_events::list(tx, id, list),
                |found, context| events::page(&found.events, context),
            ),
        ),
    ];
    let for_support = |operation: Operation| operation.of_provider(StaffRole::Support).list();
    operations.into_iter().map(for_support).collect()
}

/// The operations with which the provider manages announcements (decision 0034).
pub fn announcement_operations() -> Vec<Operation> {
    vec![
        get(
            "getAnnouncements",
            ANNOUNCEMENTS,
            list(
                |tx, _: &Staff, list| rules::announcements::list(tx, list),
                announcements::page,
            ),
        )
        .of_provider(StaffRole::Support)
        .list(),
        post(
            "createAnnouncement",
            ANNOUNCEMENTS,
            change(
                |tx, _: &Staff, request| rules::announcements::create(tx, request),
                announcements::one,
            ),
        )
        .of_provider(StaffRole::Operator),
        get(
            "getAnnouncement",
            ANNOUNCEMENT,
            view_at(
                |tx, _: &Staff, id| rules::announcements::view(tx, id),
                announcements::one,
            ),
        )
        .of_provider(StaffRole::Support),
        put(
            "updateAnnouncement",
            ANNOUNCEMENT,
            change_at(
                |tx, _: &Staff, id, request| rules::announcements::update(tx, id, request),
                announcements::one,
            ),
        )
        .of_provider(StaffRole::Operator),
        delete(
            "deleteAnnouncement",
            ANNOUNCEMENT,
            change_at(
                |tx, _: &Staff, id, request| rules::announcements::delete(tx, id, request),
                done,
            ),
        )
        .of_provider(StaffRole::Operator),
    ]
}

/// The operations with which the provider manages its brand (decision 0038).
pub fn branding_operations() -> Vec<Operation> {
    vec![
        get(
            "getBranding",
            BRANDING,
            view(|tx, _: &Staff| rules::branding::view(tx), branding::one),
        )
        .of_provider(StaffRole::Operator),
        put(
            "updateBranding",
            BRANDING,
            change(
                |tx, _: &Staff, request| rules::branding::update(tx, request),
                branding::one,
            ),
        )
        .of_provider(StaffRole::Admin),
        delete(
            "resetBranding",
            BRANDING,
            change(|tx, _: &Staff, request| rules::branding::reset(tx, request), done),
        )
        .of_provider(StaffRole::Admin),
        put("setBrandingLogo", BRANDING_LOGO, set_image(ImageSlot::Logo)).of_provider(StaffRole::Admin),
        delete("deleteBrandingLogo", BRANDING_LOGO, remove_image(ImageSlot::Logo))
            .of_provider(StaffRole::Admin),
        put(
            "setBrandingFavicon",
            BRANDING_FAVICON,
            set_image(ImageSlot::Favicon),
        )
        .of_provider(StaffRole::Admin),
        delete(
            "deleteBrandingFavicon",
            BRANDING_FAVICON,
            remove_image(ImageSlot::Favicon),
        )
        .of_provider(StaffRole::Admin),
    ]
}

fn set_image(slot: ImageSlot) -> Handling {
    change(
        move |tx, _: &Staff, upload| rules::branding::set_image(tx, slot, upload),
        branding::one,
    )
}

fn remove_image(slot: ImageSlot) -> Handling {
    change(
        move |tx, _: &Staff, request| rules::branding::remove_image(tx, slot, request),
        done,
    )
}

/// Adapts a rule that changes an account. The access check is the permission check of such a rule.
fn by_staff(
    rule: fn(&mut WriteTx, Option<&Agent>, AccountId, &Request) -> Result<AccountDetails>,
) -> impl Fn(&mut WriteTx, &Staff, AccountId, &Request) -> Result<AccountDetails> + Copy {
    move |tx, staff, id, request| rule(tx, Some(&staff.agent), id, request)
}
