//! Every operation, once. The router, the access check, the headers, the rate limits and the
//! access test are made from this table, so an operation that is not in it does not exist.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::Method;
use axum::routing::MethodRouter;
use axum::{Router, middleware};

use crate::api::{
    accounts, apps, attachments, canned_replies, configs, desk, docs, entities, events, grants, health, icon,
    images, instances, interfaces, logins, oauth, oauth_clients, oauth_tokens, plans, profile, regions,
    replies, service, subnets, tickets, tokens, users, vpc_ips, vpcs,
};
use crate::model::scope::Scope;
use crate::web::operation::{Class, Needs, Operation, op};
use crate::web::{App, access, error};

pub static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let (get, post) = (Method::GET, Method::POST);
    let (put, delete) = (Method::PUT, Method::DELETE);
    vec![
        // VPCs (interface §4.1)
        op("getVpcs", &get, "/vpcs", vpcs::list).list(),
        op("createVpc", &post, "/vpcs", vpcs::create)
            .scope(Scope::VPC_READ_WRITE)
            .needs(Needs::AddVpcs),
        op("getVpc", &get, "/vpcs/{vpcId}", vpcs::view).needs(Needs::VpcReadOnly),
        op("updateVpc", &put, "/vpcs/{vpcId}", vpcs::update)
            .scope(Scope::VPC_READ_WRITE)
            .needs(Needs::VpcReadWrite),
        op("deleteVpc", &delete, "/vpcs/{vpcId}", vpcs::delete)
            .scope(Scope::VPC_READ_WRITE)
            .needs(Needs::VpcReadWrite),
        // VPC subnets (interface §4.2)
        op("getVpcSubnets", &get, "/vpcs/{vpcId}/subnets", subnets::list)
            .needs(Needs::VpcReadOnly)
            .list(),
        op("createVpcSubnet", &post, "/vpcs/{vpcId}/subnets", subnets::create)
            .scope(Scope::VPC_READ_WRITE)
            .needs(Needs::VpcReadWrite),
        op(
            "getVpcSubnet",
            &get,
            "/vpcs/{vpcId}/subnets/{vpcSubnetId}",
            subnets::view,
        )
        .needs(Needs::VpcReadOnly),
        op(
            "updateVpcSubnet",
            &put,
            "/vpcs/{vpcId}/subnets/{vpcSubnetId}",
            subnets::update,
        )
        .scope(Scope::VPC_READ_WRITE)
        .needs(Needs::VpcReadWrite),
        op(
            "deleteVpcSubnet",
            &delete,
            "/vpcs/{vpcId}/subnets/{vpcSubnetId}",
            subnets::delete,
        )
        .scope(Scope::VPC_READ_WRITE)
        .needs(Needs::VpcReadWrite),
        // VPC IP addresses (interface §4.1)
        op("getVpcsIps", &get, "/vpcs/ips", vpc_ips::list)
            .scope(Scope::IPS_READ_ONLY)
            .list(),
        op("getVpcIps", &get, "/vpcs/{vpcId}/ips", vpc_ips::of_vpc)
            .scope(Scope::IPS_READ_ONLY)
            .needs(Needs::VpcReadOnly)
            .list(),
        // Instances
        op("getInstances", &get, "/compute/instances", instances::list)
            .scope(Scope::LINODES_READ_ONLY)
            .list(),
        op("createInstance", &post, "/compute/instances", instances::create)
            .scope(Scope::LINODES_READ_WRITE)
            .needs(Needs::AddLinodes)
            .class(Class::InstanceCreate),
        op("getInstance", &get, INSTANCE, instances::view).on_instance(),
        op("updateInstance", &put, INSTANCE, instances::update).on_instance(),
        op("deleteInstance", &delete, INSTANCE, instances::delete).on_instance(),
        op(
            "bootInstance",
            &post,
            "/compute/instances/{computeId}/boot",
            instances::boot,
        )
        .on_instance(),
        op(
            "rebootInstance",
            &post,
            "/compute/instances/{computeId}/reboot",
            instances::reboot,
        )
        .on_instance(),
        op(
            "shutdownInstance",
            &post,
            "/compute/instances/{computeId}/shutdown",
            instances::shutdown,
        )
        .on_instance(),
        op(
            "getInstanceIps",
            &get,
            "/compute/instances/{computeId}/ips",
            instances::ips,
        )
        .on_instance(),
        // Configs
        op("getConfigs", &get, CONFIGS, configs::list)
            .on_instance()
            .list(),
        op("createConfig", &post, CONFIGS, configs::create).on_instance(),
        op("getConfig", &get, CONFIG, configs::view).on_instance(),
        op("updateConfig", &put, CONFIG, configs::update).on_instance(),
        op("deleteConfig", &delete, CONFIG, configs::delete).on_instance(),
        // Interfaces of a config
        op("getConfigInterfaces", &get, INTERFACES, interfaces::list).on_instance(),
        op("createConfigInterface", &post, INTERFACES, interfaces::create).on_instance(),
        op("orderConfigInterfaces", &post, INTERFACE_ORDER, interfaces::order).on_instance(),
        op("getConfigInterface", &get, INTERFACE, interfaces::view).on_instance(),
        op("updateConfigInterface", &put, INTERFACE, interfaces::update).on_instance(),
        op("deleteConfigInterface", &delete, INTERFACE, interfaces::delete).on_instance(),
        // Events (interface §6)
        op("getEvents", &get, "/account/events", events::list)
            .scope(Scope::EVENTS_READ_ONLY)
            .list(),
        op("streamEvents", &get, "/account/events/stream", events::stream).scope(Scope::EVENTS_READ_ONLY),
        op("getEvent", &get, "/account/events/{eventId}", events::view).scope(Scope::EVENTS_READ_ONLY),
        op(
            "markEventSeen",
            &post,
            "/account/events/{eventId}/seen",
            events::seen,
        )
        .scope(Scope::EVENTS_READ_ONLY),
        op(
            "markEventRead",
            &post,
            "/account/events/{eventId}/read",
            events::read,
        )
        .scope(Scope::EVENTS_READ_ONLY),
        // The account
        op("getQuotas", &get, "/account/quotas", accounts::quotas),
        op("getAccount", &get, "/account", accounts::view)
            .on_account()
            .needs(Needs::AccountReadOnly),
        op(
            "getAccountSettings",
            &get,
            "/account/settings",
            accounts::settings,
        )
        .on_account(),
        op(
            "getAvailability",
            &get,
            "/account/availability",
            accounts::availability,
        )
        .on_account()
        .list(),
        op(
            "getRegionAvailability",
            &get,
            "/account/availability/{regionId}",
            accounts::region_availability,
        )
        .on_account(),
        // The caller
        op("getProfile", &get, "/profile", profile::view),
        op("updateProfile", &put, "/profile", profile::update).on_account(),
        op("getProfileGrants", &get, "/profile/grants", profile::grants),
        op(
            "getPreferences",
            &get,
            "/profile/preferences",
            profile::preferences,
        ),
        op(
            "updatePreferences",
            &put,
            "/profile/preferences",
            profile::set_preferences,
        )
        .on_account(),
        op("getTokens", &get, "/profile/tokens", tokens::list)
            .on_account()
            .list(),
        op("createToken", &post, "/profile/tokens", tokens::create).on_account(),
        op("getToken", &get, TOKEN, tokens::view).on_account(),
        op("updateToken", &put, TOKEN, tokens::update).on_account(),
        op("deleteToken", &delete, TOKEN, tokens::delete).on_account(),
        op("getProfileApps", &get, "/profile/apps", apps::list)
            .on_account()
            .list(),
        op("getProfileApp", &get, "/profile/apps/{appId}", apps::view).on_account(),
        op("deleteProfileApp", &delete, "/profile/apps/{appId}", apps::delete).on_account(),
        // Users and what they may do
        op("getUsers", &get, USERS, users::list)
            .on_account()
            .needs(Needs::Unrestricted)
            .list(),
        op("createUser", &post, USERS, users::create)
            .on_account()
            .needs(Needs::Unrestricted),
        op("getUser", &get, USER, users::view)
            .on_account()
            .needs(Needs::Unrestricted),
        op("updateUser", &put, USER, users::update)
            .on_account()
            .needs(Needs::Unrestricted),
        op("deleteUser", &delete, USER, users::delete)
            .on_account()
            .needs(Needs::Unrestricted),
        op("getUserGrants", &get, USER_GRANTS, grants::view)
            .on_account()
            .needs(Needs::Unrestricted),
        op("updateUserGrants", &put, USER_GRANTS, grants::update)
            .on_account()
            .needs(Needs::Unrestricted),
        // Programs that may ask for access
        op("getOauthClients", &get, CLIENTS, oauth_clients::list)
            .with_account_access()
            .list(),
        op("createOauthClient", &post, CLIENTS, oauth_clients::create)
            .on_account()
            .needs(Needs::Unrestricted),
        op("getOauthClient", &get, CLIENT, oauth_clients::view).with_account_access(),
        op("updateOauthClient", &put, CLIENT, oauth_clients::update)
            .on_account()
            .needs(Needs::Unrestricted),
        op("deleteOauthClient", &delete, CLIENT, oauth_clients::delete)
            .on_account()
            .needs(Needs::Unrestricted),
        op(
            "resetOauthClientSecret",
            &post,
            "/account/oauth-clients/{clientId}/reset-secret",
            oauth_clients::reset_secret,
        )
        .on_account()
        .needs(Needs::Unrestricted),
        // Support (interface §4.3)
        op("getTickets", &get, TICKETS, tickets::list)
            .scope(Scope::ACCOUNT_READ_ONLY)
            .list(),
        op("createTicket", &post, TICKETS, tickets::create)
            .scope(Scope::ACCOUNT_READ_WRITE)
            .class(Class::TicketCreate),
        op("getTicket", &get, TICKET, tickets::view).with_account_access(),
        op(
            "closeTicket",
            &post,
            "/support/tickets/{ticketId}/close",
            tickets::close,
        )
        .with_account_access(),
        op("getTicketReplies", &get, TICKET_REPLIES, replies::list)
            .with_account_access()
            .list(),
        op("createTicketReply", &post, TICKET_REPLIES, replies::create).with_account_access(),
        op("getTicketAttachments", &get, TICKET_FILES, attachments::list)
            .with_account_access()
            .list(),
        op("createTicketAttachment", &post, TICKET_FILES, attachments::create).with_account_access(),
        op("getTicketAttachment", &get, TICKET_FILE, attachments::download).with_account_access(),
        op("getSupportLimits", &get, "/support/limits", tickets::limits),
        // The desk
        op("getDeskTickets", &get, DESK, desk::list).at_desk().list(),
        op("createDeskTicket", &post, DESK, desk::create).at_desk(),
        op("getDeskTicket", &get, DESK_TICKET, desk::view).at_desk(),
        op("updateDeskTicket", &put, DESK_TICKET, desk::update).at_desk(),
        op(
            "claimDeskTicket",
            &post,
            "/desk/tickets/{ticketId}/claim",
            desk::claim,
        )
        .at_desk(),
        op(
            "releaseDeskTicket",
            &post,
            "/desk/tickets/{ticketId}/release",
            desk::release,
        )
        .at_desk(),
        op(
            "closeDeskTicket",
            &post,
            "/desk/tickets/{ticketId}/close",
            desk::close,
        )
        .at_desk(),
        op(
            "reopenDeskTicket",
            &post,
            "/desk/tickets/{ticketId}/reopen",
            desk::reopen,
        )
        .at_desk(),
        op(
            "createDeskReply",
            &post,
            "/desk/tickets/{ticketId}/replies",
            desk::reply,
        )
        .at_desk(),
        op(
            "createDeskNote",
            &post,
            "/desk/tickets/{ticketId}/notes",
            desk::note,
        )
        .at_desk(),
        op(
            "getDeskHistory",
            &get,
            "/desk/tickets/{ticketId}/history",
            desk::history,
        )
        .at_desk()
        .list(),
        op("getDeskAttachments", &get, DESK_FILES, desk::attachments)
            .at_desk()
            .list(),
        op("getDeskAttachment", &get, DESK_FILE, desk::download).at_desk(),
        op("getCannedReplies", &get, CANNED, canned_replies::list)
            .at_desk()
            .list(),
        op("createCannedReply", &post, CANNED, canned_replies::create).at_desk(),
        op("getCannedReply", &get, CANNED_ONE, canned_replies::view).at_desk(),
        op("updateCannedReply", &put, CANNED_ONE, canned_replies::update).at_desk(),
        op("deleteCannedReply", &delete, CANNED_ONE, canned_replies::delete).at_desk(),
        op(
            "previewCannedReply",
            &post,
            "/desk/canned-replies/{cannedReplyId}/preview",
            canned_replies::preview,
        )
        .at_desk()
        .scope(Scope::DESK_READ_ONLY),
        op("getDeskEntities", &get, "/desk/entities", entities::list)
            .at_desk()
            .list(),
        op("setDeskEntity", &post, "/desk/entities", entities::set).at_desk(),
        op("deleteDeskEntity", &delete, DESK_ENTITY, entities::delete).at_desk(),
        op("getDeskAccounts", &get, "/desk/accounts", accounts::desk_list)
            .at_desk()
            .list(),
        op(
            "getDeskAccount",
            &get,
            "/desk/accounts/{accountId}",
            accounts::desk_view,
        )
        .at_desk(),
        // Open to everybody
        op("getRegions", &get, "/regions", regions::list)
            .everybody()
            .list(),
        op("getRegion", &get, "/regions/{regionId}", regions::view).everybody(),
        op("getTypes", &get, "/compute/types", plans::list)
            .everybody()
            .list(),
        op("getType", &get, "/compute/types/{typeId}", plans::view).everybody(),
        op("getImages", &get, "/images", images::list).everybody().list(),
        op("getImage", &get, "/images/{imageId}", images::view).everybody(),
        // Letting programs act for users
        op(
            "getAuthorizationServer",
            &get,
            "/.well-known/oauth-authorization-server",
            oauth::metadata,
        )
        .oauth(),
        op("authorize", &get, "/oauth/authorize", oauth::authorize)
            .page()
            .asks_password(),
        op("authorizeDecision", &post, "/oauth/authorize", oauth::decide).page(),
        op("logIn", &post, "/oauth/login", logins::log_in)
            .page()
            .asks_password(),
        op("getOauthToken", &post, "/oauth/token", oauth_tokens::give).oauth(),
        op(
            "revokeOauthToken",
            &post,
            "/oauth/revoke",
            oauth_tokens::take_back,
        )
        .oauth(),
        op("logOut", &get, "/logout", logins::log_out).page(),
        op("getPasswordPage", &get, PASSWORD, logins::password_page)
            .page()
            .asks_password(),
        op("setPassword", &post, PASSWORD, logins::set_password)
            .page()
            .asks_password(),
        op("getOauthStyle", &get, "/oauth/style.css", oauth::style).at_root(),
        // About the server
        op("getService", &get, "/", service::describe).at_root(),
        op("getHealth", &get, "/healthz", health::alive).at_root(),
        op("getReadiness", &get, "/readyz", health::ready).at_root(),
        op("getOpenapi", &get, "/openapi.json", docs::openapi).at_root(),
        op("getDocs", &get, "/docs", docs::page).at_root(),
        op("getDocsStyle", &get, "/docs/style.css", docs::style).at_root(),
        op("getIcon", &get, "/favicon.ico", icon::icon).at_root(),
    ]
});

