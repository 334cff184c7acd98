//! Rate limits, which are off by default.

use crate::harness::TestApp;

#[tokio::test]
async fn limits_and_headers_need_the_setting() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;

    let reply = ada.get("/vpcs").await;

    assert!(!reply.headers.contains_key("x-ratelimit-limit"));
    assert!(!reply.headers.contains_key("retry-after"));
}

#[tokio::test]
async fn lists_are_limited_to_two_hundred_per_minute_and_token() {
    let app = TestApp::with(|_, options| options.rate_limits = true).await;
    let (ada, bob) = (app.user("ada").await, app.user("bob").await);

    for remaining in (0..200).rev() {
        let reply = ada.get("/vpcs").await;
        assert_eq!(reply.status, 200);
        assert_eq!(
            (
                reply.header("x-ratelimit-limit"),
                reply.header("x-ratelimit-remaining")
            ),
            ("200", remaining.to_string().as_str())
        );
    }
    app.advance(13);
    let reply = ada.get("/vpcs").await;
    assert_eq!(
        (reply.status.as_u16(), reply.reason().as_str()),
        (429, "Too many requests")
    );
    assert_eq!(reply.header("retry-after"), "47");
    let window_end = garth::model::time::Time::parse("2024-06-01T12:01:00")
        .unwrap()
        .seconds()
        .to_string();
    assert_eq!(reply.header("x-ratelimit-reset"), window_end);
    assert_eq!(bob.get("/vpcs").await.status, 200, "other users are not affected");
    assert_eq!(
        ada.get("/vpcs/1").await.status,
        404,
        "other operations are not affected"
    );

    app.advance(47);
    assert_eq!(ada.get("/vpcs").await.status, 200);
}

#[tokio::test]
async fn all_requests_of_a_token_share_a_total_limit() {
    let app = TestApp::with(|_, options| options.rate_limits = true).await;
    let ada = app.user("ada").await;

    let mut refused = 0;
    for minute in 0..2 {
        for _ in 0..399 {
            refused += i32::from(ada.get("/vpcs/1").await.status == 429);
        }
        app.advance(if minute == 0 { 60 } else { 0 });
    }
    assert_eq!(refused, 0, "798 in two minutes are fine");
    assert_eq!(ada.get("/account/quotas").await.status, 200);
    assert_eq!(ada.get("/account/events").await.status, 200);
    let reply = ada.get("/account/quotas").await;
    assert_eq!(
        (reply.status.as_u16(), reply.header("x-ratelimit-limit")),
        (429, "800")
    );
}

#[tokio::test]
async fn public_operations_are_counted_by_address_and_health_checks_are_not() {
    let app = TestApp::with(|_, options| options.rate_limits = true).await;
    let anonymous = app.anonymous();

    for _ in 0..200 {
        assert_eq!(anonymous.get("/regions").await.status, 200);
    }
    assert_eq!(anonymous.get("/regions").await.status, 429);
    for _ in 0..1000 {
        assert_eq!(anonymous.get("//healthz").await.status, 200);
    }
    let refused = anonymous.get("/vpcs").await;
    assert_eq!(refused.status, 401);
    assert!(!refused.headers.contains_key("x-ratelimit-limit"));
}

#[tokio::test]
async fn setting_the_clock_does_not_change_a_limit() {
    let app = TestApp::with(|_, options| options.rate_limits = true).await;
    let ada = app.user("ada").await;
    for _ in 0..200 {
        assert_eq!(ada.get("/vpcs").await.status, 200);
    }
    for jump in [-30 * 86_400, 60 * 86_400] {
        app.set_clock_by(jump);
        let reply = ada.get("/vpcs").await;
        assert_eq!(reply.status, 429);
        assert_eq!(reply.header("retry-after"), "60");
    }
    app.advance(60);
    assert_eq!(ada.get("/vpcs").await.status, 200);
}

#[tokio::test]
async fn bad_tokens_are_counted_by_address() {
    let app = TestApp::with(|_, options| options.rate_limits = true).await;
    let ada = app.user("ada").await;
    let guess = async |at: i32| {
        let guessed = app.with_token(&format!("{at:064}"));
        let reply = match at % 3 {
            0 => app.anonymous().get("/vpcs").await,
            1 => guessed.get("/profile").await,
            _ => guessed.delete("/desk/canned-replies/1").await,
        };
        let has_limit_headers = reply.headers.contains_key("x-ratelimit-limit");
        (reply.status.as_u16(), has_limit_headers)
    };
    for at in 0..400 {
        assert_eq!(guess(at).await, (401, false), "{at}");
    }
    for at in 400..410 {
        assert_eq!(guess(at).await, (429, true), "{at}");
    }
    assert_eq!(
        ada.get("/profile").await.status,
        200,
        "a valid token has its own counter"
    );
    app.advance(60);
    assert_eq!(guess(0).await, (401, false));
}
