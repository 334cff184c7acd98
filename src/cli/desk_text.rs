//! Tickets, their history and their targets as text, for `garth desk`.

use crate::api::entity_urls;
use crate::model::history::{History, HistoryStep};
use crate::model::target::{TargetProgress, TicketTargets};
use crate::model::ticket::DeskTicket;
use crate::model::ticket_tag;
use crate::model::time::Time;

/// A ticket as a row of the queue.
pub fn queue_row(desk: &DeskTicket, now: Time) -> Vec<String> {
    let ticket = &desk.ticket;
    vec![
        ticket.id.to_string(),
        ticket.status.word().to_owned(),
        desk.priority.word().to_owned(),
        format_account(desk),
        format_age(now, ticket.opened),
        desk.targets.as_ref().map_or("-".to_owned(), format_time_left),
        desk.claim
            .as_ref()
            .map_or("-".to_owned(), |claim| claim.username.clone()),
        match desk.tags.is_empty() {
            true => "-".to_owned(),
            false => ticket_tag::join(&desk.tags),
        },
        ticket.entity.as_ref().map_or("-".to_owned(), |entity| {
            format!("{} {}", entity.kind.word(), entity.label)
        }),
        ticket.summary.as_str().to_owned(),
    ]
}

fn format_account(desk: &DeskTicket) -> String {
    match desk.company.as_str() {
        "" => desk.ticket.account.to_string(),
        company => format!("{} ({company})", desk.ticket.account),
    }
}

/// An age in its largest unit: `3d`, `5h`, `12m`.
fn format_age(now: Time, then: Time) -> String {
    format_duration((now.seconds() - then.seconds()).max(0))
}

pub fn format_duration(seconds: i64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// The time left until the next target is missed: `35m`, `-2h` after it was missed, `35m paused`.
fn format_time_left(targets: &TicketTargets) -> String {
    let Some(next) = targets.next() else {
        return "-".to_owned();
    };
    let sign = if next.is_breached() { "-" } else { "" };
    let paused = if targets.is_paused { " paused" } else { "" };
    format!("{sign}{}{paused}", format_duration(next.remaining_seconds.abs()))
}

/// A target: `first response: met`, `resolution: 35m left, due 2024-06-01T12:00:00`.
fn format_target(name: &str, target: &TargetProgress) -> String {
    let duration = format_duration(target.remaining_seconds.abs());
    let state = match (target.reached, target.is_breached()) {
        (Some(_), false) => "met".to_owned(),
        (Some(_), true) => format!("missed by {duration}"),
        (None, false) => format!("{duration} left"),
        (None, true) => format!("overdue by {duration}"),
    };
    match (target.due, target.reached) {
        (Some(due), _) => format!("{name}: {state}, due {due}"),
        (None, Some(_)) => format!("{name}: {state}"),
        (None, None) => format!("{name}: {state}, paused"),
    }
}

pub fn format_ticket(desk: &DeskTicket, history: &[History]) -> String {
    let ticket = &desk.ticket;
    let mut lines = vec![
        format!("#{} {}", ticket.id, ticket.summary.as_str()),
        format!(
            "{}, {} priority, opened {} by {} of account {}",
            ticket.status.word(),
            desk.priority.word(),
            ticket.opened,
            ticket.opened_by,
            format_account(desk)
        ),
    ];
    lines.extend(ticket.entity.as_ref().map(|entity| {
        let (kind, url) = (entity.kind.word(), entity_urls::of(entity));
        format!("about {kind} {} ({url})", entity.label)
    }));
    lines.extend(
        desk.claim
            .as_ref()
            .map(|claim| format!("claimed by {} since {}", claim.username, claim.since)),
    );
    if let Some(targets) = &desk.targets {
        let named = [
            ("first response", targets.first_response),
            ("resolution", targets.resolution),
        ];
        let named = named
            .iter()
            .filter_map(|(name, target)| Some((name, target.as_ref()?)));
        lines.extend(named.map(|(name, target)| format_target(name, target)));
    }
    if !desk.tags.is_empty() {
        lines.push(format!("tags: {}", ticket_tag::join(&desk.tags)));
    }
    if !ticket.attachments.is_empty() {
        lines.push(format!("attachments: {}", ticket.attachments.join(", ")));
    }
    lines.push(format!("\n{}", ticket.description.as_str()));
    for entry in history.iter().filter(|entry| entry.step != HistoryStep::Opened) {
        lines.push(format!("\n{} {}", entry.created, format_step(entry)));
        lines.extend(entry.description.as_ref().map(|text| indent(text)));
    }
    lines.join("\n")
}

fn format_step(entry: &History) -> String {
    let actor = &entry.created_by;
    let after = entry.after.as_deref().unwrap_or_default();
    match entry.step {
        HistoryStep::Opened => format!("{actor} opened the ticket"),
        HistoryStep::Reply if entry.from_staff => format!("{actor} (staff) replied:"),
        HistoryStep::Reply => format!("{actor} replied:"),
        HistoryStep::Note => format!("{actor} added an internal note:"),
        HistoryStep::Claim => {
            let action = match after == actor {
                true => "claimed the ticket".to_owned(),
                false => format!("assigned the ticket to {after}"),
            };
            match &entry.before {
                Some(before) => format!("{actor} {action} from {before}"),
                None => format!("{actor} {action}"),
            }
        }
        HistoryStep::Release => format!("{actor} released the ticket"),
        HistoryStep::Close => format!("{actor} closed the ticket"),
        HistoryStep::Reopen => format!("{actor} reopened the ticket"),
        HistoryStep::Closable => format!("{actor} set closable to {after}"),
        HistoryStep::Priority => format!("{actor} set the priority to {after}"),
        HistoryStep::Tags if after.is_empty() => format!("{actor} removed all tags"),
        HistoryStep::Tags => format!("{actor} set the tags to {after}"),
        HistoryStep::Attachment => format!("{actor} attached {after}"),
        HistoryStep::AttachmentRefused => format!("{actor} uploaded {after}, which the scanner rejected"),
        HistoryStep::Download => format!("{actor} (staff) downloaded {after}"),
        HistoryStep::MergedInto => format!("{actor} merged the ticket into ticket {after}"),
        HistoryStep::MergedFrom => format!("{actor} merged ticket {after} into this ticket"),
    }
}

fn indent(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| format!("    {line}")).collect();
    lines.join("\n")
}
