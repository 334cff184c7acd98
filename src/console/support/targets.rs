//! The targets of a ticket: the time left, in the queue and on the page of a ticket.

use maud::{Markup, html};

use crate::console::layout::time;
use crate::model::target::{TargetProgress, TicketTargets};

/// The time left until the next target is missed, and which target this is.
pub fn time_left(targets: Option<&TicketTargets>) -> Markup {
    let Some((targets, next)) = targets.and_then(|targets| Some((targets, targets.next()?))) else {
        return html! { span .quiet { "–" } };
    };
    let left = duration(next.remaining_seconds.abs());
    let is_response = targets.first_response.as_ref() == Some(next);
    html! {
        @if targets.is_paused {
            span .quiet { "Paused, " @if next.is_breached() { "overdue by " (left) } @else { (left) " left" } }
        } @else if next.is_breached() {
            span .tag.bad { "Overdue by " (left) }
        } @else if next.remaining_seconds < next.target_seconds / 4 {
            span .tag.free { (left) }
        } @else {
            span { (left) }
        }
        " " span .quiet.small { @if is_response { "first response" } @else { "resolution" } }
    }
}

/// The targets as entries of a definition list.
pub fn facts(targets: &TicketTargets, is_closed: bool) -> Markup {
    html! {
        @if let Some(target) = &targets.first_response { div { dt { "First response" } dd { (state(target, is_closed)) } } }
        @if let Some(target) = &targets.resolution { div { dt { "Resolution" } dd { (state(target, is_closed)) } } }
    }
}

fn state(target: &TargetProgress, is_closed: bool) -> Markup {
    if is_closed && target.reached.is_none() {
        return html! { span .quiet { "Ended when the ticket was closed" } };
    }
    let left = duration(target.remaining_seconds.abs());
    html! {
        @match (target.reached, target.is_breached()) {
            (Some(_), false) => {
                span .tag.on { "Met" } " "
                span .quiet { "after " (duration(target.target_seconds - target.remaining_seconds)) ", target " (duration(target.target_seconds)) }
            },
            (Some(_), true) => {
                span .tag.bad { "Missed by " (left) } " " span .quiet { "target " (duration(target.target_seconds)) }
            },
            (None, true) => span .tag.bad { "Overdue by " (left) },
            (None, false) => { (left) " left" }
        }
        @match (target.due, target.reached) {
            (Some(due), _) => { " " span .quiet { "due " (time(due)) } },
            (None, Some(_)) => {},
            (None, None) => { " " span .quiet { "paused" } },
        }
    }
}

/// A duration in its two largest units.
pub fn duration(seconds: i64) -> String {
    let (minutes, hours) = (seconds / 60 % 60, seconds / 3_600);
    match seconds {
        ..60 => "less than 1 min".to_owned(),
        60..3_600 => format!("{minutes} min"),
        3_600..172_800 if minutes == 0 => format!("{hours} h"),
        3_600..172_800 => format!("{hours} h {minutes} min"),
        _ => format!("{} d", seconds / 86_400),
    }
}
