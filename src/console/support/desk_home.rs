//! The first page for staff: the queue with its ages, hosts with problems, and, for operators, dead jobs. Each number leads to the
//! list that it counts.

use axum::extract::State;
use maud::{Markup, html};

use super::desk;
use crate::console::error_page::PageResult;
use crate::console::hosts;
use crate::console::layout::{age, number, pluralize};
use crate::console::status_bar::{Segment, status_bar};
use crate::console::visit::Visit;
use crate::model::staff_role::StaffRole;
use crate::model::ticket::WaitingTickets;
use crate::model::time::Time;
use crate::rules;
use crate::rules::agent::Staff;
use crate::store::ReadTx;
use crate::web::App;

/// Filters of the queue: name and value.
type Filters = &'static [(&'static str, &'static str)];

/// The numbers of the queue: label and filters.
const COUNTS: [(&str, Filters); 5] = [
    ("open", &[]),
    ("need an answer", &[("status", "waiting")]),
    ("new", &[("status", "new")]),
    ("unassigned", &[desk::UNASSIGNED]),
    ("assigned to me", &[("claim", "mine")]),
];
/// The ages of open tickets: label, filters and the class of the color.
const AGES: [(&str, Filters, &str); 3] = [
    ("aged under 1 day", &[("age", "day")], "some"),
    ("aged 1 to 7 days", &[("age", "week")], "much"),
    ("aged over 7 days", &[("age", "older")], "full"),
];

struct Overview {
    counts: Vec<(&'static str, i64, String)>,
    ages: Vec<Segment>,
    waiting: WaitingTickets,
    hosts: hosts::Overview,
    /// `None` if the role has no access to jobs.
    dead_jobs: Option<i64>,
}

impl Overview {
    fn load(tx: &mut ReadTx, me: &str, role: StaffRole, now: Time) -> rules::Result<Self> {
        let mut counts = Vec::new();
        for (label, filters) in COUNTS {
            let (count, url) = desk::count(tx, me, now, filters)?;
            let label = match (label, count) {
                ("need an answer", 1) => "needs an answer",
                (label, _) => label,
            };
            counts.push((label, count, url));
        }
        let mut ages = Vec::new();
        for (label, filters, class) in AGES {
            let (count, url) = desk::count(tx, me, now, filters)?;
            ages.push(Segment {
                label: label.to_owned(),
                url,
                count,
                class,
            });
        }
        let dead_jobs = match role >= StaffRole::Operator {
            true => Some(rules::jobs::count(tx)?.iter().map(|jobs| jobs.dead).sum()),
            false => None,
        };
        Ok(Self {
            counts,
            ages,
            waiting: rules::desk::waiting(tx)?,
            hosts: hosts::Overview::load(tx, now)?,
            dead_jobs,
        })
    }
}

pub async fn view(State(app): State<App>, visit: Visit, staff: Staff) -> PageResult {
    let (now, me) = (app.store().context().clock.now(), visit.username.clone());
    let overview = app
        .read(staff, move |tx, staff| Overview::load(tx, &me, staff.role(), now))
        .await?;
    let body = html! {
        h1 { "Home" }
        (queue_section(&overview, now))
        (host_section(&overview.hosts))
        @if let Some(dead_jobs) = overview.dead_jobs { (job_section(dead_jobs)) }
    };
    Ok(visit.page("Home", &[], &body))
}

fn queue_section(overview: &Overview, now: Time) -> Markup {
    html! {
        section aria-labelledby="queue" {
            h2 #queue { a href=(desk::QUEUE.1) { "Tickets" } }
            ul .segments.large {
                @for (label, count, url) in &overview.counts {
                    li { a href=(url) { strong { (number(count.unsigned_abs())) } " " (label) } }
                }
            }
            @if let Some((ticket, since)) = overview.waiting.oldest_ticket.zip(overview.waiting.oldest) {
                p { a href=(desk::url(ticket)) { "The longest wait for an answer is " (age(since, now)) } "." }
            }
            @if overview.ages.iter().any(|segment| segment.count > 0) { (status_bar(&overview.ages)) }
        }
    }
}

fn host_section(overview: &hosts::Overview) -> Markup {
    html! {
        section aria-labelledby="hosts" {
            h2 #hosts { a href="/hosts" { "Hosts" " " span .badge { (number(overview.count.unsigned_abs())) } } }
            @if overview.waiting > 0 {
                p { a href="/hosts" { (pluralize(overview.waiting, "host waits for its agent", "hosts wait for their agents")) "." } }
            }
            @if overview.count == 0 { p .quiet { "There are no hosts. Instances and networks exist only as records." } }
            @else if overview.problems.is_empty() {
                @if overview.waiting == 0 { p .quiet { "No host has problems." } }
            } @else {
                p { a href="/hosts?problems=1" { strong { (overview.problems.len()) } " with problems" } }
                ul .entries {
                    @for (host, count) in overview.problems.iter().take(hosts::MAX_LISTED_HOSTS) {
                        li { a href=(hosts::url(host.id)) { (host.label.as_str()) } " " span .tag.bad { (pluralize(*count, "problem", "problems")) } }
                    }
                }
            }
        }
    }
}

fn job_section(dead_jobs: i64) -> Markup {
    html! {
        section aria-labelledby="jobs" {
            h2 #jobs { a href="/provider/jobs" { "Dead jobs " span .badge { (number(dead_jobs.unsigned_abs())) } } }
            @if dead_jobs == 0 { p .quiet { "No dead jobs." } } @else {
                p { "They are no longer retried. " a href="/provider/jobs" { "Retry or cancel them" } }
            }
        }
    }
}
