//! The page of a host: its state, its ports, and actions.

use axum::extract::State;
use axum::http::request::Parts;
use axum::response::Response;
use maud::{Markup, html};

use super::host_summary::{LIST, last_report, load, status_tags};
use super::port_table;
use crate::console::account::one_time_secret;
use crate::console::error_page::PageResult;
use crate::console::forms::FormData;
use crate::console::layout::{number, pluralize, redirect_with_error, redirect_with_notice, time};
use crate::console::threads::confirmation;
use crate::console::visit::Visit;
use crate::model::encryption::HostKey;
use crate::model::host::Host;
use crate::model::id::HostId;
use crate::model::input::Input;
use crate::model::oauth::is_loopback_origin;
use crate::model::port::PortDetails;
use crate::model::staff_role::StaffRole;
use crate::model::time::Time;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::error::Error;
use crate::rules::hosts::JoinToken;
use crate::rules::ports::PORTS_PER_PAGE;
use crate::rules::request::Request;
use crate::store::WriteTx;
use crate::web::App;
use crate::web::extract::At;
use crate::web::origin::issuer;

pub fn url(id: HostId) -> String {
    format!("{}/{id}", LIST.1)
}

/// What the page shows.
struct Facts {
    host: Host,
    ports: Vec<PortDetails>,
    key: Option<HostKey>,
    drain_total: Option<i64>,
    /// Why no instance can move while the host is draining.
    drain_obstacle: Option<String>,
}

pub async fn view(State(app): State<App>, visit: Visit, staff: Staff, At(id): At<HostId>) -> PageResult {
    let facts = app
        .read(staff, move |tx, _| {
            let host = rules::hosts::view(tx, id)?;
            let drain_obstacle = match host.is_draining {
                true => rules::drain::obstacle(tx, &host)?,
                false => None,
            };
            Ok(Facts {
                host,
                drain_obstacle,
                ports: rules::ports::of_host(tx, id)?,
                key: rules::encryption::key_of(tx, id)?,
                drain_total: rules::drain::total(tx, id)?,
            })
        })
        .await?;
    let host = &facts.host;
    let now = app.store().context().clock.now();
    let body = html! {
        div .title {
            h1 { (host.label.as_str()) }
            @if visit.has_role(StaffRole::Operator) { div .actions { (actions(&visit, host)) } }
        }
        @if let Some(message) = &visit.refused { div .alert role="alert" { p { (message) } } }
        (state(&facts, now))
    };
    Ok(visit.page(host.label.as_str(), &[LIST], &body))
}

/// The part of the page that changes with the reports of the agent. It is loaded again at an interval.
fn state(facts: &Facts, now: Time) -> Markup {
    let (host, ports) = (&facts.host, &facts.ports);
    let warnings = host.report.iter().flat_map(|report| &report.warnings);
    let warnings: Vec<_> = warnings.collect();
    html! {
        div #state hx-get=(url(host.id)) hx-trigger="every 5s" hx-select="#state" hx-swap="outerHTML" {
            @if host.is_draining { (drain_progress(host, facts.drain_total)) }
            @if let Some(obstacle) = &facts.drain_obstacle { p .warning { "The instances cannot move: " (obstacle) "." } }
            dl .facts {
                div { dt { "Status" } dd { (status_tags(host, now)) } }
                div { dt { "Instances" } dd { (load(host)) } }
                div { dt { "Last report" } dd { (last_report(host, now)) } }
                div { dt { "Region" } dd { (host.region) } }
                div { dt { "Underlay address" } dd { code { (host.underlay_address.as_str()) } } }
                @if let Some(report) = &host.report { div { dt { "Agent version" } dd { (report.agent_version) } } }
                @if let Some(key) = &facts.key {
                    div { dt { "Encryption key" } dd { "Generation " (key.generation) ", since " (time(key.created)) } }
                }
                div { dt { "ID" } dd { (host.id) } }
                div { dt { "Created" } dd { (time(host.created)) } }
            }
            @if !warnings.is_empty() {
                div .warning {
                    p { strong { "Problems of the host:" } }
                    ul { @for warning in warnings { li { (warning.text) } } }
                }
            }
            section aria-labelledby="ports" {
                h2 #ports { "Ports" }
                @if ports.is_empty() {
                    p .quiet { "No instance on this host has a VPC interface." }
                } @else {
                    (port_table::of_host(ports))
                    @if ports.len() as i64 == PORTS_PER_PAGE {
                        p .hint { "The first " (number(PORTS_PER_PAGE.unsigned_abs())) " ports. Ports with errors are first." }
                    }
                }
            }
        }
    }
}

/// `total` is the number of instances when draining began.
fn drain_progress(host: &Host, total: Option<i64>) -> Markup {
    let remaining = host.instances;
    let total = total.unwrap_or_default().max(remaining);
    html! {
        p .notice role="status" {
            @if remaining == 0 && host.report.is_none() { "The host has no instances, because no agent has reported yet. You can remove it." }
            @else if remaining == 0 { "All instances have moved. You can turn the host off, or remove it." }
            @else {
                (number((total - remaining).unsigned_abs())) " of " (pluralize(usize::try_from(total).unwrap_or_default(), "instance", "instances"))
                " moved. Each is restarted on another host with free capacity."
            }
        }
    }
}

