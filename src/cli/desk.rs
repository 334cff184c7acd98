//! `garth desk …`: the provider's staff at a terminal.

use std::io::Read;

use anyhow::Context;
use clap::{Args, Subcommand};

use super::output::Output;
use super::place::{Opened, Place};
use crate::api::{DeskTicketView, HistoryView, ReplyView, entity_urls};
use crate::model::history::{History, Step};
use crate::model::id::TicketId;
use crate::model::input::Input;
use crate::model::ticket::DeskTicket;
use crate::model::ticket::Status;
use crate::model::time::Time;
use crate::rules::agent::Agent;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::store::WriteTx;
use crate::web::WireNames;

#[derive(Args)]
pub struct Desk {
    /// Which of the staff you are
    #[arg(long = "as", global = true, env = "GARTH_DESK_AS", value_name = "USERNAME")]
    agent: Option<String>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List tickets, open ones unless said otherwise
    Queue(Queue),
    /// Show a ticket with everything that happened to it
    Show { id: i64 },
    /// Answer the customer, in your words or with a canned reply
    Reply {
        id: i64,
        #[command(flatten)]
        words: Words,
        /// The id of a canned reply
        #[arg(long, value_name = "ID", conflicts_with_all = ["text", "file"])]
        canned: Option<i64>,
    },
    /// Write a note that only the staff see
    Note {
        id: i64,
        #[command(flatten)]
        words: Words,
    },
    /// Take a ticket
    Claim {
        id: i64,
        /// Also if somebody else has it
        #[arg(long)]
        take_over: bool,
    },
    /// Give a ticket back
    Release { id: i64 },
    /// Close a ticket
    Close { id: i64 },
    /// Open a closed ticket again
    Reopen { id: i64 },
}

#[derive(Args)]
struct Queue {
    /// Only tickets of one status: new, open, closed, or all [default: new and open]
    #[arg(long, value_parser = ["new", "open", "closed", "all"])]
    status: Option<String>,
    /// Only tickets of one account
    #[arg(long, value_name = "ID")]
    account: Option<i64>,
    /// Only tickets that this member of the staff has taken
    #[arg(long, value_name = "USERNAME")]
    claimed_by: Option<String>,
    /// Only tickets that nobody has taken
    #[arg(long, conflicts_with = "claimed_by")]
    unclaimed: bool,
    /// Only tickets with these words in them
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,
    /// Which hundred of them
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(i64).range(1..))]
    page: i64,
}

#[derive(Args)]
struct Words {
    /// What to say; read from standard input if neither this nor --file is given
    text: Option<String>,
    /// A file with what to say
    #[arg(long, conflicts_with = "text")]
    file: Option<std::path::PathBuf>,
}

impl Words {
    fn read(self) -> anyhow::Result<Input> {
        let text = match (self.text, self.file) {
            (Some(text), _) => text,
            (None, Some(file)) => {
                std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?
            }
            (None, None) => {
                let mut text = String::new();
                let read = std::io::stdin().read_to_string(&mut text);
                read.context("reading standard input")?;
                text
            }
        };
        Ok(Input::Text(text.trim_end_matches(['\r', '\n']).to_owned()))
    }
}

pub async fn run(place: &Place, output: Output, desk: Desk) -> anyhow::Result<()> {
    let store = place.open()?;
    let agent = desk.agent;
    match desk.command {
        Command::Queue(queue) => list(&store, output, queue).await,
        Command::Show { id } => show(&store, output, TicketId(id)).await,
        Command::Reply { id, words, canned } => {
            let said = match canned {
                Some(canned) => ("canned_reply_id", Input::Integer(canned)),
                None => ("description", words.read()?),
            };
            let reply = act(&store, agent, id, vec![said], rules::desk::reply).await?;
            let view = ReplyView::new(&reply, WireNames::Both);
            output.one(&view, &format!("answered ticket {id}"))
        }
        Command::Note { id, words } => {
            let said = vec![("description", words.read()?)];
            let note = act(&store, agent, id, said, rules::desk::note).await?;
            let view = serde_json::json!({"id": note.id.0, "created": note.created.to_string(),
                "created_by": note.created_by, "description": note.description.as_str()});
            output.one(&view, &format!("noted on ticket {id}"))
        }
        Command::Claim { id, take_over } => {
            let said = vec![("take_over", Input::Bool(take_over))];
            let ticket = act(&store, agent, id, said, rules::desk::claim).await?;
            output.one(&DeskTicketView::new(&ticket), &format!("ticket {id} is yours"))
        }
        Command::Release { id } => {
            let ticket = act(&store, agent, id, Vec::new(), rules::desk::release).await?;
            output.one(&DeskTicketView::new(&ticket), &format!("gave ticket {id} back"))
        }
        Command::Close { id } => {
            let ticket = act(&store, agent, id, Vec::new(), rules::desk::close).await?;
            output.one(&DeskTicketView::new(&ticket), &format!("ticket {id} is closed"))
        }
        Command::Reopen { id } => {
            let ticket = act(&store, agent, id, Vec::new(), rules::desk::reopen).await?;
            output.one(&DeskTicketView::new(&ticket), &format!("ticket {id} is open"))
        }
    }
}

