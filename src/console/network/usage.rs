//! Usage as a colored bar and in numbers.

use maud::{Markup, html};

use crate::console::layout::{number, size};
use crate::rules::addresses::Usage;

/// The CSS class for a usage.
pub fn usage_class(usage: Usage) -> &'static str {
    match usage.percent() {
        percent if percent >= 90.0 => "full",
        percent if percent >= 60.0 => "much",
        percent if percent > 0.0 => "some",
        _ => "none",
    }
}

/// A usage as a bar and in numbers.
pub fn used_meter(usage: Usage) -> Markup {
    meter(usage, &number(usage.used), &number(usage.all))
}

/// A usage as a bar, in numbers and in percent.
pub fn used_meter_with_percent(usage: Usage) -> Markup {
    let all = format!("{} ({})", number(usage.all), whole_percent(usage));
    meter(usage, &number(usage.used), &all)
}

/// The share that is in use. It is 0% or 100% only if nothing or everything is in use.
fn whole_percent(usage: Usage) -> String {
    match usage.percent() {
        percent if percent > 0.0 && percent < 1.0 => "less than 1%".to_owned(),
        percent if percent < 100.0 => format!("{}%", percent.round().min(99.0)),
        _ => "100%".to_owned(),
    }
}

/// A usage in bytes, as a bar and with units.
pub fn bytes_meter(usage: Usage) -> Markup {
    let shown = |bytes: u64| size(i64::try_from(bytes).unwrap_or(i64::MAX));
    meter(usage, &shown(usage.used), &shown(usage.all))
}

fn meter(usage: Usage, used: &str, all: &str) -> Markup {
    html! {
        span .meter {
            svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" {
                rect .track width="100" height="6" {}
                @if usage.used > 0 { rect .(usage_class(usage)) width=(usage.percent().ceil() as u8) height="6" {} }
            }
            span { (used) " of " (all) }
        }
    }
}
