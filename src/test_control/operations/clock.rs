//! The clock: view, set, freeze and advance.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Deserializer, Serialize};

use crate::model::reason::Code;
use crate::model::time::Time;
use crate::rules::Result;
use crate::test_control::control::Control;
use crate::test_control::{input, restart};
use crate::web::answer;

#[derive(Serialize)]
struct ClockView {
    #[serde(serialize_with = "answer::time")]
    now: Time,
    frozen: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockChange {
    /// `Some(None)` returns to the time of the system, and lets the clock run.
    #[serde(default, deserialize_with = "null_or_text")]
    now: Option<Option<String>>,
    frozen: Option<bool>,
}

/// A field that is null is different from a missing field.
fn null_or_text<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    seconds: i64,
}

pub async fn view(State(control): State<Control>) -> Response {
    let clock = control.clock();
    let view = ClockView {
        now: clock.now(),
        frozen: clock.is_frozen(),
    };
    answer::json(StatusCode::OK, &view)
}

/// 9899-12-31T23:59:59: an advance of a century later, times still have four digits of the year.
const LAST_SECOND: i64 = 250_246_799_999;

pub async fn set(State(control): State<Control>, body: Bytes) -> Result<Response> {
    let change: ClockChange = input::read(&body)?;
    let invalid = || {
        input::refuse(
            "now",
            Code::WrongType,
            "Must be a time such as 2024-06-01T12:00:00 or 2024-06-01T14:00:00+02:00, from 1970 to 9899, or null for \
             the time of the system",
        )
    };
    let parse = |raw: String| {
        Time::parse(&raw)
            .filter(|now| (0..=LAST_SECOND).contains(&now.seconds()))
            .ok_or_else(invalid)
    };
    let now = change.now.map(|now| now.map(parse).transpose()).transpose()?;
    let _changing = control.clock_change().await;
    if now == Some(None) {
        control.clock().reset();
    }
    if let Some(frozen) = change.frozen {
        control.clock().freeze(frozen);
    }
    if let Some(Some(now)) = now {
        control.clock().set(now);
    }
    follow(&control).await?;
    Ok(view(State(control.clone())).await)
}

pub async fn advance(State(control): State<Control>, body: Bytes) -> Result<Response> {
    /// 100 years.
    const MAX_SECONDS: i64 = 100 * 366 * 86_400;
    /// The drain of a host can have a step for each second. The later ones run at the end.
    const MAX_STEPS: usize = 1000;
    let Advance { seconds } = input::read(&body)?;
    if !(0..=MAX_SECONDS).contains(&seconds) {
        let reason = format!("Must be 0 to {MAX_SECONDS}");
        return Err(input::refuse("seconds", Code::OutOfRange, reason));
    }
    let clock = control.clock();
    let _changing = control.clock_change().await;
    let end = clock.now().plus_seconds(seconds);
    // The steps of a boot follow each other, so each step runs at its own time.
    for _ in 0..MAX_STEPS {
        let Some(due) = restart::next_single_job(control.store(), end).await? else {
            break;
        };
        clock.set(due.max(clock.now()));
        follow(&control).await?;
    }
    clock.set(end.max(clock.now()));
    follow(&control).await?;
    Ok(view(State(control.clone())).await)
}

/// Lets everything that waits follow the clock: streams check their tokens again, and jobs that are now due run.
async fn follow(control: &Control) -> Result<()> {
    control.store().notifier().notify_all();
    restart::wait_for_due_jobs(control.store()).await
}
