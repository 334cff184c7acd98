//! Invalid requests get an error object and change nothing.

use hyper::Method;
use serde_json::json;

use crate::browser::{Browser, hidden_field, text};
use crate::harness::TestApp;

#[tokio::test]
async fn an_unknown_path_is_not_found_with_or_without_a_token() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for path in [
        "/nowhere",
        "//v5/vpcs",
        "/v4betamax/vpcs",
        "/vpcs/1/nothing",
        "/vpcs//",
        "/vpcs/1/subnets/1/x",
    ] {
        for user in [&ada, &app.anonymous()] {
            let reply = user.get(path).await;
            assert_eq!(
                (reply.status.as_u16(), reply.reason().as_str()),
                (404, "Not found"),
                "{path}"
            );
            assert_eq!(reply.header("content-type"), "application/json");
        }
    }
}

#[tokio::test]
async fn an_unsupported_method_gets_the_allowed_methods() {
    let app = TestApp::new().await;
    for (method, path, allow) in [
        ("PATCH", "/vpcs", "GET, HEAD, POST, OPTIONS"),
        ("TRACE", "/vpcs/1", "GET, HEAD, PUT, DELETE, OPTIONS"),
        ("DELETE", "/vpcs/1/subnets", "GET, HEAD, POST, OPTIONS"),
        ("GET", "/account/events/1/seen", "POST, OPTIONS"),
        ("HEAD", "/account/events/1/seen", "POST, OPTIONS"),
        ("BREW", "/regions", "GET, HEAD, OPTIONS"),
    ] {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let reply = app.anonymous().call(method.clone(), path).await;
        assert_eq!(
            (reply.status.as_u16(), reply.header("allow")),
            (405, allow),
            "{method} {path}"
        );
    }
}

#[tokio::test]
async fn cors_allows_all_origins() {
    let app = TestApp::new().await;
    let preflight = app
        .anonymous()
        .call(Method::OPTIONS, "/vpcs")
        .header("origin", "https://app.example")
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "authorization,content-type,x-filter",
        )
        .await;
    assert_eq!(preflight.status, 200);
    assert_eq!(preflight.header("allow"), "GET, HEAD, POST, OPTIONS");
    let refused = app.anonymous().get("/vpcs").await;
    for reply in [preflight, refused] {
        assert_eq!(reply.header("access-control-allow-origin"), "*");
        assert!(reply.header("access-control-allow-methods").contains("DELETE"));
        assert!(reply.header("access-control-allow-headers").contains("X-Filter"));
        assert!(
            reply
                .header("access-control-expose-headers")
                .contains("X-OAuth-Scopes")
        );
    }
}

#[tokio::test]
async fn preflight_requests_succeed_on_every_path_below_the_version() {
    let app = TestApp::new().await;
    let anonymous = app.anonymous();
    for path in [
        "/v4/vpcs",
        "/v4beta/vpcs/1",
        "/v4/vpcs/not-a-number",
        "/v4/nothing/here",
        "/v4beta/nothing",
        "/v4/nothing/",
        "/v4",
        "/v4beta/",
    ] {
        let preflight = anonymous
            .call(Method::OPTIONS, path)
            .header("origin", "https://app.example")
            .header("access-control-request-method", "GET")
            .header("access-control-request-headers", "authorization")
            .await;
        assert_eq!(preflight.status, 200, "{path}: {preflight}");
        assert_eq!(preflight.header("access-control-allow-origin"), "*", "{path}");
        let allowed = preflight.header("access-control-allow-headers");
        assert!(allowed.contains("Authorization"), "{path}: {allowed}");
    }
    for path in ["//nothing", "/v4betamax/vpcs"] {
        assert_eq!(anonymous.call(Method::OPTIONS, path).await.status, 404, "{path}");
    }
    assert_eq!(anonymous.get("/nothing/here").await.status, 404);
}

#[tokio::test]
async fn head_responds_like_get_without_a_body() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &[]).await;
    let get = ada.get("/vpcs/1").await;

    let head = ada.call(Method::HEAD, "/vpcs/1").await;

    assert_eq!((head.status, head.body.len()), (get.status, 0));
    assert_eq!(head.header("etag"), get.header("etag"));
    assert_eq!(head.header("content-length"), get.body.len().to_string());
}

