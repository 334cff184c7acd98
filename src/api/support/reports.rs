//! JSON views of reports of the desk.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::model::report::{Figures, Report};
use crate::rules::agent::Staff;
use crate::rules::{self, Result};
use crate::web::extract::Days;
use crate::web::{App, answer};

#[derive(Serialize)]
pub struct ReportView<'a> {
    from: String,
    to: String,
    total: FiguresView,
    days: Vec<DayView>,
    accounts: Vec<AccountView<'a>>,
    tags: Vec<TagView<'a>>,
}

#[derive(Serialize)]
struct FiguresView {
    opened: i64,
    closed: i64,
    first_response: ResponseTimesView,
}

#[derive(Serialize)]
struct ResponseTimesView {
    count: i64,
    median_seconds: Option<i64>,
    percentile_90_seconds: Option<i64>,
}

#[derive(Serialize)]
struct DayView {
    day: String,
    opened: i64,
    closed: i64,
}

#[derive(Serialize)]
struct AccountView<'a> {
    account_id: i64,
    name: &'a str,
    #[serde(flatten)]
    figures: FiguresView,
}

#[derive(Serialize)]
struct TagView<'a> {
    tag: &'a str,
    #[serde(flatten)]
    figures: FiguresView,
}

impl FiguresView {
    fn new(figures: &Figures) -> Self {
        Self {
            opened: figures.volume.opened,
            closed: figures.volume.closed,
            first_response: ResponseTimesView {
                count: figures.first_response.count,
                median_seconds: figures.first_response.median,
                percentile_90_seconds: figures.first_response.percentile_90,
            },
        }
    }
}

impl<'a> ReportView<'a> {
    pub fn new(report: &'a Report) -> Self {
        let days = report.period.days().zip(&report.days);
        Self {
            from: report.period.first_day(),
            to: report.period.last_day(),
            total: FiguresView::new(&report.total),
            days: days
                .map(|(day, volume)| DayView {
                    day,
                    opened: volume.opened,
                    closed: volume.closed,
                })
                .collect(),
            accounts: report
                .accounts
                .iter()
                .map(|account| AccountView {
                    account_id: account.account.0,
                    name: &account.name,
                    figures: FiguresView::new(&account.figures),
                })
                .collect(),
            tags: report
                .tags
                .iter()
                .map(|(tag, figures)| TagView {
                    tag,
                    figures: FiguresView::new(figures),
                })
                .collect(),
        }
    }
}

pub async fn view(State(app): State<App>, staff: Staff, Days { from, to }: Days) -> Result<Response> {
    app.read(staff, move |tx, _| {
        let report = rules::reports::view(tx, from.as_deref(), to.as_deref())?;
        Ok(answer::json(StatusCode::OK, &ReportView::new(&report)))
    })
    .await
}
