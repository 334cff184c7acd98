//! The users who attach files: tenants and staff, by HTTP, by mail or at the terminal.

use crate::model::attachment::{FileName, NewAttachment};
use crate::model::id::{AccountId, TicketId};
use crate::rules::agent::{Agent, Staff};
use crate::rules::attachments::{self, UploadInfo};
use crate::rules::caller::{Caller, Principal};
use crate::rules::desk_attachments;
use crate::rules::error::Result;
use crate::rules::request::Expected;
use crate::store::{ReadTx, WriteTx};

/// The user who attaches a file.
#[derive(Clone, Debug)]
pub enum Uploader {
    Tenant(Box<Caller>),
    Staff(Box<Staff>),
    /// A member of staff without a token or session: the sender of a message, or the user of a command.
    Agent(Agent),
}

impl From<Caller> for Uploader {
    fn from(caller: Caller) -> Self {
        Uploader::Tenant(Box::new(caller))
    }
}

impl From<Staff> for Uploader {
    fn from(staff: Staff) -> Self {
        Uploader::Staff(Box::new(staff))
    }
}

impl From<Agent> for Uploader {
    fn from(agent: Agent) -> Self {
        Uploader::Agent(agent)
    }
}

impl Uploader {
    /// `None` for staff.
    pub fn account(&self) -> Option<AccountId> {
        match self {
            Uploader::Tenant(caller) => Some(caller.account),
            Uploader::Staff(_) | Uploader::Agent(_) => None,
        }
    }

    /// The user with the permissions as of this transaction.
    pub fn confirm(self, tx: &mut ReadTx) -> Result<Self> {
        match self {
            Uploader::Tenant(caller) => Ok(caller.confirm(tx)?.into()),
            Uploader::Staff(staff) => Ok(staff.confirm(tx)?.into()),
            Uploader::Agent(agent) => Ok(Agent::at_terminal(tx, agent.username.as_str())?.into()),
        }
    }

    /// Checks whether the user can attach a file, before its content is read. Returns the multipart boundary.
    pub fn expect(&self, tx: &mut ReadTx, ticket: TicketId, upload: &UploadInfo) -> Result<String> {
        match self {
            Uploader::Tenant(caller) => attachments::expect(tx, caller, ticket, upload),
            Uploader::Staff(_) | Uploader::Agent(_) => desk_attachments::expect(tx, ticket, upload),
        }
    }

    /// Creates an attachment from a stored file.
    pub fn attach(
        &self,
        tx: &mut WriteTx,
        ticket: TicketId,
        expected: Option<&Expected>,
        new: &NewAttachment,
    ) -> Result<()> {
        let files = std::slice::from_ref(new);
        match self {
            Uploader::Tenant(caller) => attachments::create(tx, caller, ticket, expected, new).map(drop),
            Uploader::Staff(staff) => desk_attachments::create(tx, &staff.agent, ticket, expected, files),
            Uploader::Agent(agent) => desk_attachments::create(tx, agent, ticket, expected, files),
        }
    }

    /// Records in the history that the scanner refused a file.
    pub fn record_refused(&self, tx: &mut WriteTx, ticket: TicketId, name: &FileName) -> Result<()> {
        match self {
            Uploader::Tenant(caller) => attachments::record_refused(tx, caller, ticket, name),
            Uploader::Staff(staff) => desk_attachments::record_refused(tx, &staff.agent, ticket, name),
            Uploader::Agent(agent) => desk_attachments::record_refused(tx, agent, ticket, name),
        }
    }
}
