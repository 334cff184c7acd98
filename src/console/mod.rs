//! How it is seen: pages for people, served by the same program at the root.
//!
//! A page runs the same rules in the same transactions as the API does, as the user who has logged
//! in; it decides nothing. Pages are not operations: they are in a table of their own, are not in
//! `openapi.yaml`, and what they look like is no promise.

mod account;
mod assets;
mod bar;
mod error_page;
mod forms;
mod identity;
mod layout;
mod live;
mod log_in;
mod markdown;
mod navigation;
mod network;
mod page;
mod query;
mod session;
mod support;
mod visit;

use account::{events, quotas};
use identity::{apps, grants, oauth_clients, profile, tokens, users};
use network::{address_map, subnets, usage, vpcs};
use support::{canned_replies, desk, desk_ticket, new_ticket, subjects, threads, ticket, tickets};

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::{HeaderMap, Method, Uri};
use axum::routing::MethodRouter;
use axum::{Router, middleware};

use crate::web::App;
use crate::web::operation::Class;
use page::{Page, page};

/// Every page, once. The router and the session check are made from this table.
pub static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
    let (get, post) = (Method::GET, Method::POST);
    vec![
        // Coming in
        page("pageLogIn", &get, "/login", log_in::form)
            .everybody()
            .class(Class::Oauth)
            .asks_password(),
        page("sendLogIn", &post, "/login", log_in::log_in)
            .everybody()
            .class(Class::Oauth)
            .asks_password(),
        page("consoleAsset", &get, "/console/{asset}", assets::serve)
            .everybody()
            .class(Class::Unlimited),
        // VPCs
        page("pageVpcs", &get, "/vpcs", vpcs::list),
        page("pageVpcNew", &get, "/vpcs/new", vpcs::new),
        page("sendVpcNew", &post, "/vpcs/new", vpcs::create),
        page("checkVpcNew", &get, "/vpcs/new/check", vpcs::check),
        page("pageVpc", &get, "/vpcs/{vpcId}", vpcs::view),
        page("pageVpcEdit", &get, "/vpcs/{vpcId}/edit", vpcs::edit),
        page("sendVpcEdit", &post, "/vpcs/{vpcId}/edit", vpcs::update),
        page("pageVpcDelete", &get, "/vpcs/{vpcId}/delete", vpcs::ask_delete),
        page("sendVpcDelete", &post, "/vpcs/{vpcId}/delete", vpcs::delete),
        // Subnets
        page("pageSubnetNew", &get, "/vpcs/{vpcId}/subnets/new", subnets::new),
        page(
            "sendSubnetNew",
            &post,
            "/vpcs/{vpcId}/subnets/new",
            subnets::create,
        ),
        page(
            "checkSubnetNew",
            &get,
            "/vpcs/{vpcId}/subnets/check",
            subnets::check,
        ),
        page(
            "pageSubnet",
            &get,
            "/vpcs/{vpcId}/subnets/{vpcSubnetId}",
            subnets::view,
        ),
        page(
            "pageSubnetEdit",
            &get,
            "/vpcs/{vpcId}/subnets/{vpcSubnetId}/edit",
            subnets::edit,
        ),
        page(
            "sendSubnetEdit",
            &post,
            "/vpcs/{vpcId}/subnets/{vpcSubnetId}/edit",
            subnets::update,
        ),
        page(
            "pageSubnetDelete",
            &get,
            "/vpcs/{vpcId}/subnets/{vpcSubnetId}/delete",
            subnets::ask_delete,
        ),
        page(
            "sendSubnetDelete",
            &post,
            "/vpcs/{vpcId}/subnets/{vpcSubnetId}/delete",
            subnets::delete,
        ),
        // Tickets
        page("pageTickets", &get, "/tickets", tickets::list),
        page("pageTicketNew", &get, "/tickets/new", new_ticket::form),
        page("sendTicketNew", &post, "/tickets/new", new_ticket::open).class(Class::TicketCreate),
        page("pageTicket", &get, TICKET, ticket::view),
        page("sendReply", &post, "/tickets/{ticketId}/replies", ticket::reply),
        page(
            "sendTicketClose",
            &post,
            "/tickets/{ticketId}/close",
            ticket::close,
        ),
        page(
            "sendAttachment",
            &post,
            "/tickets/{ticketId}/attachments",
            ticket::attach,
        ),
        page(
            "getAttachmentFile",
            &get,
            "/tickets/{ticketId}/attachments/{attachmentId}",
            ticket::download,
        ),
        // What happened
        page("pageEvents", &get, "/events", events::list),
        page("sendEventsSeen", &post, "/events", events::seen),
        page("followEvents", &get, "/live", live::events),
        // The desk
        page("pageDesk", &get, "/desk", desk::queue).staff(),
        page("followDesk", &get, "/desk/live", live::desk).staff(),
        page("pageDeskKeys", &get, "/desk/keys", desk::keys).staff(),
        page(
            "pageDeskTicketNew",
            &get,
            "/desk/tickets/new",
            new_ticket::desk_form,
        )
        .staff(),
        page(
            "sendDeskTicketNew",
            &post,
            "/desk/tickets/new",
            new_ticket::desk_open,
        )
        .staff()
        .class(Class::TicketCreate),
        page("pageDeskTicket", &get, DESK_TICKET, desk_ticket::view).staff(),
        page(
            "pageDeskVpc",
            &get,
            "/desk/tickets/{ticketId}/vpc",
            desk_ticket::network::page,
        )
        .staff(),
        page(
            "pageDeskSubnet",
            &get,
            "/desk/tickets/{ticketId}/vpc/subnets/{vpcSubnetId}",
            desk_ticket::network::subnet,
        )
        .staff(),
        page(
            "sendDeskClaim",
            &post,
            "/desk/tickets/{ticketId}/claim",
            desk_ticket::acts::claim,
        )
        .staff(),
        page(
            "sendDeskRelease",
            &post,
            "/desk/tickets/{ticketId}/release",
            desk_ticket::acts::release,
        )
        .staff(),
        page(
            "sendDeskChange",
            &post,
            "/desk/tickets/{ticketId}/change",
            desk_ticket::acts::change,
        )
        .staff(),
        page(
            "sendDeskReply",
            &post,
            "/desk/tickets/{ticketId}/replies",
            desk_ticket::acts::reply,
        )
        .staff(),
        page(
            "sendDeskNote",
            &post,
            "/desk/tickets/{ticketId}/notes",
            desk_ticket::acts::note,
        )
        .staff(),
        page(
            "sendDeskClose",
            &post,
            "/desk/tickets/{ticketId}/close",
            desk_ticket::acts::close,
        )
        .staff(),
        page(
            "sendDeskReopen",
            &post,
            "/desk/tickets/{ticketId}/reopen",
            desk_ticket::acts::reopen,
        )
        .staff(),
        page(
            "getDeskAttachmentFile",
            &get,
            "/desk/tickets/{ticketId}/attachments/{attachmentId}",
            desk_ticket::acts::download,
        )
        .staff(),
        page(
            "pageCannedReplies",
            &get,
            "/desk/canned-replies",
            canned_replies::list,
        )
        .staff(),
        page(
            "pageCannedReplyNew",
            &get,
            "/desk/canned-replies/new",
            canned_replies::form,
        )
        .staff(),
        page(
            "sendCannedReplyNew",
            &post,
            "/desk/canned-replies/new",
            canned_replies::create,
        )
        .staff(),
        page("pageCannedReply", &get, CANNED_REPLY, canned_replies::edit).staff(),
        page("sendCannedReply", &post, CANNED_REPLY, canned_replies::update).staff(),
        page(
            "sendCannedReplyDelete",
            &post,
            "/desk/canned-replies/{cannedReplyId}/delete",
            canned_replies::delete,
        )
        .staff(),
        // The account
        page("pageProfile", &get, "/account", profile::view),
        page("sendProfile", &post, "/account", profile::update),
        page(
            "sendPassword",
            &post,
            "/account/password",
            profile::change_password,
        )
        .class(Class::Oauth),
        page("pageTokens", &get, "/account/tokens", tokens::list),
        page("pageTokenNew", &get, "/account/tokens/new", tokens::new),
        page("sendTokenNew", &post, "/account/tokens/new", tokens::create),
        page(
            "pageTokenEdit",
            &get,
            "/account/tokens/{tokenId}/edit",
            tokens::edit,
        ),
        page(
            "sendTokenEdit",
            &post,
            "/account/tokens/{tokenId}/edit",
            tokens::update,
        ),
        page(
            "pageTokenRevoke",
            &get,
            "/account/tokens/{tokenId}/revoke",
            tokens::ask_revoke,
        ),
        page(
            "sendTokenRevoke",
            &post,
            "/account/tokens/{tokenId}/revoke",
            tokens::revoke,
        ),
        page("pageApps", &get, "/account/apps", apps::list),
        page(
            "pageAppRevoke",
            &get,
            "/account/apps/{appId}/revoke",
            apps::ask_revoke,
        ),
        page(
            "sendAppRevoke",
            &post,
            "/account/apps/{appId}/revoke",
            apps::revoke,
        ),
        page("pageUsers", &get, "/account/users", users::list),
        page("pageUserNew", &get, "/account/new-user", users::new),
        page("sendUserNew", &post, "/account/new-user", users::create),
        page("pageUser", &get, "/account/users/{username}", users::view),
        page(
            "pageUserEdit",
            &get,
            "/account/users/{username}/edit",
            users::edit,
        ),
        page(
            "sendUserEdit",
            &post,
            "/account/users/{username}/edit",
            users::update,
        ),
        page(
            "pageUserDelete",
            &get,
            "/account/users/{username}/delete",
            users::ask_delete,
        ),
        page(
            "sendUserDelete",
            &post,
            "/account/users/{username}/delete",
            users::delete,
        ),
        page(
            "sendUserLink",
            &post,
            "/account/users/{username}/link",
            users::make_link,
        ),
        page(
            "pageGrants",
            &get,
            "/account/users/{username}/grants",
            grants::edit,
        ),
        page(
            "sendGrants",
            &post,
            "/account/users/{username}/grants",
            grants::update,
        ),
        page("pageClients", &get, "/account/clients", oauth_clients::list),
        page("pageClientNew", &get, "/account/clients/new", oauth_clients::new),
        page(
            "sendClientNew",
            &post,
            "/account/clients/new",
            oauth_clients::create,
        ),
        page(
            "pageClientEdit",
            &get,
            "/account/clients/{clientId}/edit",
            oauth_clients::edit,
        ),
        page(
            "sendClientEdit",
            &post,
            "/account/clients/{clientId}/edit",
            oauth_clients::update,
        ),
        page(
            "pageClientReset",
            &get,
            "/account/clients/{clientId}/reset",
            oauth_clients::ask_reset,
        ),
        page(
            "sendClientReset",
            &post,
            "/account/clients/{clientId}/reset",
            oauth_clients::reset,
        ),
        page(
            "pageClientDelete",
            &get,
            "/account/clients/{clientId}/delete",
            oauth_clients::ask_delete,
        ),
        page(
            "sendClientDelete",
            &post,
            "/account/clients/{clientId}/delete",
            oauth_clients::delete,
        ),
        page("pageQuotas", &get, "/account/quotas", quotas::view),
    ]
});

