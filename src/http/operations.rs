//! Every operation, once. The router, the access check, the headers, the rate limits and the
//! access test are made from this table, so an operation that is not in it does not exist.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use axum::{Router, middleware};

use super::{
    App, access, accounts, attachments, canned_replies, configs, desk, docs, entities, error, events, health,
    images, instances, interfaces, plans, regions, replies, subnets, tickets, vpc_ips, vpcs,
};
use crate::model::scope::Scope;

pub struct Operation {
    pub id: &'static str,
    pub method: Method,
    pub path: &'static str,
    pub base: Base,
    pub who: Who,
    pub scope: Option<Scope>,
    pub grant: Option<Needs>,
    pub class: Class,
    route: MethodRouter<App>,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Under `/v4` and `/v4beta`.
    Versioned,
    /// At the root of the server.
    Root,
}

/// Who an operation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Everybody,
    Tenants,
    /// The provider's staff, at the desk.
    Staff,
}

/// What a restricted user must have been granted. The rules ask for it; here it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    AccountReadOnly,
    AccountReadWrite,
    AddLinodes,
    AddVpcs,
    LinodeReadOnly,
    LinodeReadWrite,
    VpcReadOnly,
    VpcReadWrite,
}

/// How often it may be asked for where rate limits are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Command,
    InstanceCreate,
    List,
    TicketCreate,
    Unlimited,
}

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
        instance_read("getInstance", INSTANCE, instances::view),
        instance_write("updateInstance", &put, INSTANCE, instances::update),
        instance_write("deleteInstance", &delete, INSTANCE, instances::delete),
        instance_write(
            "bootInstance",
            &post,
            "/compute/instances/{computeId}/boot",
            instances::boot,
        ),
        instance_write(
            "rebootInstance",
            &post,
            "/compute/instances/{computeId}/reboot",
            instances::reboot,
        ),
        instance_write(
            "shutdownInstance",
            &post,
            "/compute/instances/{computeId}/shutdown",
            instances::shutdown,
        ),
        instance_read(
            "getInstanceIps",
            "/compute/instances/{computeId}/ips",
            instances::ips,
        ),
        // Configs
        instance_read("getConfigs", CONFIGS, configs::list).list(),
        instance_write("createConfig", &post, CONFIGS, configs::create),
        instance_read("getConfig", CONFIG, configs::view),
        instance_write("updateConfig", &put, CONFIG, configs::update),
        instance_write("deleteConfig", &delete, CONFIG, configs::delete),
        // Interfaces of a config
        instance_read("getConfigInterfaces", INTERFACES, interfaces::list),
        instance_write("createConfigInterface", &post, INTERFACES, interfaces::create),
        instance_write("orderConfigInterfaces", &post, INTERFACE_ORDER, interfaces::order),
        instance_read("getConfigInterface", INTERFACE, interfaces::view),
        instance_write("updateConfigInterface", &put, INTERFACE, interfaces::update),
        instance_write("deleteConfigInterface", &delete, INTERFACE, interfaces::delete),
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
        // Support (interface §4.3)
        op("getTickets", &get, TICKETS, tickets::list)
            .scope(Scope::ACCOUNT_READ_ONLY)
            .list(),
        op("createTicket", &post, TICKETS, tickets::create)
            .scope(Scope::ACCOUNT_READ_WRITE)
            .class(Class::TicketCreate),
        ticket_read("getTicket", TICKET, tickets::view),
        ticket_write("closeTicket", "/support/tickets/{ticketId}/close", tickets::close),
        ticket_read("getTicketReplies", TICKET_REPLIES, replies::list).list(),
        ticket_write("createTicketReply", TICKET_REPLIES, replies::create),
        ticket_read("getTicketAttachments", TICKET_FILES, attachments::list).list(),
        ticket_write("createTicketAttachment", TICKET_FILES, attachments::create),
        ticket_read("getTicketAttachment", TICKET_FILE, attachments::download),
        op("getSupportLimits", &get, "/support/limits", tickets::limits),
        // The desk
        desk_read("getDeskTickets", DESK, desk::list).list(),
        desk_write("createDeskTicket", &post, DESK, desk::create),
        desk_read("getDeskTicket", DESK_TICKET, desk::view),
        desk_write("updateDeskTicket", &put, DESK_TICKET, desk::update),
        desk_write(
            "claimDeskTicket",
            &post,
            "/desk/tickets/{ticketId}/claim",
            desk::claim,
        ),
        desk_write(
            "releaseDeskTicket",
            &post,
            "/desk/tickets/{ticketId}/release",
            desk::release,
        ),
        desk_write(
            "closeDeskTicket",
            &post,
            "/desk/tickets/{ticketId}/close",
            desk::close,
        ),
        desk_write(
            "reopenDeskTicket",
            &post,
            "/desk/tickets/{ticketId}/reopen",
            desk::reopen,
        ),
        desk_write(
            "createDeskReply",
            &post,
            "/desk/tickets/{ticketId}/replies",
            desk::reply,
        ),
        desk_write(
            "createDeskNote",
            &post,
            "/desk/tickets/{ticketId}/notes",
            desk::note,
        ),
        desk_read(
            "getDeskHistory",
            "/desk/tickets/{ticketId}/history",
            desk::history,
        )
        .list(),
        desk_read("getDeskAttachments", DESK_FILES, desk::attachments).list(),
        desk_read("getDeskAttachment", DESK_FILE, desk::download),
        desk_read("getCannedReplies", CANNED, canned_replies::list).list(),
        desk_write("createCannedReply", &post, CANNED, canned_replies::create),
        desk_read("getCannedReply", CANNED_ONE, canned_replies::view),
        desk_write("updateCannedReply", &put, CANNED_ONE, canned_replies::update),
        desk_write("deleteCannedReply", &delete, CANNED_ONE, canned_replies::delete),
        desk_write(
            "previewCannedReply",
            &post,
            "/desk/canned-replies/{cannedReplyId}/preview",
            canned_replies::preview,
        )
        .scope(Scope::DESK_READ_ONLY),
        desk_read("getDeskEntities", "/desk/entities", entities::list).list(),
        desk_write("setDeskEntity", &post, "/desk/entities", entities::set),
        desk_write("deleteDeskEntity", &delete, DESK_ENTITY, entities::delete),
        desk_read("getDeskAccounts", "/desk/accounts", accounts::desk_list).list(),
        desk_read(
            "getDeskAccount",
            "/desk/accounts/{accountId}",
            accounts::desk_view,
        ),
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
        op("getHealth", &get, "/healthz", health::alive).at_root(),
        op("getReadiness", &get, "/readyz", health::ready).at_root(),
        op("getOpenapi", &get, "/openapi.json", docs::openapi).at_root(),
        op("getDocs", &get, "/docs", docs::page).at_root(),
        op("getDocsStyle", &get, "/docs/style.css", docs::style).at_root(),
    ]
});

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

