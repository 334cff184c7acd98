//! The list of hosts, and the form for a new host.

use std::collections::HashMap;

use axum::extract::State;
use axum::http::request::Parts;
use axum::response::Response;
use maud::{Markup, html};

use super::host_summary::{LIST, last_report, load, status_tags};
use super::{encryption, host};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState};
use crate::console::layout::{empty_state, pagination, pluralize};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::host::{AgentStatus, DEFAULT_CAPACITY, Host, HostStatus};
use crate::model::id::HostId;
use crate::model::input::Input;
use crate::model::page::{Page, Paged};
use crate::model::staff_role::StaffRole;
use crate::model::time::Time;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::store::ReadTx;
use crate::web::App;
use crate::web::origin::issuer;

const NEW_URL: &str = "/hosts/new";
/// The number of hosts with problems that the first page for staff lists.
pub const MAX_LISTED_HOSTS: usize = 10;

pub use super::host::url;

pub async fn list(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    let list_request = query.list_request();
    let now = app.store().context().clock.now();
    let only_problems = query.text("problems") == "1";
    let (hosts, errors, encryption) = app
        .read(staff, move |tx, _| {
            let errors = rules::ports::error_counts(tx)?;
            let hosts = match only_problems {
                true => page_of_problems(Overview::load(tx, now)?.problems),
                false => rules::hosts::list(tx, &list_request)?,
            };
            Ok((hosts, errors, rules::encryption::enabled(tx)?))
        })
        .await?;
    let is_operator = visit.has_role(StaffRole::Operator);
    let body = html! {
        div .title {
            h1 { "Hosts" }
            @if is_operator { a .button.main href=(NEW_URL) { "Add host" } }
        }
        @if only_problems { p .count role="status" { "Only hosts with problems are shown. " a href=(LIST.1) { "Show all hosts" } } }
        @if hosts.items.is_empty() && only_problems {
            (empty_state("No problems", "No host has problems.", Some(("Show all hosts", LIST.1))))
        } @else if hosts.items.is_empty() {
            (empty_state("No hosts yet", "Hosts are Linux machines that run instances. In a region without hosts, instances are simulated.",
                is_operator.then_some(("Add host", NEW_URL))))
        } @else {
            table .list {
                thead { tr {
                    th scope="col" { "Label" } th scope="col" { "Region" } th scope="col" { "Status" }
                    th scope="col" { "Instances" } th scope="col" { "Last report" } th scope="col" { "Problems" }
                } }
                tbody { @for host in &hosts.items { (row(host, now, &errors)) } }
            }
            (pagination(&hosts, LIST.1))
            (encryption::section(&encryption))
        }
    };
    Ok(visit.page("Hosts", &[], &body))
}

/// The hosts of all regions.
#[derive(Default)]
pub struct Overview {
    pub count: i64,
    /// The number of hosts whose agent has not reported yet.
    pub waiting: usize,
    /// The hosts with problems, and the number of problems of each.
    pub problems: Vec<(Host, usize)>,
}

impl Overview {
    pub fn load(tx: &mut ReadTx, now: Time) -> rules::Result<Self> {
        let errors = rules::ports::error_counts(tx)?;
        let mut overview = Self::default();
        for page in 1.. {
            let hosts = rules::hosts::list(tx, &ListRequest::full_page().at(page))?;
            let pages = hosts.pages();
            overview.count = hosts.results;
            for host in hosts.items {
                overview.add(host, now, &errors);
            }
            if page >= pages {
                break;
            }
        }
        Ok(overview)
    }

    fn add(&mut self, host: Host, now: Time, errors: &HashMap<HostId, i64>) {
        self.waiting += usize::from(host.agent_status(now) == AgentStatus::New);
        match problem_count(&host, now, errors) {
            0 => {}
            count => self.problems.push((host, count)),
        }
    }
}

