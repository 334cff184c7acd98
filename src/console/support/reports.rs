//! Reports of the desk: volume and first response times, as plots, tables and a CSV file.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::csv::Csv;
use crate::console::desk::QUEUE;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, FormState};
use crate::console::layout::number;
use crate::console::query::Query;
use crate::console::saved_views::url_with_filters;
use crate::console::targets::duration;
use crate::console::visit::Visit;
use crate::model::report::{Figures, Report, Volume};
use crate::rules;
use crate::rules::agent::Staff;
use crate::web::App;

const URL: &str = "/desk/reports";
const CSV_URL: &str = "/desk/reports/export.csv";

async fn load(app: &App, staff: Staff, query: &Query) -> Result<Report, rules::Error> {
    let given = |name: &str| Some(query.text(name).trim().to_owned()).filter(|day| !day.is_empty());
    let (from, to) = (given("from"), given("to"));
    app.read(staff, move |tx, _| {
        rules::reports::view(tx, from.as_deref(), to.as_deref())
    })
    .await
}

pub async fn view(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    let (form_state, report) = match load(&app, staff, &query).await {
        Ok(report) => {
            let days = [
                ("from", report.period.first_day()),
                ("to", report.period.last_day()),
            ];
            let days = days.each_ref().map(|(name, day)| (*name, day.as_str()));
            (FormState::prefilled(&days), Some(report))
        }
        Err(error) => (forms::from_error(query.0, error)?, None),
    };
    let body = html! {
        h1 { "Reports" }
        (form_state.alert())
        (period_form(&form_state))
        @if let Some(report) = &report { (render(report)) }
        @if app.store().policy().support.targets.is_empty() {
            p .hint {
                "No targets for response times are set. To set them, add " code { "desk.first_response_minutes" } " or "
                code { "desk.resolution_minutes" } " to the settings of the server."
            }
        }
    };
    Ok(visit.form_page(&form_state, "Reports", &[QUEUE], &body))
}

fn period_form(form_state: &FormState) -> Markup {
    let day = |name: &str, label: &str| {
        let errors = form_state.errors_on(name);
        html! {
            div .field .wrong[!errors.is_empty()] {
                label for=(format!("f-{name}")) { (label) }
                input #(format!("f-{name}")) type="date" name=(name) value=(form_state.data.text(name))
                    aria-invalid=[(!errors.is_empty()).then_some("true")];
            }
        }
    };
    html! {
        // Not `.filters`: this form has no live search, so its button stays visible.
        form .search method="get" action=(URL) {
            (day("from", "First day (UTC)"))
            (day("to", "Last day (UTC)"))
            button type="submit" { "Show" }
        }
    }
}

fn render(report: &Report) -> Markup {
    let days = [
        ("from", report.period.first_day()),
        ("to", report.period.last_day()),
    ];
    let csv_url = url_with_filters(CSV_URL, days.iter().map(|(name, day)| (*name, day.as_str())));
    let (total, response) = (&report.total, &report.total.first_response);
    html! {
        ul .segments.large {
            li { strong { (count(total.volume.opened)) } " opened" }
            li { strong { (count(total.volume.closed)) } " closed" }
            li { strong { (seconds(response.median)) } " median first response" }
            li { strong { (seconds(response.percentile_90)) } " 90th percentile" }
        }
        p .hint {
            "First response times are those of " (count(response.count)) " of the " (count(total.volume.opened))
            " tickets that were opened in the period. The others have no response."
        }
        p { a .button href=(csv_url) download { "Export CSV" } }
        section aria-labelledby="by-day" {
            h2 #by-day { "Tickets by day (UTC)" }
            (plot(report))
            details .figures {
                summary { "Figures by day" }
                table .list {
                    thead { tr { th scope="col" { "Day (UTC)" } th scope="col" .number { "Opened" } th scope="col" .number { "Closed" } } }
                    tbody {
                        @for (day, volume) in report.period.days().zip(&report.days) {
                            tr {
                                th scope="row" { (day) }
                                td .number data-label="Opened" { (count(volume.opened)) }
                                td .number data-label="Closed" { (count(volume.closed)) }
                            }
                        }
                    }
                }
            }
        }
        section aria-labelledby="by-account" {
            h2 #by-account { "By account" }
            @let rows: Vec<_> = report.accounts.iter().map(|account| {
                let url = format!("/desk?account={}&status=all", account.account);
                (html! { a href=(url) { (account.name) } " " span .id { (account.account) } }, &account.figures)
            }).collect();
            (groups("Account", &rows))
        }
        section aria-labelledby="by-tag" {
            h2 #by-tag { "By tag" }
            @let rows: Vec<_> = report.tags.iter().map(|(tag, figures)| {
                let filters = [("status", "all"), ("tag", tag.as_str())];
                (html! { a href=(url_with_filters(QUEUE.1, filters.into_iter())) { (tag) } }, figures)
            }).collect();
            (groups("Tag", &rows))
        }
    }
}

