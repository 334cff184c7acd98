//! `garth desk …`: support tickets for the provider's staff.

use std::io::Read;

use anyhow::Context;
use clap::{Args, Subcommand};

use super::arguments::{self, integer};
use super::output::Output;
use super::saved_views::{self, ViewCommand};
use super::store_args::{OpenStore, StoreArgs};
use crate::api::reports::ReportView;
use crate::api::{DeskTicketView, HistoryView, ReplyView, entity_urls};
use crate::model::history::{History, HistoryStep};
use crate::model::id::TicketId;
use crate::model::input::Input;
use crate::model::report::Figures;
use crate::model::target::{TargetProgress, TicketTargets};
use crate::model::ticket::DeskTicket;
use crate::model::ticket::Status;
use crate::model::ticket_tag;
use crate::model::time::Time;
use crate::rules::agent::Agent;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{self, Error, Result};
use crate::store::WriteTx;
use crate::web::WireNames;

#[derive(Args)]
pub struct Desk {
    /// Username of the staff member to act as. The commands queue and show do not need it
    #[arg(long = "as", global = true, env = "GARTH_DESK_AS", value_name = "USERNAME")]
    agent: Option<String>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List tickets
    Queue(Queue),
    /// Show a ticket and its history
    Show(TicketArg),
    /// Reply to the customer, with a text or a canned reply
    Reply {
        #[command(flatten)]
        ticket: TicketArg,
        #[command(flatten)]
        message: Message,
        /// ID of a canned reply to send
        #[arg(long, value_name = "ID", value_parser = arguments::id, conflicts_with_all = ["text", "file"])]
        canned: Option<i64>,
        /// Close the ticket after the reply
        #[arg(long)]
        close: bool,
    },
    /// Add an internal note, visible only to staff
    Note {
        #[command(flatten)]
        ticket: TicketArg,
        #[command(flatten)]
        message: Message,
    },
    /// Assign a ticket to yourself, or to a colleague
    Claim {
        #[command(flatten)]
        ticket: TicketArg,
        /// Reassign the ticket if another staff member has claimed it
        #[arg(long)]
        take_over: bool,
        /// Username of the member of staff who gets the ticket [default: the user of --as]
        #[arg(long, value_name = "USER")]
        assignee: Option<String>,
    },
    /// Set the tags of a ticket, visible only to staff
    Tag {
        #[command(flatten)]
        ticket: TicketArg,
        /// All tags of the ticket, separated by spaces. Without any, the ticket has no tags
        tags: Vec<String>,
    },
    /// Show the volume and the first response times of a period
    Report {
        /// First day of the period, in UTC, such as 2024-05-31 [default: 29 days before the last day]
        #[arg(long, value_name = "DAY")]
        from: Option<String>,
        /// Last day of the period [default: today]
        #[arg(long, value_name = "DAY")]
        to: Option<String>,
    },
    /// List, save and delete views of the queue
    #[command(subcommand)]
    View(ViewCommand),
    /// Unassign a ticket
    Release(TicketArg),
    /// Close a ticket
    Close(TicketArg),
    /// Reopen a closed ticket
    Reopen(TicketArg),
}

#[derive(Args)]
struct TicketArg {
    /// ID of the ticket
    #[arg(value_parser = arguments::id)]
    id: i64,
}

#[derive(Args)]
struct Queue {
    /// List only tickets with this status [default: new and open]
    #[arg(long, value_parser = ["new", "open", "closed", "all"])]
    status: Option<String>,
    /// List only tickets of this account
    #[arg(long, value_name = "ID", value_parser = arguments::id)]
    account: Option<i64>,
    /// List only tickets claimed by this staff member
    #[arg(long, value_name = "USERNAME")]
    claimed_by: Option<String>,
    /// List only unclaimed tickets
    #[arg(long, conflicts_with = "claimed_by")]
    unclaimed: bool,
    /// List only tickets with this tag
    #[arg(long, value_name = "TAG")]
    tag: Option<String>,
    /// List only tickets that contain all these words
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,
    /// Sort by the time left until a target is missed [default: open tickets first, then newest first]
    #[arg(long)]
    by_time_left: bool,
    /// Page number (100 tickets per page)
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = integer(1..=i64::MAX))]
    page: i64,
}

#[derive(Args)]
struct Message {
    /// Text of the message [default: read from standard input]
    text: Option<String>,
    /// File with the text of the message
    #[arg(long, conflicts_with = "text")]
    file: Option<std::path::PathBuf>,
}

impl Message {
    fn read(self) -> anyhow::Result<Input> {
        let text = match (self.text, self.file) {
            (Some(text), _) => text,
            (None, Some(file)) => {
                std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?
            }
            (None, None) => {
                let mut text = String::new();
                let read = std::io::stdin().read_to_string(&mut text);
                read.context("cannot read standard input")?;
                text
            }
        };
        Ok(Input::Text(text.trim_end_matches(['\r', '\n']).to_owned()))
    }
}