/// All hosts with problems, on one page.
fn page_of_problems(found: Vec<(Host, usize)>) -> Paged<Host> {
    let results = found.len() as i64;
    let page = Page {
        number: 1,
        size: results.max(1),
    };
    Paged {
        items: found.into_iter().map(|(host, _)| host).collect(),
        page,
        results,
    }
}

/// The number of warnings and of ports with errors. An agent that no longer reports is a problem, too.
fn problem_count(host: &Host, now: Time, errors: &HashMap<HostId, i64>) -> usize {
    let warnings = host.report.as_ref().map_or(0, |report| report.warnings.len());
    let errors = usize::try_from(errors.get(&host.id).copied().unwrap_or_default()).unwrap_or_default();
    let silent = usize::from(host.reporting_status(now) == HostStatus::Offline);
    warnings + errors + silent
}

fn row(host: &Host, now: Time, errors: &HashMap<HostId, i64>) -> Markup {
    let problems = problem_count(host, now, errors);
    html! {
        tr {
            th scope="row" { a href=(host::url(host.id)) { (host.label.as_str()) } " " span .id { (host.id) } }
            td data-label="Region" { (host.region) }
            td data-label="Status" { (status_tags(host, now)) }
            td data-label="Instances" { (load(host)) }
            td data-label="Last report" { (last_report(host, now)) }
            td data-label="Problems" {
                @if problems == 0 { span .quiet { "None" } }
                @else { span .tag.bad { (pluralize(problems, "problem", "problems")) } }
            }
        }
    }
}

pub async fn new(State(app): State<App>, visit: Visit) -> PageResult {
    let capacity = DEFAULT_CAPACITY.to_string();
    let form_state = FormState::prefilled(&[("capacity", &capacity)]);
    Ok(render_new(&app, &visit, &form_state))
}

/// Adds a host. Only this response shows the join token.
pub async fn create(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    parts: Parts,
    data: FormData,
) -> PageResult {
    let server = issuer(&app, &parts);
    let mut object = data.object(&["label", "region", "underlay_address"]);
    let capacity = forms::integer(data.text("capacity"));
    if capacity != Input::Null {
        object.push(("capacity".to_owned(), capacity));
    }
    let request = data.request(object);
    let created = app
        .write(staff, move |tx, _| {
            let host = rules::hosts::create(tx, &request)?;
            rules::hosts::create_join_token(tx, host.id, &Request::empty())
        })
        .await;
    match created {
        Ok(token) => Ok(host::render_token(&visit, "Host added", &server, &token)),
        Err(error) => {
            let form_state = forms::from_error(data, error)?;
            Ok(render_new(&app, &visit, &form_state))
        }
    }
}

fn render_new(app: &App, visit: &Visit, form_state: &FormState) -> Response {
    let policy = app.store().policy();
    let regions = policy.regions.iter().filter(|region| !region.retired);
    let regions: Vec<_> = regions
        .map(|region| (region.id.clone(), format!("{} ({})", region.label, region.id)))
        .collect();
    let label = Field {
        name: "label",
        label: "Label",
        hint: "Letters, digits and dashes.",
        autofocus: true,
        max_chars: Some(64),
        ..Field::default()
    };
    let region = Field {
        name: "region",
        label: "Region",
        hint: "Cannot be changed later.",
        ..Field::default()
    };
    let address = Field {
        name: "underlay_address",
        label: "Underlay address",
        hint: "The IPv4 or IPv6 address of the host in the network between hosts.",
        code: true,
        ..Field::default()
    };
    let capacity = Field {
        name: "capacity",
        label: "Capacity",
        hint: "The maximum number of instances on the host.",
        ..Field::default()
    };
    let form = Card::new(NEW_URL, "Add host", LIST.1);
    let body = html! {
        h1 { "Add host" }
        (forms::card(visit, form_state, &form, &html! {
            (forms::text_input(form_state, label))
            (forms::select(form_state, region, &regions))
            (forms::text_input(form_state, address))
            (forms::text_input(form_state, capacity))
        }))
    };
    visit.form_page(form_state, "Add host", &[LIST], &body)
}
