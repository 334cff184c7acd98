//! `garth desk …`: support tickets for the provider's staff.

use std::io::Read;

use anyhow::Context;
use clap::{Args, Subcommand};

use super::arguments::{self, integer};
use super::attachment_storage;
use super::desk_attach;
use super::desk_text::{format_duration, format_ticket, queue_row};
use super::output::Output;
use super::saved_views::{self, ViewCommand};
use super::store_args::{OpenStore, StoreArgs};
use crate::api::reports::ReportView;
use crate::api::{DeskTicketView, HistoryView, ReplyView};
use crate::model::id::TicketId;
use crate::model::input::Input;
use crate::model::report::Figures;
use crate::model::ticket::Status;
use crate::model::ticket_tag;
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
    /// Attach files to a ticket, visible to the customer
    Attach {
        #[command(flatten)]
        ticket: TicketArg,
        /// Files to attach: all of them, or none if one is refused
        #[arg(required = true, value_name = "FILE")]
        files: Vec<std::path::PathBuf>,
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
    /// Merge a ticket into another ticket of the same account. This cannot be undone
    ///
    /// The target gets a message with all messages of the ticket. The ticket is closed with a message that names the
    /// target. Both messages are visible to the customer.
    Merge {
        #[command(flatten)]
        ticket: TicketArg,
        /// ID of the ticket that continues this ticket
        #[arg(value_parser = arguments::id)]
        into: i64,
    },
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
    let (args, store) = (store, store.open()?);
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
        Command::Attach {
            ticket: TicketArg { id },
            files,
        } => {
            let uploads = attachment_storage::open(args, &store)?;
            let agent = load_agent(&store, agent).await?;
            desk_attach::run(&uploads, agent, TicketId(id), &files).await?;
            store.notify_server();
            let names: Vec<_> = files.iter().map(|path| path.display().to_string()).collect();
            let text = format!("attached {} to ticket {id}", names.join(", "));
            output.one(&serde_json::json!({}), &text)
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
        Command::Merge {
            ticket: TicketArg { id },
            into,
        } => {
            let fields = vec![("into", Input::Integer(into))];
            let ticket = act(&store, agent, id, fields, rules::merges::create).await?;
            let text = format!("merged ticket {id} into ticket {into}");
            output.one(&DeskTicketView::new(&ticket), &text)
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
    let request = Request::with_fields(fields);
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
        false => rules::desk::list_waiting_for,
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