pub async fn run(store: &StoreArgs, output: Output, desk: Desk) -> anyhow::Result<()> {
    let store = store.open()?;
    let agent = desk.agent;
    match desk.command {
        Command::Queue(queue) => list(&store, output, queue).await,
        Command::Show(TicketArg { id }) => show(&store, output, TicketId(id)).await,
        Command::Reply {
            ticket: TicketArg { id },
            message,
            canned,
            close,
        } => {
            let field = match canned {
                Some(canned) => ("canned_reply_id", Input::Integer(canned)),
                None => ("description", message.read()?),
            };
            let fields = vec![field, ("close", Input::Bool(close))];
            let reply = act(&store, agent, id, fields, rules::desk_replies::create).await?;
            let view = ReplyView::new(&reply, WireNames::Both);
            let and_closed = if close { ", and closed it" } else { "" };
            output.one(&view, &format!("replied to ticket {id}{and_closed}"))
        }
        Command::Note {
            ticket: TicketArg { id },
            message,
        } => {
            let fields = vec![("description", message.read()?)];
            let note = act(&store, agent, id, fields, rules::notes::create).await?;
            let view = serde_json::json!({"id": note.id.0, "created": note.created.to_string(),
                "created_by": note.created_by, "description": note.description.as_str()});
            output.one(&view, &format!("added a note to ticket {id}"))
        }
        Command::Claim {
            ticket: TicketArg { id },
            take_over,
            assignee,
        } => {
            let mut fields = vec![("take_over", Input::Bool(take_over))];
            let text = match &assignee {
                Some(name) => format!("assigned ticket {id} to {name}"),
                None => format!("claimed ticket {id}"),
            };
            fields.extend(assignee.map(|name| ("assignee", Input::Text(name))));
            let ticket = act(&store, agent, id, fields, rules::desk::claim).await?;
            output.one(&DeskTicketView::new(&ticket), &text)
        }
        Command::Tag {
            ticket: TicketArg { id },
            tags,
        } => {
            let tags = Input::List(tags.into_iter().map(Input::Text).collect());
            let ticket = act(&store, agent, id, vec![("tags", tags)], rules::desk::update).await?;
            let text = match ticket.tags.is_empty() {
                true => format!("removed all tags of ticket {id}"),
                false => format!("set the tags of ticket {id}: {}", ticket_tag::join(&ticket.tags)),
            };
            output.one(&DeskTicketView::new(&ticket), &text)
        }
        Command::Report { from, to } => report(&store, output, from, to).await,
        Command::View(command) => {
            let agent = load_agent(&store, agent).await?;
            saved_views::run(&store, output, agent, command).await
        }
        Command::Release(TicketArg { id }) => {
            let ticket = act(&store, agent, id, Vec::new(), rules::desk::release).await?;
            output.one(&DeskTicketView::new(&ticket), &format!("released ticket {id}"))
        }
        Command::Close(TicketArg { id }) => {
            let ticket = act(&store, agent, id, Vec::new(), rules::desk::close).await?;
            output.one(&DeskTicketView::new(&ticket), &format!("closed ticket {id}"))
        }
        Command::Reopen(TicketArg { id }) => {
            let ticket = act(&store, agent, id, Vec::new(), rules::desk::reopen).await?;
            output.one(&DeskTicketView::new(&ticket), &format!("reopened ticket {id}"))
        }
    }
}

/// The member of the staff in `--as`.
async fn load_agent(store: &OpenStore, username: Option<String>) -> anyhow::Result<Agent> {
    let username = username.context("no staff member specified: add --as USERNAME, or set GARTH_DESK_AS")?;
    let loaded = {
        let username = username.clone();
        store.read(move |tx| Agent::at_terminal(tx, &username)).await
    };
    loaded.with_context(|| format!("user {username}"))
}

/// Runs a rule on a ticket as a member of the staff.
async fn act<T: Send + 'static>(
    store: &OpenStore,
    agent: Option<String>,
    id: i64,
    fields: Vec<(&'static str, Input)>,
    rule: fn(&mut WriteTx, &Agent, TicketId, &Request) -> Result<T>,
) -> anyhow::Result<T> {
    let agent = load_agent(store, agent).await?;
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
    let request = Request {
        expected: None,
        body: Ok(Input::Object(fields.collect())),
    };
    let result = store
        .write(move |tx| rule(tx, &agent, TicketId(id), &request).map_err(name_arguments))
        .await;
    result.with_context(|| format!("ticket {id}"))
}

/// Replaces the API's field names in an error by the names of the command's arguments.
fn name_arguments(mut error: Error) -> Error {
    if let Error::Refused(errors) = &mut error {
        for error in errors {
            error.field = error.field.take().map(|field| match field.as_str() {
                "description" => "TEXT".to_owned(),
                "canned_reply_id" => "--canned".to_owned(),
                _ => field,
            });
        }
    }
    error
}