const TICKET: &str = "/tickets/{ticketId}";
const DESK_TICKET: &str = "/desk/tickets/{ticketId}";
const CANNED_REPLY: &str = "/desk/canned-replies/{cannedReplyId}";

/// All pages at their paths, each behind its own check, and the answer for every address at which nothing is.
pub fn router(app: &App) -> Router {
    let mut paths: BTreeMap<&str, (MethodRouter<App>, Vec<&str>)> = BTreeMap::new();
    for page in PAGES.iter() {
        let guard = middleware::from_fn_with_state((app.clone(), page), session::check);
        let (routes, methods) = paths.entry(page.path).or_default();
        *routes = std::mem::take(routes).merge(page.route.clone().layer(guard));
        methods.push(page.method.as_str());
        if page.method == Method::GET {
            methods.push("HEAD");
        }
    }
    let mut router = Router::new();
    for (path, (routes, mut methods)) in paths {
        methods.push("OPTIONS");
        let allowed = methods.join(", ");
        let other = move |method: Method, headers: HeaderMap, uri: Uri| {
            std::future::ready(session::method_not_allowed(&method, &headers, &uri, &allowed))
        };
        router = router.route(path, routes.fallback(other));
    }
    router.fallback(session::nothing_here).with_state(app.clone())
}