#[tokio::test]
async fn every_response_has_the_common_headers() {
    let app = TestApp::new().await;
    let ada = app.user("ada").scopes("vpc:read_only,events:*").await;
    for (reply, token_scopes, accepted) in [
        (ada.get("/vpcs").await, "events:read_write vpc:read_only", "*"),
        (
            ada.post("/vpcs", json!({})).await,
            "events:read_write vpc:read_only",
            "vpc:read_write",
        ),
        (
            ada.get("/account/events").await,
            "events:read_write vpc:read_only",
            "events:read_only",
        ),
        (
            app.anonymous().post("/vpcs", json!({})).await,
            "unknown",
            "vpc:read_write",
        ),
        (app.anonymous().get("/nowhere").await, "unknown", "*"),
    ] {
        assert_eq!(reply.header("x-oauth-scopes"), token_scopes);
        assert_eq!(reply.header("x-accepted-oauth-scopes"), accepted);
        assert_eq!(reply.header("x-spec-version"), "4.176.0");
        assert_eq!(reply.header("x-content-type-options"), "nosniff");
        assert_eq!(reply.header("x-frame-options"), "DENY");
        assert_eq!(reply.header("content-security-policy"), "default-src 'none'");
        assert!(!reply.header("x-request-id").is_empty());
    }
    let own = ada
        .call(Method::GET, "/vpcs")
        .header("x-request-id", "job-7.step_2")
        .await;
    assert_eq!(own.header("x-request-id"), "job-7.step_2");
    let odd = ada
        .call(Method::GET, "/vpcs")
        .header("x-request-id", "<script>")
        .await;
    assert!(!odd.header("x-request-id").contains('<'));
}

#[tokio::test]
async fn a_scope_error_lists_required_and_held_scopes() {
    let app = TestApp::new().await;
    let ada = app.user("ada").scopes("vpc:read_only linodes:read_write").await;

    let reply = ada
        .post("/vpcs", json!({"label": "core", "region": "us-east"}))
        .await;

    assert_eq!(reply.status, 401);
    assert_eq!(
        reply.json()["errors"],
        json!([{
            "reason": "Your OAuth token is not authorized to use this endpoint.",
            "code": "scope_missing",
            "required_scopes": ["vpc:read_write"],
            "held_scopes": ["linodes:read_write", "vpc:read_only"],
        }])
    );
}

#[tokio::test]
async fn authorization_accepts_only_bearer_tokens_ignoring_case() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let token = ada.token.clone().unwrap();
    for (value, status) in [
        (format!("Bearer {token}"), 200),
        (format!("bearer {token}"), 200),
        (format!("BEARER   {token} "), 200),
        (format!("Token {token}"), 401),
        (format!("Bearer{token}"), 401),
        (token.clone(), 401),
        ("Bearer".to_owned(), 401),
        ("Bearer ".to_owned(), 401),
        (String::new(), 401),
        (format!("Bearer {}", token.to_uppercase()), 401),
        (format!("Bearer {}", &token[..63]), 401),
        (format!("Bearer {token}0"), 401),
        (format!("Bearer {token}, Bearer {token}"), 401),
        (format!("Bearer {}", "x".repeat(10_000)), 401),
    ] {
        let reply = app
            .anonymous()
            .call(Method::GET, "/vpcs")
            .header("authorization", &value)
            .await;
        assert_eq!(reply.status, status, "{value}");
        if status == 401 {
            assert_eq!(reply.reason(), "Invalid Token");
        }
    }
}