async fn list(store: &OpenStore, output: Output, queue: Queue) -> anyhow::Result<()> {
    let request = list_request(&queue);
    let list = match queue.by_time_left {
        true => rules::desk::list_by_time_left,
        false => rules::desk::list_by_turn,
    };
    let search = queue.search;
    let listed = store.read(move |tx| list(tx, &request, search.as_deref(), None));
    let found = listed.await?;
    let now = store.now();
    let views: Vec<_> = found.items.iter().map(|ticket| queue_row(ticket, now)).collect();
    if found.pages() > 1 {
        let text = format!(
            "page {} of {} (select a page with --page)",
            queue.page,
            found.pages()
        );
        output.hint(&text)?;
    }
    if output.json {
        let views: Vec<_> = found.items.iter().map(DeskTicketView::new).collect();
        return output.many(&views, &[], |_| Vec::new());
    }
    let head = [
        "ID",
        "STATUS",
        "PRIORITY",
        "ACCOUNT",
        "AGE",
        "LEFT",
        "CLAIMED BY",
        "TAGS",
        "ABOUT",
        "SUMMARY",
    ];
    output.many(&views, &head, Clone::clone)
}

async fn report(
    store: &OpenStore,
    output: Output,
    from: Option<String>,
    to: Option<String>,
) -> anyhow::Result<()> {
    let read = store.read(move |tx| rules::reports::view(tx, from.as_deref(), to.as_deref()));
    let report = read.await?;
    if output.json {
        return output.one(&ReportView::new(&report), "");
    }
    output.hint(&format!(
        "{} to {}",
        report.period.first_day(),
        report.period.last_day()
    ))?;
    let row = |name: String, figures: &Figures| {
        let (volume, response) = (&figures.volume, &figures.first_response);
        let time = |seconds: Option<i64>| seconds.map_or("-".to_owned(), format_duration);
        vec![
            name,
            volume.opened.to_string(),
            volume.closed.to_string(),
            time(response.median),
            time(response.percentile_90),
        ]
    };
    let mut rows = vec![row("total".to_owned(), &report.total)];
    let accounts = report.accounts.iter();
    rows.extend(accounts.map(|one| row(format!("account {} ({})", one.account, one.name), &one.figures)));
    let tags = report.tags.iter();
    rows.extend(tags.map(|(tag, figures)| row(format!("tag {tag}"), figures)));
    output.many(
        &rows,
        &["TICKETS", "OPENED", "CLOSED", "MEDIAN", "P90"],
        Clone::clone,
    )
}

fn list_request(queue: &Queue) -> ListRequest {
    let mut only = Vec::new();
    match queue.status.as_deref() {
        Some("all") => {}
        Some(status) => only.push(Condition::equal("status", status)),
        None => only.push(Condition::not_equal("status", Status::Closed.word())),
    }
    if let Some(account) = queue.account {
        only.push(Condition::equal("account_id", account));
    }
    if queue.unclaimed {
        only.push(Condition::equal("claimed_by", Input::Null));
    } else if let Some(agent) = &queue.claimed_by {
        only.push(Condition::equal("claimed_by", agent.as_str()));
    }
    if let Some(tag) = &queue.tag {
        only.push(rules::ticket_tags::having(tag));
    }
    ListRequest {
        only,
        ..ListRequest::default().at_page_in_url(&queue.page.to_string())
    }
}

/// A ticket as a row of the queue.
fn queue_row(desk: &DeskTicket, now: Time) -> Vec<String> {
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

fn format_duration(seconds: i64) -> String {
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

async fn show(store: &OpenStore, output: Output, id: TicketId) -> anyhow::Result<()> {
    let load = move |tx: &mut crate::store::ReadTx| {
        let ticket = rules::desk::view(tx, id)?;
        let (mut history, mut number) = (Vec::new(), 1);
        loop {
            let page = rules::history::list(tx, id, &ListRequest::full_page().at(number))?;
            let is_last = number >= page.pages();
            number += 1;
            history.extend(page.items);
            if is_last {
                return Ok((ticket, history));
            }
        }
    };
    let found = store.read(load).await;
    let (ticket, history) = found.with_context(|| format!("ticket {id}"))?;
    if output.json {
        let view = serde_json::json!({
            "ticket": DeskTicketView::new(&ticket),
            "history": history.iter().map(HistoryView::new).collect::<Vec<_>>(),
        });
        return output.one(&view, "");
    }
    output.text(&format_ticket(&ticket, &history))
}

fn format_ticket(desk: &DeskTicket, history: &[History]) -> String {
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
    }
}

fn indent(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| format!("    {line}")).collect();
    lines.join("\n")
}