/// An operation that looks at an instance or what it has.
fn instance_read<H, T>(id: &'static str, path: &'static str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    op(id, &Method::GET, path, handler)
        .scope(Scope::LINODES_READ_ONLY)
        .needs(Needs::LinodeReadOnly)
}

/// An operation that changes an instance or what it has.
fn instance_write<H, T>(id: &'static str, method: &Method, path: &'static str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    op(id, method, path, handler)
        .scope(Scope::LINODES_READ_WRITE)
        .needs(Needs::LinodeReadWrite)
}

/// An operation that looks at a ticket.
fn ticket_read<H, T>(id: &'static str, path: &'static str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    op(id, &Method::GET, path, handler)
        .scope(Scope::ACCOUNT_READ_ONLY)
        .needs(Needs::AccountReadOnly)
}

/// An operation that adds to a ticket or closes it.
fn ticket_write<H, T>(id: &'static str, path: &'static str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    op(id, &Method::POST, path, handler)
        .scope(Scope::ACCOUNT_READ_WRITE)
        .needs(Needs::AccountReadWrite)
}

/// An operation of the desk that looks.
fn desk_read<H, T>(id: &'static str, path: &'static str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    op(id, &Method::GET, path, handler)
        .scope(Scope::DESK_READ_ONLY)
        .staff()
}

/// An operation of the desk that changes something.
fn desk_write<H, T>(id: &'static str, method: &Method, path: &'static str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    op(id, method, path, handler)
        .scope(Scope::DESK_READ_WRITE)
        .staff()
}

fn op<H, T>(id: &'static str, method: &Method, path: &'static str, handler: H) -> Operation
where
    H: Handler<T, App>,
    T: 'static,
{
    let filter = MethodFilter::try_from(method.clone()).expect("the table uses plain methods");
    Operation {
        id,
        method: method.clone(),
        path,
        base: Base::Versioned,
        who: Who::Tenants,
        scope: None,
        grant: None,
        class: Class::Command,
        route: on(filter, handler),
    }
}

impl Operation {
    fn scope(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    fn needs(mut self, grant: Needs) -> Self {
        self.grant = Some(grant);
        self
    }

    fn list(self) -> Self {
        self.class(Class::List)
    }

    fn class(mut self, class: Class) -> Self {
        self.class = class;
        self
    }

    fn everybody(mut self) -> Self {
        self.who = Who::Everybody;
        self
    }

    fn staff(mut self) -> Self {
        self.who = Who::Staff;
        self
    }

    fn at_root(mut self) -> Self {
        self.base = Base::Root;
        self.class = Class::Unlimited;
        self.everybody()
    }

    /// The path from the root of the server.
    pub fn full_path(&self) -> String {
        match self.base {
            Base::Versioned => format!("/v4{}", self.path),
            Base::Root => self.path.to_owned(),
        }
    }

    /// The value of `X-Accepted-OAuth-Scopes`.
    pub fn accepted_scopes(&self) -> String {
        self.scope
            .map_or_else(|| "*".to_owned(), |scope| scope.to_string())
    }
}

/// All operations at their paths, each behind its own access check.
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
    router.fallback(error::unknown_path).with_state(app.clone())
}