#[tokio::test]
async fn only_json_is_accepted_but_an_empty_body_may_have_any_type() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let valid = r#"{"label":"core","region":"us-east"}"#;
    for (kind, status) in [
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/jsonp", 415),
        ("multipart/form-data; boundary=x", 415),
        ("application/json; charset=iso-8859-1", 415),
        ("application/json;charset=\"UTF-16\"", 415),
        ("application/json; version=1; Charset=latin1", 415),
        ("application/json; charset=", 415),
        ("", 415),
    ] {
        let reply = ada
            .call(Method::POST, "/vpcs")
            .header("content-type", kind)
            .body(valid)
            .await;
        assert_eq!(reply.status, status, "{kind}");
        let empty = ada.call(Method::POST, "/vpcs").header("content-type", kind).await;
        assert_eq!(empty.errors(), ["label required", "region required"], "{kind}");
    }
    assert_eq!(ada.count("/vpcs").await, 0);
    for (number, kind) in [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;Charset=\"UTF-8\"",
        "application/json; charset=us-ascii",
        "application/json; version=1",
        "application/json;",
    ]
    .iter()
    .enumerate()
    {
        let body = format!(r#"{{"label":"core-{number}","region":"us-east"}}"#);
        assert_eq!(
            ada.call(Method::POST, "/vpcs")
                .header("content-type", kind)
                .body(body)
                .await
                .status,
            200
        );
    }
    assert_eq!(
        ada.call(Method::POST, "/vpcs").body(valid).await.status,
        200,
        "no content type counts as JSON"
    );
    let form = "application/x-www-form-urlencoded";
    assert_eq!(
        ada.call(Method::PUT, "/vpcs/1")
            .header("content-type", form)
            .await
            .status,
        200
    );
    assert_eq!(
        ada.call(Method::POST, "/account/events/1/seen")
            .header("content-type", form)
            .await
            .status,
        200
    );
    assert_eq!(
        ada.call(Method::DELETE, "/vpcs/1")
            .header("content-type", "application/json")
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn an_unneeded_body_must_still_be_valid() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    for (method, path) in [
        (Method::POST, "/account/events/1/seen"),
        (Method::POST, "/account/events/1/read"),
        (Method::DELETE, "/vpcs/1/subnets/1"),
        (Method::DELETE, "/vpcs/1"),
    ] {
        let call = || ada.call(method.clone(), path);
        let other = call().header("content-type", "text/plain").body("hello").await;
        assert_eq!(other.status, 415, "{method} {path}");
        assert_eq!(
            call().body("{").await.errors(),
            ["- json_invalid"],
            "{method} {path}"
        );
        assert_eq!(
            call().body(vec![b' '; (1 << 20) + 1]).await.status,
            413,
            "{method} {path}"
        );
        assert_eq!(call().body("{\"x\": 1}").await.status, 200, "{method} {path}");
    }
}

#[tokio::test]
async fn a_body_may_have_at_most_one_mebibyte() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let sized = |bytes: usize| {
        let empty = r#"{"label":"core","region":"us-east","ignored":""}"#;
        empty.replace(r#""""#, &format!("\"{}\"", "x".repeat(bytes - empty.len())))
    };
    let over = ada.call(Method::POST, "/vpcs").body(sized((1 << 20) + 1)).await;
    assert_eq!(
        (over.status.as_u16(), over.errors()),
        (413, vec!["- body_too_large".to_owned()])
    );
    assert_eq!(
        ada.call(Method::POST, "/vpcs").body(sized(1 << 20)).await.status,
        200
    );
    let huge = ada.call(Method::POST, "/vpcs").body(vec![b' '; 32 << 20]).await;
    assert_eq!(huge.status, 413);
}

#[tokio::test]
async fn an_overloaded_server_refuses_new_requests_and_completes_the_others() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let gate = std::sync::Arc::new(std::sync::Mutex::new(gate));
    // All writers of the engine are blocked, and more requests arrive than may wait.
    let blocked_writers = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let slow = (0..16).map(|_| {
        let (gate, blocked_writers) = (gate.clone(), blocked_writers.clone());
        app.store.write(move |_| -> garth::rules::Result<()> {
            blocked_writers.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            let _ = gate.lock().expect("no thread panics here").recv();
            Ok(())
        })
    });
    let slow = futures_util::future::join_all(slow);
    let all_held = async {
        // Writers start with a delay. Each writer that starts frees one more slot of the queue.
        let (mut before, mut same) = (0, 0);
        while before == 0 || same < 10 {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            let now = blocked_writers.load(std::sync::atomic::Ordering::SeqCst);
            same = if now == before { same + 1 } else { 0 };
            before = now;
        }
    };
    // The queue is full only after each of these clients has sent its request.
    let sent = std::cell::Cell::new(0);
    let waiting = async {
        all_held.await;
        let waiting = (0..5000).map(|_| async {
            sent.set(sent.get() + 1);
            app.store.write(|_| -> garth::rules::Result<()> { Ok(()) }).await
        });
        futures_util::future::join_all(waiting).await
    };
    let everything = futures_util::future::join(slow, waiting);
    let meanwhile = async {
        while sent.get() < 5000 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        let reply = ada
            .post("/vpcs", json!({"label": "core", "region": "us-east"}))
            .await;
        assert_eq!(
            (reply.status.as_u16(), reply.errors()),
            (503, vec!["- overloaded".to_owned()])
        );
        assert_eq!(reply.header("retry-after"), "1");
        assert_eq!(ada.get("/vpcs").await.status, 200, "reads still work");
        drop(open);
    };
    let ((slow, others), ()) = futures_util::future::join(everything, meanwhile).await;
    assert!(slow.iter().all(|result| result.is_ok()));
    let done = slow.len() + others.iter().filter(|result| result.is_ok()).count();
    assert!(
        (4096..=4096 + 16).contains(&done),
        "as many as may wait were done: {done}"
    );
    assert_eq!(
        ada.post("/vpcs", json!({"label": "core", "region": "us-east"}))
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn integers_may_have_a_decimal_point() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    ada.create_vpc("core", &[]).await;
    let body = r#"{"summary": "Help", "description": "Please.", "vpc_id": 1.0}"#;
    let call = ada.call(Method::POST, "/support/tickets");
    let opened = call.header("content-type", "application/json").body(body).await;
    assert_eq!(opened.json()["entity"]["id"], 1, "{opened}");
    let listed = ada.filter("/vpcs", r#"{"id": 1e0}"#).await;
    assert_eq!(listed.ids(), [1]);
    for broken in ["1.5", "1e19", "-1e300"] {
        let body = body.replace("1.0", broken);
        let call = ada.call(Method::POST, "/support/tickets");
        let refused = call.header("content-type", "application/json").body(body).await;
        assert_eq!(refused.errors(), ["vpc_id wrong_type"], "{broken}");
    }
}

#[tokio::test]
async fn a_key_with_a_nul_character_is_unknown() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let grace = app.user("grace").staff().await;
    for path in [
        "/account/users/%00",
        "/account/users/a%00b/grants",
        "/account/oauth-clients/%00",
        "/account/oauth-clients/%00/thumbnail",
        "/tags/a%00bc",
        "/images/%00",
        "/regions/%00",
        "/linode/types/%00",
        "/linode/kernels/%00",
    ] {
        let reply = ada.get(path).await;
        assert_eq!(reply.status, 404, "{path}: {reply}");
    }
    let authorization = "//oauth/authorize?response_type=code&client_id=%00";
    assert_eq!(app.anonymous().get(authorization).await.status, 400);
    let anonymous = app.anonymous();
    let token = anonymous
        .call(Method::POST, "//oauth/token")
        .header("content-type", "application/x-www-form-urlencoded")
        .body("grant_type=authorization_code&code=%00&client_id=%00&client_secret=%00")
        .await;
    assert_eq!(token.status, 401, "{token}");
    let image = json!({
        "type": "g6-nanode-1", "region": "us-east", "image": "linode/debian12", "authorized_users": ["a\u{0}"],
    });
    let refused = ada.post("/linode/instances", image).await;
    assert_eq!(refused.errors(), ["authorized_users user_invalid"], "{refused}");
    let desk = grace.get("/desk/tickets?assignee=%00").await;
    assert!(desk.status.as_u16() < 500, "{desk}");
}

#[tokio::test]
async fn a_log_in_with_a_nul_character_fails() {
    let app = TestApp::new().await;
    let mut visitor = Browser::new(&app);
    let form = visitor.get("/login").await;
    let token = hidden_field(&form, "form_token");
    let fields = [
        ("form_token", token.as_str()),
        ("return_to", ""),
        ("username", "ada\u{0}"),
        ("password", "Secret-9"),
    ];
    let refused = visitor.post("/login", &fields).await;
    assert!(
        text(&refused).contains("Incorrect username or password"),
        "{refused}"
    );
}
