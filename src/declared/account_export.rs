//! The data of one account as a file for the customer: its document, and its tickets with replies. It has no secrets and
//! no internal notes of staff.

use std::collections::HashMap;

use serde::Serialize;

use super::current;
use super::document::Document;
use crate::model::account::Account;
use crate::model::id::{AccountId, TicketId};
use crate::model::reply::Reply;
use crate::model::ticket::Ticket;
use crate::rules::caller::Caller;
use crate::rules::{Result, accounts, tickets};
use crate::store::{self, ReadTx};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AccountExport {
    pub account: ExportedAccount,
    /// The document that `garth export` prints.
    pub document: Document,
    /// Sorted by ID.
    pub tickets: Vec<ExportedTicket>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExportedAccount {
    pub id: i64,
    pub company: String,
    pub email: String,
    pub status: &'static str,
    pub created: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExportedTicket {
    pub id: i64,
    pub summary: String,
    pub description: String,
    pub status: &'static str,
    pub opened: String,
    pub opened_by: String,
    pub updated: String,
    pub closed: Option<String>,
    pub entity: Option<ExportedEntity>,
    /// The names of the files, whose content is not in the export.
    pub attachments: Vec<String>,
    pub replies: Vec<ExportedReply>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExportedEntity {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub id: i64,
    pub label: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExportedReply {
    pub id: i64,
    pub created: String,
    pub created_by: String,
    pub from_staff: bool,
    pub description: String,
}

impl AccountExport {
    /// The text of the file.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("an export can be serialized as JSON") + "\n"
    }

    pub fn file_name(&self) -> String {
        format!("account-{}.json", self.account.id)
    }
}

/// Reads an account, which may be suspended or closed.
pub fn export_account(tx: &mut ReadTx, id: AccountId) -> Result<AccountExport> {
    let account = accounts::load(tx, id)?;
    let caller = Caller::provider_of_any(tx, id)?;
    let (document, _) = current::read(tx, &caller)?;
    let mut found = current::all(|list| tickets::list(tx, &caller, list))?;
    found.sort_by_key(|ticket| ticket.id);
    let mut replies: HashMap<TicketId, Vec<ExportedReply>> = HashMap::new();
    for (ticket, reply) in store::replies::of_account(tx, id)? {
        replies.entry(ticket).or_default().push(reply.into());
    }
    let ticket = |ticket: Ticket| ExportedTicket {
        replies: replies.remove(&ticket.id).unwrap_or_default(),
        ..ticket.into()
    };
    Ok(AccountExport {
        account: account.into(),
        document: document.portable(),
        tickets: found.into_iter().map(ticket).collect(),
    })
}

impl From<Account> for ExportedAccount {
    fn from(account: Account) -> Self {
        Self {
            id: account.id.0,
            company: account.company,
            email: account.email,
            status: account.status.word(),
            created: account.created.to_string(),
        }
    }
}

impl From<Ticket> for ExportedTicket {
    fn from(ticket: Ticket) -> Self {
        Self {
            id: ticket.id.0,
            summary: ticket.summary.as_str().to_owned(),
            description: ticket.description.as_str().to_owned(),
            status: ticket.status.word(),
            opened: ticket.opened.to_string(),
            opened_by: ticket.opened_by,
            updated: ticket.updated.to_string(),
            closed: ticket.closed.map(|closed| closed.to_string()),
            entity: ticket.entity.map(|entity| ExportedEntity {
                kind: entity.kind.word(),
                id: entity.id,
                label: entity.label,
            }),
            attachments: ticket.attachments,
            replies: Vec::new(),
        }
    }
}

impl From<Reply> for ExportedReply {
    fn from(reply: Reply) -> Self {
        Self {
            id: reply.id.0,
            created: reply.created.to_string(),
            created_by: reply.created_by,
            from_staff: reply.from_staff,
            description: reply.description.as_str().to_owned(),
        }
    }
}