/// The figures of accounts or tags.
fn groups(label: &str, rows: &[(Markup, &Figures)]) -> Markup {
    html! {
        @if rows.is_empty() { p .quiet { "None" } } @else {
            table .list {
                thead { tr {
                    th scope="col" { (label) } th scope="col" .number { "Opened" } th scope="col" .number { "Closed" }
                    th scope="col" .number { "First responses" } th scope="col" .number { "Median first response" } th scope="col" .number { "90th percentile" }
                } }
                tbody {
                    @for (name, figures) in rows {
                        tr {
                            th scope="row" { (name) }
                            td .number data-label="Opened" { (count(figures.volume.opened)) }
                            td .number data-label="Closed" { (count(figures.volume.closed)) }
                            td .number data-label="First responses" { (count(figures.first_response.count)) }
                            td .number data-label="Median first response" { (seconds(figures.first_response.median)) }
                            td .number data-label="90th percentile" { (seconds(figures.first_response.percentile_90)) }
                        }
                    }
                }
            }
            @if rows.len() == rules::reports::MAX_GROUPS { p .hint { "Only the first " (rules::reports::MAX_GROUPS) " are shown." } }
        }
    }
}

/// The bars of each day: opened and closed tickets. The table has the same figures.
fn plot(report: &Report) -> Markup {
    const WIDTH: f64 = 1000.0;
    const HEIGHT: f64 = 200.0;
    let highest = report
        .days
        .iter()
        .map(|volume| volume.opened.max(volume.closed))
        .max();
    let highest = highest.unwrap_or_default().max(1);
    let step = WIDTH / report.days.len().max(1) as f64;
    let bar = |class: &str, day: usize, place: f64, tickets: i64| {
        let height = HEIGHT * tickets as f64 / highest as f64;
        html! {
            @if tickets > 0 {
                rect .(class) x=(format!("{:.1}", (day as f64 + place) * step)) y=(format!("{:.1}", HEIGHT - height))
                    width=(format!("{:.1}", step * 0.4)) height=(format!("{height:.1}")) {}
            }
        }
    };
    let (first, last) = (report.period.first_day(), report.period.last_day());
    let Volume { opened, closed } = report.total.volume;
    html! {
        figure .plot {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none" role="img" aria-labelledby="plot-title plot-desc" {
                title #plot-title { "Tickets opened and closed by day" }
                desc #plot-desc {
                    "From " (first) " to " (last) ", " (count(opened)) " tickets were opened and " (count(closed))
                    " were closed. The highest bar is " (count(highest)) ". The table below has all figures."
                }
                rect .track y=(HEIGHT - 1.0) width=(WIDTH) height="1" {}
                @for (day, volume) in report.days.iter().enumerate() {
                    (bar("opened", day, 0.1, volume.opened))
                    (bar("closed", day, 0.5, volume.closed))
                }
            }
            figcaption {
                span { (first) }
                span .legend {
                    span { svg .swatch viewBox="0 0 10 10" aria-hidden="true" { rect .opened width="10" height="10" {} } " Opened" }
                    span { svg .swatch viewBox="0 0 10 10" aria-hidden="true" { rect .closed width="10" height="10" {} } " Closed" }
                    span { "Highest bar: " (count(highest)) }
                }
                span { (last) }
            }
        }
    }
}

fn count(tickets: i64) -> String {
    number(tickets.unsigned_abs())
}

fn seconds(seconds: Option<i64>) -> String {
    seconds.map_or_else(|| "–".to_owned(), duration)
}

pub async fn export(State(app): State<App>, staff: Staff, query: Query) -> PageResult {
    let report = load(&app, staff, &query).await?;
    Ok(csv(&report))
}

/// One row for each day, account and tag, and one for the total.
fn csv(report: &Report) -> Response {
    let mut csv = Csv::new(&[
        "group",
        "name",
        "opened",
        "closed",
        "first_responses",
        "median_seconds",
        "percentile_90_seconds",
    ]);
    let mut row = |group: &str, name: &str, figures: &Figures| {
        let (volume, response) = (&figures.volume, &figures.first_response);
        let text = |seconds: Option<i64>| seconds.map(|seconds| seconds.to_string()).unwrap_or_default();
        csv.row(&[
            group,
            name,
            &volume.opened.to_string(),
            &volume.closed.to_string(),
            &response.count.to_string(),
            &text(response.median),
            &text(response.percentile_90),
        ]);
    };
    row("total", "", &report.total);
    for account in &report.accounts {
        row("account", &account.name, &account.figures);
    }
    for (tag, figures) in &report.tags {
        row("tag", tag, figures);
    }
    for (day, volume) in report.period.days().zip(&report.days) {
        let (opened, closed) = (volume.opened.to_string(), volume.closed.to_string());
        csv.row(&["day", &day, &opened, &closed, "", "", ""]);
    }
    csv.respond("desk-report")
}
