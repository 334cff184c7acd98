//! Forms with as many fields as the size limit allows, compared with forms of the same size and number of fields whose
//! fields have no meaning.

use std::net::SocketAddr;

use super::log_in::{Browser, PASSWORD, set_password};
use super::meter::Meter;
use crate::connection::{Connection, Reply};
use crate::harness::Folder;

/// The maximum cost of a form, relative to the ordinary form.
const MAX_RATIO: f64 = 12.0;
/// Less than the size limit of a body, 1 MiB.
const FORM_BYTES: usize = 1_000_000;
/// Less than the size limit of a form that is read before authentication, 64 KiB.
const SMALL_FORM_BYTES: usize = 65_000;

#[test]
fn cost_of_an_oauth_form_is_proportional_to_its_size() {
    let folder = Folder::new("attack-oauth-forms");
    let (server, meter) = Meter::start(&folder);
    // The server refuses a form with a repeated field. In the ordinary form, the second field repeats the first one.
    let distinct = |at: usize| format!("{at:06x}");
    let repeated = |at: usize| format!("{:06x}", at.max(1));
    for path in ["/oauth/token", "/oauth/revoke"] {
        let cost = |body: String| {
            meter.cost_of(|| {
                let reply = post(server.address, path, "", &body);
                assert!(matches!(reply.status, 400 | 401), "{reply:?}");
                Ok(())
            })
        };
        let (worst, ordinary) = (form(SMALL_FORM_BYTES, distinct), form(SMALL_FORM_BYTES, repeated));
        assert_proportional(path, &meter, cost(worst), cost(ordinary));
    }
    for path in ["/oauth/token", "/oauth/revoke", "/oauth/login", "/login"] {
        let reply = post(server.address, path, "", &form(FORM_BYTES, distinct));
        assert_eq!(reply.status, 413, "{path}: {}", reply.text());
    }
}

#[test]
fn cost_of_a_page_form_is_proportional_to_its_size() {
    let folder = Folder::new("attack-page-forms");
    let (server, meter) = Meter::start(&folder);
    folder.run("user create --account 1 --username weak --email weak@example.com --restricted");
    set_password(&folder);
    server.client().create_vpc("core");
    let mut browser = Browser::new(server.address, 1);
    assert_eq!(browser.log_in("admin", PASSWORD).status, 303);
    let session = browser.session.expect("a session");
    for (path, field, status) in [
        ("/vpcs/new", "subnets[{at}].label=a", 413),
        ("/account/users/weak/grants", "vpc.{at}=read_only", 400),
    ] {
        let token = form_token(&get(server.address, path, &session));
        let cost = |field: &str, statuses: &[u16]| {
            let body = format!(
                "form_token={token}&{}",
                form(FORM_BYTES, |at| field.replace("{at}", &at.to_string()))
            );
            meter.cost_of(|| {
                let reply = post(server.address, path, &session, &body);
                assert!(statuses.contains(&reply.status), "{path}: {}", reply.text());
                Ok(())
            })
        };
        let meaningless = format!("x{field}");
        let (worst, ordinary) = (cost(field, &[status]), cost(&meaningless, &[303, 400]));
        assert_proportional(path, &meter, worst, ordinary);
    }
}

/// A form of this size with fields of this kind.
fn form(max_bytes: usize, field: impl Fn(usize) -> String) -> String {
    let mut body = String::new();
    for at in 0.. {
        let field = field(at);
        if body.len() + field.len() > max_bytes {
            break;
        }
        body += &field;
        body.push('&');
    }
    body
}

fn assert_proportional(path: &str, meter: &Meter, worst: u64, ordinary: u64) {
    let unit = meter.unit();
    assert!(
        worst < meter.min_cost() || (worst as f64) < MAX_RATIO * ordinary as f64,
        "{path}: {worst} {unit}, ordinary {ordinary}"
    );
}

fn form_token(page: &Reply) -> String {
    let text = page.text();
    let (_, rest) = text.split_once("name=\"form_token\" value=\"").expect("a token");
    rest.split('"').next().unwrap_or_default().to_owned()
}

fn get(server: SocketAddr, path: &str, cookie: &str) -> Reply {
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}\r\n\r\n");
    exchange(server, "GET", &request)
}

fn post(server: SocketAddr, path: &str, cookie: &str, body: &str) -> Reply {
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    exchange(server, "POST", &request)
}

fn exchange(server: SocketAddr, method: &str, request: &str) -> Reply {
    let mut connection = Connection::open(server).expect("the server accepts connections");
    connection.send(request).expect("the request can be sent");
    connection.reply_to(method).expect("the server responds")
}