const TOKEN: &str = "/profile/tokens/{tokenId}";
const USERS: &str = "/account/users";
const USER: &str = "/account/users/{username}";
const USER_GRANTS: &str = "/account/users/{username}/grants";
const CLIENTS: &str = "/account/oauth-clients";
const CLIENT: &str = "/account/oauth-clients/{clientId}";
const PASSWORD: &str = "/oauth/password/{link}";
const TICKETS: &str = "/support/tickets";
const TICKET: &str = "/support/tickets/{ticketId}";
const TICKET_REPLIES: &str = "/support/tickets/{ticketId}/replies";
const TICKET_FILES: &str = "/support/tickets/{ticketId}/attachments";
const TICKET_FILE: &str = "/support/tickets/{ticketId}/attachments/{attachmentId}";
const DESK: &str = "/desk/tickets";
const DESK_TICKET: &str = "/desk/tickets/{ticketId}";
const DESK_FILES: &str = "/desk/tickets/{ticketId}/attachments";
const DESK_FILE: &str = "/desk/tickets/{ticketId}/attachments/{attachmentId}";
const DESK_ENTITY: &str = "/desk/entities/{accountId}/{entityType}/{entityId}";
const CANNED: &str = "/desk/canned-replies";
const CANNED_ONE: &str = "/desk/canned-replies/{cannedReplyId}";
const INSTANCE: &str = "/compute/instances/{computeId}";
const CONFIGS: &str = "/compute/instances/{computeId}/configs";
const CONFIG: &str = "/compute/instances/{computeId}/configs/{configId}";
const INTERFACES: &str = "/compute/instances/{computeId}/configs/{configId}/interfaces";
const INTERFACE_ORDER: &str = "/compute/instances/{computeId}/configs/{configId}/interfaces/order";
const INTERFACE: &str = "/compute/instances/{computeId}/configs/{configId}/interfaces/{interfaceId}";

/// All operations at their paths, each behind its own access check. What is at no path of theirs is left to the pages.
pub fn router(app: &App) -> Router {
    let mut paths: BTreeMap<String, (MethodRouter<App>, Vec<&str>)> = BTreeMap::new();
    for operation in OPERATIONS.iter() {
        let guard = middleware::from_fn_with_state((app.clone(), operation), access::check);
        let (routes, methods) = paths.entry(operation.full_path()).or_default();
        *routes = std::mem::take(routes).merge(operation.route.clone().layer(guard));
        methods.push(operation.method.as_str());
        if operation.method == Method::GET {
            methods.push("HEAD");
        }
    }
    let mut router = Router::new();
    for (path, (routes, mut methods)) in paths {
        methods.push("OPTIONS");
        let allowed = methods.join(", ");
        let other = move |method: Method| std::future::ready(error::other_method(&method, &allowed));
        router = router.route(&path, routes.fallback(other));
    }
    router.with_state(app.clone())
}