/// Does one thing to a ticket as one of the staff.
async fn act<T: Send + 'static>(
    store: &Opened,
    agent: Option<String>,
    id: i64,
    said: Vec<(&'static str, Input)>,
    rule: fn(&mut WriteTx, &Agent, TicketId, &Request) -> Result<T>,
) -> anyhow::Result<T> {
    let agent = agent.context("say which of the staff you are: --as USERNAME, or GARTH_DESK_AS")?;
    let said = said.into_iter().map(|(name, value)| (name.to_owned(), value));
    let request = Request {
        expected: None,
        body: Ok(Input::Object(said.collect())),
    };
    let known = {
        let agent = agent.clone();
        store.read(move |tx| Agent::at_terminal(tx, &agent)).await
    };
    let agent = known.with_context(|| format!("acting as {agent}"))?;
    let done = store
        .write(move |tx| rule(tx, &agent, TicketId(id), &request))
        .await;
    done.with_context(|| format!("ticket {id}"))
}

async fn list(store: &Opened, output: Output, queue: Queue) -> anyhow::Result<()> {
    let request = wanted(&queue);
    let search = queue.search;
    let listed = store.read(move |tx| rules::desk::list(tx, &request, search.as_deref()));
    let found = listed.await?;
    let now = store.now();
    let views: Vec<_> = found
        .items
        .iter()
        .map(|ticket| Shown { ticket, now }.row())
        .collect();
    if found.pages() > 1 {
        let text = format!("page {} of {}; --page shows another", queue.page, found.pages());
        output.aside(&text)?;
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
        "CLAIMED BY",
        "ABOUT",
        "SUMMARY",
    ];
    output.many(&views, &head, Clone::clone)
}

fn wanted(queue: &Queue) -> ListRequest {
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
    ListRequest {
        only,
        ..ListRequest::default().at_page_in_url(&queue.page.to_string())
    }
}

/// A ticket as a line of the queue.
struct Shown<'a> {
    ticket: &'a DeskTicket,
    now: Time,
}

impl Shown<'_> {
    fn row(&self) -> Vec<String> {
        let desk = self.ticket;
        let ticket = &desk.ticket;
        vec![
            ticket.id.to_string(),
            ticket.status.word().to_owned(),
            desk.priority.word().to_owned(),
            account_written(desk),
            age(self.now, ticket.opened),
            desk.claim
                .as_ref()
                .map_or("-".to_owned(), |claim| claim.username.clone()),
            ticket.entity.as_ref().map_or("-".to_owned(), |entity| {
                format!("{} {}", entity.kind.word(), entity.label)
            }),
            ticket.summary.as_str().to_owned(),
        ]
    }
}

fn account_written(desk: &DeskTicket) -> String {
    match desk.company.as_str() {
        "" => desk.ticket.account.to_string(),
        company => format!("{} ({company})", desk.ticket.account),
    }
}

/// `3d`, `5h`, `12m`: the largest unit that says it.
fn age(now: Time, then: Time) -> String {
    let seconds = (now.seconds() - then.seconds()).max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

async fn show(store: &Opened, output: Output, id: TicketId) -> anyhow::Result<()> {
    let look = move |tx: &mut crate::store::ReadTx| {
        let ticket = rules::desk::view(tx, id)?;
        let (mut history, mut number) = (Vec::new(), 1);
        loop {
            let page = rules::desk::history(tx, id, &ListRequest::full_page().at(number))?;
            let is_last = number >= page.pages();
            number += 1;
            history.extend(page.items);
            if is_last {
                return Ok((ticket, history));
            }
        }
    };
    let found = store.read(look).await;
    let (ticket, history) = found.with_context(|| format!("ticket {id}"))?;
    if output.json {
        let view = serde_json::json!({
            "ticket": DeskTicketView::new(&ticket),
            "history": history.iter().map(HistoryView::new).collect::<Vec<_>>(),
        });
        return output.one(&view, "");
    }
    output.text(&written(&ticket, &history))
}

fn written(desk: &DeskTicket, history: &[History]) -> String {
    let ticket = &desk.ticket;
    let mut lines = vec![
        format!("#{} {}", ticket.id, ticket.summary.as_str()),
        format!(
            "{}, {} priority, opened {} by {} of account {}",
            ticket.status.word(),
            desk.priority.word(),
            ticket.opened,
            ticket.opened_by,
            account_written(desk)
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
    if !ticket.attachments.is_empty() {
        lines.push(format!("attached: {}", ticket.attachments.join(", ")));
    }
    lines.push(format!("\n{}", ticket.description.as_str()));
    for entry in history.iter().filter(|entry| entry.step != Step::Opened) {
        lines.push(format!("\n{} {}", entry.created, step_written(entry)));
        lines.extend(entry.description.as_ref().map(|text| indented(text)));
    }
    lines.join("\n")
}

fn step_written(entry: &History) -> String {
    let who = &entry.created_by;
    let after = entry.after.as_deref().unwrap_or_default();
    match entry.step {
        Step::Opened => format!("{who} opened it"),
        Step::Reply if entry.from_staff => format!("{who} (staff) answered:"),
        Step::Reply => format!("{who} wrote:"),
        Step::Note => format!("{who} noted, for the staff only:"),
        Step::Claim => match &entry.before {
            Some(before) => format!("{who} took it over from {before}"),
            None => format!("{who} took it"),
        },
        Step::Release => format!("{who} gave it back"),
        Step::Close => format!("{who} closed it"),
        Step::Reopen => format!("{who} opened it again"),
        Step::Closable => format!("{who} set closable to {after}"),
        Step::Priority => format!("{who} set the priority to {after}"),
        Step::Attachment => format!("{who} attached {after}"),
        Step::AttachmentRefused => format!("{who} sent {after}, which the scanner refused"),
        Step::Download => format!("{who} (staff) read {after}"),
    }
}

fn indented(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| format!("    {line}")).collect();
    lines.join("\n")
}
