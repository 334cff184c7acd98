//! The pages of the API reference: completeness, links, samples, search and caching.

use std::collections::{BTreeMap, BTreeSet};

use garth::api::operations::OPERATIONS;
use garth::model::reason::Code;
use hyper::Method;
use serde_json::Value;

use crate::harness::{Reply, TestApp};
use crate::openapi::DOCUMENT;

const HOST: &str = "garth.example:8080";
const MAX_PAGE_BYTES: usize = 300_000;

async fn fetch(app: &TestApp, path: &str) -> Reply {
    let anonymous = app.anonymous();
    anonymous
        .call(Method::GET, &format!("/{path}"))
        .header("host", HOST)
        .await
}

fn text_of(reply: &Reply) -> String {
    String::from_utf8(reply.body.to_vec()).expect("a page is UTF-8")
}

/// The values of an attribute.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let start = format!(" {attribute}=\"");
    let parts = html.split(start.as_str()).skip(1);
    parts.filter_map(|part| part.split('"').next()).collect()
}

/// All pages by their path: the index, and the pages to which it links.
async fn pages(app: &TestApp) -> BTreeMap<String, String> {
    let index = text_of(&fetch(app, "/docs").await);
    let links = values(&index, "href").into_iter();
    let paths = links.filter_map(|link| link.split(['#', '?']).next());
    let paths: BTreeSet<String> = paths
        .filter(|path| path.starts_with("/docs/") && !path.contains('.'))
        .map(str::to_owned)
        .collect();
    let mut pages = BTreeMap::from([("/docs".to_owned(), index)]);
    for path in paths {
        let page = text_of(&fetch(app, &path).await);
        pages.insert(path, page);
    }
    pages
}

/// The code of each sample with its operation and client.
fn samples(html: &str) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    for article in html.split("<article class=\"operation\"").skip(1) {
        let operation = values(article, "id")[0];
        for sample in article.split("<pre data-client=\"").skip(1) {
            let (client, rest) = sample.split_once("\">").expect("an attribute");
            let code = rest.split("</pre>").next().expect("code");
            let code = code
                .replace("&quot;", "\"")
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&amp;", "&");
            found.push((operation.to_owned(), client.to_owned(), code));
        }
    }
    found
}

#[tokio::test]
async fn every_operation_is_on_one_page_and_in_the_index() {
    let app = TestApp::new().await;
    let pages = pages(&app).await;
    let tags = DOCUMENT["tags"].as_array().unwrap().len();
    assert_eq!(
        pages.len(),
        tags + 2,
        "the index, the sections and the error codes"
    );
    for operation in OPERATIONS.iter() {
        let article = format!("<article class=\"operation\" id=\"{}\"", operation.id);
        let count = |html: &String| html.matches(&article).count();
        assert_eq!(pages.values().map(count).sum::<usize>(), 1, "{}", operation.id);
        let entry = format!("<li id=\"{}\"", operation.id);
        assert_eq!(pages["/docs"].matches(&entry).count(), 1, "{}", operation.id);
    }
    for (name, _) in DOCUMENT["components"]["schemas"].as_object().unwrap() {
        let entry = format!("<li id=\"shape-{name}\"");
        assert!(
            pages["/docs"].contains(&entry),
            "{name}: no entry for the old URL"
        );
    }
    for code in Code::ALL {
        let row = format!("<tr id=\"{}\"", code.word());
        assert_eq!(pages["/docs/errors"].matches(&row).count(), 1, "{}", code.word());
    }
}

#[tokio::test]
async fn an_operation_has_its_access_parameters_body_responses_and_errors() {
    let app = TestApp::new().await;
    let page = text_of(&fetch(&app, "/docs/vpcs").await);
    let article = page.split("id=\"createVpc\" data-method").nth(1).unwrap();
    let article = article.split("</article>").next().unwrap();
    for part in [
        "Create a VPC",
        "/v4/vpcs",
        "vpc:read_write",
        "add_vpcs",
        "<code>subnets</code>",
        "href=\"#schema-Label\"",
        "href=\"#schema-Vpc\"",
        "href=\"/docs/errors#grant_missing\"",
        "href=\"/docs/errors#rate_limited\"",
    ] {
        assert!(article.contains(part), "{part} is not in {article}");
    }
    let view = page.split("id=\"getVpc\" data-method").nth(1).unwrap();
    assert!(view.contains("data-name=\"vpcId\" data-in=\"path\" data-required data-example=\"1\""));
}