fn actions(visit: &Visit, host: &Host) -> Markup {
    let action = |name: &str| format!("{}/{name}", url(host.id));
    html! {
        @if host.is_draining {
            form method="post" action=(action("undrain")) { (visit.form_token()) button type="submit" { "Undrain" } }
        } @else {
            (confirmation("Drain", (false, None), &html! {
                p { "All instances are restarted on other hosts of the region, and new instances are not placed here." }
                form method="post" action=(action("drain")) {
                    (visit.form_token())
                    button .main type="submit" { "Drain " (host.label.as_str()) }
                }
            }))
        }
        (confirmation("New join token", (false, None), &html! {
            p { "When an agent joins with the token, its new credential replaces the current one." }
            form method="post" action=(action("join-token")) {
                (visit.form_token())
                label .option { input type="checkbox" name="revoke" value="true"; span { "Revoke the current credential immediately" } }
                button .main type="submit" { "Create join token" }
            }
        }))
        @if host.instances == 0 {
            (confirmation("Remove", (true, None), &html! {
                p { "The agent loses access immediately. The network on the host remains until you run " code { "garth agent purge" } " there." }
                form method="post" action=(action("remove")) {
                    (visit.form_token())
                    button .danger type="submit" { "Remove " (host.label.as_str()) }
                }
            }))
        }
    }
}

/// The page with a new join token, the only one that shows it.
pub fn render_token(visit: &Visit, title: &str, server: &str, token: &JoinToken) -> Response {
    let host_url = url(token.host.id);
    let join = format!(
        "garth agent join --server {server} --token \"$TOKEN\" --state /var/lib/garth-agent &&\n\
         systemctl enable --now garth-agent"
    );
    let body = html! {
        h1 { (title) }
        (one_time_secret("The join token", token.text.reveal()))
        dl .facts {
            div { dt { "Host" } dd { (token.host.label.as_str()) } }
            div { dt { "Expires" } dd { (time(token.expiry)) } }
        }
        @if is_loopback_origin(server) {
            p .warning {
                "Other hosts cannot reach " code { (server) } ", because it is a loopback address. Set "
                code { "public_url" } " to the URL of this server in the network of the hosts, or replace it in the command below."
            }
        }
        p { "The host needs the packages iproute2 and nftables, and Garth: its Debian package, or the program with the unit " code { "deploy/garth-agent.service" } " of the source tree." }
        p { "On the host, as root:" }
        ol .steps {
            li { "Run this command, then paste the token and press Enter." (command("read-token", "read -r TOKEN")) }
            li { "Join the region, and start the agent." (command("join", &join)) }
        }
        p { a .button href=(host_url) { "Done" } }
    };
    let label = token.host.label.as_str();
    visit.page(title, &[LIST, (label, &host_url)], &body)
}

/// A command with a button that copies it.
fn command(id: &str, text: &str) -> Markup {
    html! {
        div .copied {
            pre .sample { code #(id) tabindex="0" { (text) } }
            button type="button" data-copy=(id) hidden { "Copy" }
        }
    }
}

type Path = At<HostId>;

pub async fn drain(State(app): State<App>, staff: Staff, At(id): Path, data: FormData) -> PageResult {
    let request = data.request(Vec::new());
    change(&app, staff, id, "host-draining", move |tx| {
        rules::hosts::drain(tx, id, &request).map(drop)
    })
    .await
}

pub async fn undrain(State(app): State<App>, staff: Staff, At(id): Path, data: FormData) -> PageResult {
    let request = data.request(Vec::new());
    change(&app, staff, id, "host-undrained", move |tx| {
        rules::hosts::undrain(tx, id, &request).map(drop)
    })
    .await
}

pub async fn remove(State(app): State<App>, staff: Staff, At(id): Path, data: FormData) -> PageResult {
    let request = data.request(Vec::new());
    let removed = app
        .write(staff, move |tx, _| rules::hosts::delete(tx, id, &request))
        .await;
    match removed {
        Ok(()) => Ok(redirect_with_notice(LIST.1, "host-removed")),
        Err(error) => refused(id, error),
    }
}

pub async fn join_token(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): Path,
    parts: Parts,
    data: FormData,
) -> PageResult {
    let server = issuer(&app, &parts);
    let revoke = Input::Bool(data.text("revoke") == "true");
    let request: Request = data.request(vec![("revoke".to_owned(), revoke)]);
    let created = app
        .write(staff, move |tx, _| {
            rules::hosts::create_join_token(tx, id, &request)
        })
        .await?;
    Ok(render_token(&visit, "Join token created", &server, &created))
}

/// Runs a rule, and returns to the page of the host.
async fn change(
    app: &App,
    staff: Staff,
    id: HostId,
    notice: &str,
    rule: impl Fn(&mut WriteTx) -> rules::Result<()> + Send + 'static,
) -> PageResult {
    match app.write(staff, move |tx, _| rule(tx)).await {
        Ok(()) => Ok(redirect_with_notice(&url(id), notice)),
        Err(error) => refused(id, error),
    }
}

/// Shows the reason of a refusal on the page of the host.
fn refused(id: HostId, error: Error) -> PageResult {
    match error {
        Error::Refused(errors) => {
            let reasons: Vec<_> = errors.iter().map(|error| error.reason.as_str()).collect();
            Ok(redirect_with_error(&url(id), &reasons.join(". ")))
        }
        other => Err(other.into()),
    }
}
