//! The console: HTML pages, served at the root by the same process as the API.
//!
//! A page runs the same rules in the same transactions as the API, with the permissions of the logged-in
//! user. Pages are not operations: they have a separate table and are not in `openapi.yaml`. Their HTML is
//! not a stable interface.

mod account;
mod assets;
mod bar;
mod brand_assets;
mod bulk;
mod compute;
mod csv;
mod error_page;
mod forms;
mod home;
mod hosting;
mod identity;
mod layout;
mod live;
mod log_in;
mod markdown;
mod navigation;
mod network;
mod outgoing_mail;
mod page;
mod provider;
mod query;
mod search;
mod session;
mod sorting;
mod status_bar;
mod support;
mod unsubscribe;
mod visit;

use compute::{instances, power, subnet_choice};
use hosting::{hosts, port_table};
use identity::{grants, invitations, password, users};
use network::{address_map, blockers, ipv6, subnets, usage, vpcs};
use support::{desk, mail_choices, saved_views, subjects, targets, threads, tickets};

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::{HeaderMap, Method, Uri};
use axum::routing::MethodRouter;
use axum::{Router, middleware};

use crate::web::App;
use crate::web::operation::Class;
use page::{Page, get, post};

/// All pages. The router and the session check are built from this table. Each domain defines its own pages.
pub static PAGES: LazyLock<Vec<Page>> = LazyLock::new(|| {
    let parts = [
        network::pages(),
        compute::pages(),
        support::pages(),
        support::desk_pages(),
        hosting::pages(),
        provider::pages(),
        account::pages(),
        identity::pages(),
        bulk::pages(),
        common_pages(),
    ];
    parts.into_iter().flatten().collect()
});

/// Log-in, assets and live updates.
fn common_pages() -> Vec<Page> {
    vec![
        get("pageLogIn", "/login", log_in::form)
            .public()
            .class(Class::Oauth)
            .has_password_form(),
        post("sendLogIn", "/login", log_in::log_in)
            .public()
            .class(Class::Oauth)
            .has_password_form(),
        get("consoleAsset", "/console/{asset}", assets::serve)
            .public()
            .class(Class::Unlimited),
        get("brandAsset", "/assets/brand/{brandAsset}", brand_assets::serve).public(),
        get("pageUnsubscribe", "/unsubscribe", unsubscribe::form).public(),
        post("sendUnsubscribe", "/unsubscribe", unsubscribe::send)
            .public()
            .class(Class::Oauth),
        get("pageHome", "/home", home::view),
        get("pageSearch", "/search", search::of_tenant),
        get("pageDeskSearch", "/desk/search", search::of_staff).staff(),
        get("followEvents", "/live", live::events),
        get("followDesk", "/desk/live", live::desk).staff(),
    ]
}

/// The routes of all pages, each behind the session check, and the response for unknown paths.
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
        let wrong_method = move |method: Method, headers: HeaderMap, uri: Uri| {
            std::future::ready(session::method_not_allowed(&method, &headers, &uri, &allowed))
        };
        router = router.route(path, routes.fallback(wrong_method));
    }
    router.fallback(session::not_found).with_state(app.clone())
}
