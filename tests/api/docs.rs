//! The API documentation is complete.

use std::collections::BTreeSet;

use garth::api::operations::OPERATIONS;
use garth::model::reason::Code;
use garth::model::staff_role::StaffRole;
use garth::web::operation::{Audience, Base, Needs, Operation};
use hyper::Method;
use serde_json::json;

use crate::harness::TestApp;
use crate::openapi::{DOCUMENT, documented};

#[tokio::test]
async fn the_document_and_the_icon_are_served() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();

    assert_eq!(anonymous.get("//openapi.json").await.json(), *DOCUMENT);
    assert_eq!(
        anonymous.get("//favicon.ico").await.header("content-type"),
        "image/svg+xml"
    );
}

#[tokio::test]
async fn health_and_readiness_need_no_token() {
    let app = TestApp::new().await;
    let health = app.anonymous().get("//healthz").await;
    assert_eq!(health.json(), json!({"status": "ok"}));
    let checks = json!({"server": "ok", "database": "ok", "writer": "ok", "flush": "ok", "disk": "ok"});
    let readiness = app.anonymous().get("//readyz").await;
    assert_eq!(readiness.json(), json!({"status": "ok", "checks": checks}));
}

#[tokio::test]
async fn the_root_describes_the_server_and_redirects_browsers_to_the_console() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();
    for accept in [None, Some("*/*"), Some("application/json")] {
        let call = anonymous
            .call(Method::GET, "//")
            .header("host", "garth.example:8080");
        let reply = match accept {
            Some(accept) => call.header("accept", accept).await,
            None => call.await,
        };
        let root = "http://garth.example:8080";
        assert_eq!(
            reply.json(),
            json!({
                "name": "Garth",
                "version": env!("CARGO_PKG_VERSION"),
                "compatible_with": "Linode API v4",
                "spec_version": reply.header("x-spec-version"),
                "links": {
                    "api": format!("{root}/v4"),
                    "console": format!("{root}/login"),
                    "docs": format!("{root}/docs"),
                    "openapi": format!("{root}/openapi.json"),
                    "health": format!("{root}/healthz"),
                    "readiness": format!("{root}/readyz"),
                }
            })
        );
    }
    let described = anonymous.call(Method::GET, "//").await.json();
    let html = "text/html,application/xhtml+xml,*/*;q=0.8";
    for path in ["//v4", "//v4/", "//v4beta"] {
        let api = anonymous.call(Method::GET, path).header("accept", html).await;
        assert_eq!(
            (api.status.as_u16(), api.json()),
            (200, described.clone()),
            "{path}"
        );
    }
    let home = anonymous.call(Method::GET, "//").header("accept", html).await;
    assert_eq!((home.status.as_u16(), home.header("location")), (303, "/login"));
}

#[test]
fn the_document_and_the_operation_table_have_the_same_paths() {
    let methods = [
        "get", "post", "put", "delete", "patch", "head", "options", "trace",
    ];
    let documented: BTreeSet<(String, String)> = DOCUMENT["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, item)| {
            let found = methods.into_iter().filter(|method| item.get(method).is_some());
            found
                .map(|method| (path.clone(), method.to_uppercase()))
                .collect::<Vec<_>>()
        })
        .collect();
    let operations: BTreeSet<(String, String)> = OPERATIONS
        .iter()
        .map(|op| (op.path.to_owned(), op.method.to_string()))
        .collect();
    assert_eq!(documented, operations);
}

#[test]
fn the_document_has_the_id_scope_grant_role_and_base_of_each_operation() {
    for operation in OPERATIONS.iter() {
        let documented = documented(operation);
        let id = operation.id;
        assert_eq!(documented["operationId"], id);
        let security = match (operation.audience, operation.scope) {
            (Audience::Public, _) => json!([]),
            (Audience::Tenants | Audience::Staff | Audience::Agents, None) => json!([{"bearer": []}]),
            (Audience::Tenants | Audience::Staff | Audience::Agents, Some(scope)) => {
                json!([{"bearer": [scope.to_string()]}])
            }
        };
        assert_eq!(documented["security"], security, "{id}");
        let grant = operation.grant.map(|grant| match grant {
            Needs::AccountReadOnly => "account_access read_only",
            Needs::AccountReadWrite => "account_access read_write",
            Needs::AddLinodes => "add_linodes",
            Needs::AddVpcs => "add_vpcs",
            Needs::LinodeReadOnly => "linode read_only",
            Needs::LinodeReadWrite => "linode read_write",
            Needs::Unrestricted => "unrestricted",
            Needs::VpcReadOnly => "vpc read_only",
            Needs::VpcReadWrite => "vpc read_write",
        });
        assert_eq!(documented["x-garth-grant"].as_str(), grant, "{id}");
        let role = operation.role.map(StaffRole::word);
        assert_eq!(documented["x-garth-role"].as_str(), role, "{id}");
        assert_eq!(role.is_some(), operation.audience == Audience::Staff, "{id}");
        let servers = &DOCUMENT["paths"][operation.path]["servers"];
        assert_eq!(
            servers[0]["url"].as_str(),
            (operation.base == Base::Root).then_some("/"),
            "{id}"
        );
        assert!(
            documented["summary"].is_string() && documented["tags"].is_array(),
            "{id}"
        );
    }
}

#[test]
fn every_operation_is_in_the_table_of_clients() {
    let table = include_str!("../../docs/clients.md");
    let is_for_clients =
        |op: &&Operation| !matches!(op.audience, Audience::Staff | Audience::Agents) && op.id != "joinAgent";
    for operation in OPERATIONS.iter().filter(is_for_clients) {
        let row = format!("\n| `{} {}` |", operation.method, operation.path);
        assert_eq!(
            table.matches(&row).count(),
            1,
            "{} is not in docs/clients.md once: see CONTRIBUTING.md",
            operation.id
        );
    }
}

#[test]
fn every_code_is_in_the_document_and_in_the_list_of_errors() {
    let list = include_str!("../../docs/errors.md");
    let documented = &DOCUMENT["components"]["schemas"]["Error"]["properties"]["code"]["enum"];
    let documented: BTreeSet<&str> = documented
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|c| c.as_str())
        .collect();
    let codes: BTreeSet<&str> = Code::ALL.iter().map(|code| code.word()).collect();
    assert_eq!(documented, codes);
    let listed: BTreeSet<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    assert_eq!(listed, codes);
}
