//! The operation table. The router, the access check, the headers, the rate limits and the access test are
//! derived from it. Each domain defines its own operations.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::Method;
use axum::routing::MethodRouter;
use axum::{Router, middleware};

use crate::api::{
    account, compute, docs, health, hosting, icon, identity, jobs, network, other_products, service, support,
};
use crate::web::operation::{Operation, get, handler};
use crate::web::{App, access, error};

pub static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let parts = [
        network::operations(),
        compute::operations(),
        account::operations(),
        identity::operations(),
        support::operations(),
        support::desk_operations(),
        support::mail_operations(),
        support::mail_template_operations(),
        account::desk_operations(),
        account::provider_operations(),
        account::network_operations(),
        account::announcement_operations(),
        account::branding_operations(),
        compute::provider_operations(),
        identity::staff_operations(),
        jobs::operations(),
        hosting::operations(),
        hosting::agent_operations(),
        compute::catalog_operations(),
        other_products::operations(),
        identity::oauth_operations(),
        server_operations(),
    ];
    parts.into_iter().flatten().collect()
});

fn server_operations() -> Vec<Operation> {
    vec![
        get("getService", "/", handler(service::describe)).at_root(),
        get("getApi", "/v4", handler(service::describe_api)).at_root(),
        get("getHealth", "/healthz", handler(health::alive)).at_root(),
        get("getReadiness", "/readyz", handler(health::ready)).at_root(),
        get("getOpenapi", "/openapi.json", handler(docs::openapi)).at_root(),
        get("getDocs", "/docs", handler(docs::index)).at_root(),
        get("getDocsPage", "/docs/{docsPage}", handler(docs::page)).at_root(),
        get("getDocsStyle", "/docs/style.css", handler(docs::style)).at_root(),
        get("getDocsScript", "/docs/script.js", handler(docs::script)).at_root(),
        get("getIcon", "/favicon.ico", handler(icon::icon)).at_root(),
    ]
}

/// The router of all operations, each with its access check. The console's router handles all other paths.
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
        let refuse_method =
            move |method: Method| std::future::ready(error::method_not_allowed(&method, &allowed));
        router = router.route(&path, routes.fallback(refuse_method));
    }
    router.with_state(app.clone())
}