#[tokio::test]
async fn all_links_and_references_resolve() {
    let app = TestApp::new().await;
    let pages = pages(&app).await;
    let ids: BTreeMap<&String, BTreeSet<&str>> = pages
        .iter()
        .map(|(path, html)| (path, values(html, "id").into_iter().collect()))
        .collect();
    let mut others = BTreeSet::new();
    for (page, html) in &pages {
        assert_eq!(
            values(html, "id").len(),
            ids[page].len(),
            "{page}: an ID occurs more than once"
        );
        for link in values(html, "href").into_iter().chain(values(html, "src")) {
            let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
            let path = if path.is_empty() { page } else { &path.to_owned() };
            match ids.get(path) {
                Some(ids) => assert!(fragment.is_empty() || ids.contains(fragment), "{page}: {link}"),
                None => drop(others.insert(path.clone())),
            }
        }
    }
    assert_eq!(others.len(), 5, "{others:?}");
    for path in others {
        // The log-in page refuses connections without TLS.
        let reply = fetch(&app, &path).await;
        assert!(reply.status == 200 || path == "/login", "{path}: {reply}");
    }
}

#[tokio::test]
async fn every_sample_uses_the_address_of_the_reader_and_a_path_of_the_api() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();
    let mut found = BTreeMap::new();
    for html in pages(&app).await.values() {
        for (operation, client, code) in samples(html) {
            let before = found.insert((operation, client), code);
            assert!(before.is_none());
        }
        assert!(!html.contains('\u{e000}'), "the address was not inserted");
    }
    for operation in OPERATIONS.iter() {
        let curl = &found[&(operation.id.to_owned(), "curl".to_owned())];
        let root = format!("http://{HOST}");
        let url = curl.split_whitespace().find(|word| word.contains(&root));
        let url = url.unwrap_or_else(|| panic!("{}: no URL in {curl}", operation.id));
        let path = url.trim_matches('\'').strip_prefix(&root).unwrap();
        assert!(!path.contains('{'), "{}: {path}", operation.id);
        assert!(
            curl.contains(operation.method.as_str()) || operation.method == Method::GET,
            "{curl}"
        );
        let reply = anonymous.call(Method::OPTIONS, &format!("/{path}")).send().await;
        let allowed = reply.headers().get("allow").map(|value| value.to_str().unwrap());
        assert!(
            allowed.is_some_and(|methods| methods
                .split(", ")
                .any(|method| method == operation.method.as_str())),
            "{} {path}: {allowed:?}",
            operation.id
        );
    }
    let calls: toml::Table = include_str!("../../src/api/docs/client_samples.toml")
        .parse()
        .unwrap();
    for (operation, clients) in &calls {
        for client in clients.as_table().unwrap().keys() {
            let title = match client.as_str() {
                "cli" => "linode-cli",
                "python" => "Python",
                "javascript" => "JavaScript",
                _ => "Go",
            };
            let key = (operation.clone(), title.to_owned());
            assert!(found.contains_key(&key), "{operation}: no sample for {client}");
        }
    }
    assert!(calls.len() > 100);
}

/// The values of the example of a body must be in the samples that do not read them from the document.
#[test]
fn the_samples_of_python_and_go_have_the_values_of_the_examples() {
    let calls: toml::Table = include_str!("../../src/api/docs/client_samples.toml")
        .parse()
        .unwrap();
    for (_, item) in DOCUMENT["paths"].as_object().unwrap() {
        for (_, operation) in item.as_object().unwrap() {
            let example = &operation["requestBody"]["content"]["application/json"]["example"];
            let Some(calls) = operation["operationId"].as_str().and_then(|id| calls.get(id)) else {
                continue;
            };
            for client in ["python", "go"] {
                let Some(code) = calls.get(client) else { continue };
                let code = code.as_str().unwrap();
                for value in strings(example) {
                    assert!(
                        code.contains(value) || value == "ipv4" || value == "vlan",
                        "{}, {client}: {value} is not in {code}",
                        operation["operationId"]
                    );
                }
            }
        }
    }
}

fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn the_samples_use_the_public_url_of_the_server() {
    let url = "https://cloud.example".to_owned();
    let app = TestApp::with(move |_, options| options.public_url = Some(url.clone())).await;
    let page = text_of(&fetch(&app, "/docs/vpcs").await);
    assert!(page.contains("curl https://cloud.example/v4/vpcs") && !page.contains(HOST));
}

