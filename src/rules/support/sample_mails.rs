//! Mails with sample data, for previews of their texts. They are never sent.

use super::account_mails::AccountContent;
use super::outgoing_mails::{Content, Draft, DraftNotice, TicketContent};
use crate::model::id::TicketId;
use crate::model::mail_template::{MailTemplates, TemplateKind};
use crate::model::outgoing_mail::{MailKind, NoticeKind};
use crate::model::policy::OutgoingMailPolicy;
use crate::model::token::TokenText;
use crate::model::user::Email;
use crate::rules::error::Result;
use crate::store::{self, ReadTx};

const CUSTOMER: &str = "ada";
const STAFF: &str = "sam";
const SAMPLE_TICKET: TicketId = TicketId(12);
const SAMPLE_URL: &str = "https://garth.example.com";

/// The draft of a mail of this kind. Its links do not work.
pub(super) fn draft(tx: &mut ReadTx, kind: TemplateKind, templates: MailTemplates) -> Result<Draft> {
    let brand = store::branding::load(tx)?;
    let policy = tx.policy().outgoing_mail.clone().unwrap_or_else(sample_policy);
    let provider = tx.policy().support.provider.clone();
    let accepts_replies = tx.policy().mail.is_some();
    let link = TokenText::from_bytes([0; 32]);
    let (mail, username, content) = match kind {
        TemplateKind::Invitation => (
            MailKind::Invitation,
            CUSTOMER,
            account(AccountContent::Invitation { link }),
        ),
        TemplateKind::Reset => (MailKind::Reset, CUSTOMER, account(AccountContent::Reset { link })),
        _ => {
            let is_for_staff = matches!(kind, TemplateKind::NewTicket | TemplateKind::Assigned);
            let content = TicketContent {
                references: Vec::new(),
                reply_to: accepts_replies.then(|| policy.from.as_str().to_owned()),
                unsubscribe_url: format!("{}/unsubscribe", policy.public_url),
                ticket: SAMPLE_TICKET,
                summary: "The instance does not boot".to_owned(),
                company: "Lovelace Ltd".to_owned(),
                notices: vec![notice(kind, &provider)],
                omitted: 0,
            };
            match is_for_staff {
                true => (MailKind::Desk, STAFF, Content::Ticket(content)),
                false => (MailKind::Ticket, CUSTOMER, Content::Ticket(content)),
            }
        }
    };
    Ok(Draft {
        kind: mail,
        recipient: format!("{username}@example.com"),
        envelope_sender: policy.from.as_str().to_owned(),
        brand,
        templates,
        message_id: String::new(),
        date: tx.now(),
        username: username.to_owned(),
        content,
        policy,
    })
}

fn account(content: AccountContent) -> Content {
    Content::Account(content)
}

fn notice(kind: TemplateKind, provider: &str) -> DraftNotice {
    let (kind, author, text) = match kind {
        TemplateKind::Closed => (NoticeKind::Closed, provider, None),
        TemplateKind::Reopened => (NoticeKind::Reopened, provider, None),
        TemplateKind::Opened => (
            NoticeKind::Opened,
            provider,
            Some("We move your instance on Tuesday."),
        ),
        TemplateKind::NewTicket => (
            NoticeKind::Opened,
            CUSTOMER,
            Some("It stops after the boot loader."),
        ),
        TemplateKind::Assigned => (
            NoticeKind::Assigned,
            "noor",
            Some("It stops after the boot loader."),
        ),
        _ => (
            NoticeKind::Reply,
            provider,
            Some("We have found the cause.\nPlease boot it again."),
        ),
    };
    DraftNotice {
        kind,
        author: author.to_owned(),
        text: text.map(str::to_owned),
    }
}

/// The settings of a server that sends no mail.
fn sample_policy() -> OutgoingMailPolicy {
    OutgoingMailPolicy {
        from: Email::parse("support@example.com").expect("the address is valid"),
        subject_prefix: None,
        public_url: SAMPLE_URL.to_owned(),
    }
}
