//! Log-in over plain HTTP from another host: there is no password form.

use hyper::Method;

use crate::browser::text;
use crate::console::app_with_ada;
use crate::harness::Reply;

const AUTHORIZE: &str = "//oauth/authorize?client_id=x&response_type=code";

fn has_password_form(page: &Reply) -> bool {
    text(page).contains("type=\"password\"")
}

#[tokio::test]
async fn plain_http_from_another_host_shows_no_password_form() {
    let app = app_with_ada().await;
    let anonymous = app.anonymous();
    for host in ["garth.example", "10.0.0.1:8080", "[fd00::1]:8080"] {
        for path in ["//login", AUTHORIZE, "//oauth/password/nothing"] {
            let page = anonymous.call(Method::GET, path).header("host", host).await;
            assert_eq!(page.status, 403, "{host} {path}: {page}");
            assert!(!has_password_form(&page), "{host} {path}: {page}");
            let help = text(&page);
            assert!(
                help.contains("--tls-cert") && help.contains("--trusted-proxies"),
                "{help}"
            );
            assert_eq!(page.header("set-cookie"), "", "{host} {path}");
        }
        // A form from an older page is refused for the same reason.
        let sent = anonymous
            .call(Method::POST, "//login")
            .header("host", host)
            .header("content-type", "application/x-www-form-urlencoded")
            .await;
        assert_eq!(sent.status, 403);
        assert!(text(&sent).contains("Secure connection required"), "{sent}");
    }
}

#[tokio::test]
async fn the_hint_names_the_port_that_the_browser_used() {
    let app = app_with_ada().await;
    for (host, local) in [
        ("garth.example:9443", "http://localhost:9443"),
        ("[fd00::1]:81", "http://localhost:81"),
        ("garth.example", "http://localhost<"),
        ("10.0.0.1:80", "http://localhost<"),
    ] {
        let page = app
            .anonymous()
            .call(Method::GET, "//login")
            .header("host", host)
            .await;
        assert!(text(&page).contains(local), "{host}: {page}");
    }
}

#[tokio::test]
async fn the_form_is_shown_where_the_browser_stores_the_session() {
    let app = app_with_ada().await;
    let anonymous = app.anonymous();
    for host in ["localhost:8080", "127.0.0.2:8080", "[::1]:8080", "app.localhost"] {
        let page = anonymous.call(Method::GET, "//login").header("host", host).await;
        assert!(page.status == 200 && has_password_form(&page), "{host}: {page}");
    }
    // Behind a proxy that is not configured as trusted, the browser's headers show that it uses TLS.
    for (name, value) in [
        ("sec-fetch-site", "none"),
        ("x-forwarded-proto", "https"),
        ("origin", "https://garth.example"),
    ] {
        let page = anonymous
            .call(Method::GET, "//login")
            .header("host", "garth.example")
            .header(name, value)
            .await;
        assert!(page.status == 200 && has_password_form(&page), "{name}: {page}");
    }
}