#[tokio::test]
async fn the_search_finds_operations_fields_and_error_codes() {
    let app = TestApp::new().await;
    for (query, expected) in [
        ("createVpc", "/docs/vpcs#createVpc"),
        ("post+vpcs", "/docs/vpcs#createVpc"),
        ("LINODE+INSTANCES", "/docs/instances#getInstances"),
        ("nat_1_1", "#schema-"),
        ("page_size", "/docs/vpcs#getVpcs"),
        ("label_taken", "/docs/errors#label_taken"),
        ("scanner", "/docs/errors#"),
    ] {
        let page = text_of(&fetch(&app, &format!("/docs?q={query}")).await);
        let results = page.split("id=\"results\"").nth(1).unwrap();
        let results = results.split("</main>").next().unwrap();
        let links = values(results, "href");
        assert!(
            links.iter().any(|link| link.contains(expected)),
            "{query}: {links:?}"
        );
        assert!(page.len() < MAX_PAGE_BYTES);
    }
    let first = text_of(&fetch(&app, "/docs?q=label_taken").await);
    let first = first.split("Error codes (").nth(1).unwrap();
    assert_eq!(values(first, "href")[0], "/docs/errors#label_taken");
    let none = text_of(&fetch(&app, "/docs?q=%3Cscript%3E+zzz").await);
    assert!(none.contains("No results for “&lt;script&gt; zzz”."), "{none}");
    let long = format!("/docs?q={}", "x".repeat(5_000));
    assert_eq!(fetch(&app, &long).await.status, 200);
    let empty = text_of(&fetch(&app, "/docs?q=+").await);
    assert_eq!(empty, text_of(&fetch(&app, "/docs").await));
}

#[tokio::test]
async fn pages_are_small_and_have_no_inline_scripts_or_external_resources() {
    let app = TestApp::new().await;
    for (path, html) in pages(&app).await {
        assert!(html.len() < MAX_PAGE_BYTES, "{path} has {} bytes", html.len());
        assert_eq!(html.matches("<script").count(), 1, "{path}");
        assert!(html.contains("<script src=\"/docs/script.js?v="), "{path}");
        assert!(!html.contains(" style=") && !html.contains(" onclick="), "{path}");
        for link in values(&html, "href").into_iter().chain(values(&html, "src")) {
            assert!(
                link.starts_with(['/', '#']) && !link.starts_with("//"),
                "{path}: {link}"
            );
        }
        let policy = fetch(&app, &path).await;
        let policy = policy.header("content-security-policy");
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "connect-src 'self'",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
    }
}

#[tokio::test]
async fn pages_are_revalidated_and_assets_are_cached() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();
    let page = fetch(&app, "/docs/vpcs").await;
    assert_eq!(page.header("cache-control"), "private, no-cache");
    let tag = page.header("etag").to_owned();
    let again = anonymous.call(Method::GET, "//docs/vpcs").header("host", HOST);
    assert_eq!(again.header("if-none-match", &tag).await.status, 304);
    let elsewhere = anonymous
        .call(Method::GET, "//docs/vpcs")
        .header("host", "other.example");
    let elsewhere = elsewhere.header("if-none-match", &tag).await;
    assert_eq!(elsewhere.status, 200, "the page has another address");

    let html = text_of(&page);
    let urls = values(&html, "href").into_iter().chain(values(&html, "src"));
    let urls: Vec<&str> = urls.filter(|url| url.contains("?v=")).collect();
    assert_eq!(urls.len(), 2, "{urls:?}");
    for url in urls {
        let asset = fetch(&app, url).await;
        assert_eq!(
            asset.header("cache-control"),
            "public, max-age=31536000, immutable"
        );
        let without_hash = url.split('?').next().unwrap();
        assert_eq!(
            fetch(&app, without_hash).await.header("cache-control"),
            "no-cache",
            "the URL of earlier versions"
        );
    }
    assert_eq!(
        fetch(&app, "/docs/style.css").await.header("content-type"),
        "text/css; charset=utf-8"
    );
}

#[tokio::test]
async fn an_unknown_page_is_not_found() {
    let app = TestApp::new().await;
    assert_eq!(fetch(&app, "/docs/missing").await.errors(), ["- not_found"]);
    let html = app
        .anonymous()
        .call(Method::GET, "//docs/missing")
        .header("accept", "text/html")
        .await;
    assert_eq!(html.status, 404);
    assert!(text_of(&html).contains("Page not found"));
}
