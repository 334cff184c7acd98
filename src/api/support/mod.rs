//! Operations on tickets, for customers and for staff.

pub mod attachments;
pub mod canned_replies;
pub mod desk;
pub mod entities;
pub mod history;
pub mod mail_choices;
pub mod mail_counts;
pub mod mail_templates;
pub mod notes;
pub mod outgoing_mails;
pub mod replies;
pub mod reports;
pub mod saved_views;
pub mod suppressed_addresses;
pub mod tickets;

use crate::api::handlers::{change, change_at, done, list, list_at, view, view_at};
use crate::model::id::{AccountId, TicketId};
use crate::model::scope::{Level, Scope};
use crate::model::staff_role::StaffRole;
use crate::rules::agent::{Agent, Staff};
use crate::rules::caller::Caller;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::store::WriteTx;
use crate::web::operation::{Class, Operation, delete, get, handler, post, put};

const TICKETS: &str = "/support/tickets";
const TICKET: &str = "/support/tickets/{ticketId}";
const TICKET_CLOSE: &str = "/support/tickets/{ticketId}/close";
const TICKET_REPLIES: &str = "/support/tickets/{ticketId}/replies";
const TICKET_FILES: &str = "/support/tickets/{ticketId}/attachments";
const TICKET_FILE: &str = "/support/tickets/{ticketId}/attachments/{attachmentId}";
const DESK: &str = "/desk/tickets";
const DESK_TICKET: &str = "/desk/tickets/{ticketId}";
const DESK_FILES: &str = "/desk/tickets/{ticketId}/attachments";
const DESK_FILE: &str = "/desk/tickets/{ticketId}/attachments/{attachmentId}";
const DESK_ENTITY: &str = "/desk/entities/{accountId}/{entityType}/{entityId}";
const CANNED: &str = "/desk/canned-replies";
const CANNED_ONE: &str = "/desk/canned-replies/{cannedReplyId}";
const SAVED_VIEWS: &str = "/desk/views";
const SAVED_VIEW: &str = "/desk/views/{savedViewId}";
const MAIL_CHOICES: &str = "/desk/mail-choices";
const MAIL_TEMPLATES: &str = "/provider/mail-templates";
const CANNED_PREVIEW: &str = "/desk/canned-replies/{cannedReplyId}/preview";

/// The operations for customers (interface §4.3).
pub fn operations() -> Vec<Operation> {
    vec![
        get("getTickets", TICKETS, list(rules::tickets::list, tickets::page))
            .scope(Scope::ACCOUNT_READ_ONLY)
            .list(),
        post(
            "createTicket",
            TICKETS,
            change(rules::tickets::create, tickets::one),
        )
        .scope(Scope::ACCOUNT_READ_WRITE)
        .class(Class::TicketCreate),
        get("getTicket", TICKET, view_at(rules::tickets::view, tickets::one)).with_account_access(),
        post(
            "closeTicket",
            TICKET_CLOSE,
            change_at(rules::tickets::close, done),
        )
        .with_account_access(),
        get(
            "getTicketReplies",
            TICKET_REPLIES,
            list_at(rules::replies::list, replies::page),
        )
        .with_account_access()
        .list(),
        post(
            "createTicketReply",
            TICKET_REPLIES,
            change_at(rules::replies::create, replies::one),
        )
        .with_account_access(),
        get(
            "getTicketAttachments",
            TICKET_FILES,
            list_at(rules::attachments::list, attachments::page),
        )
        .with_account_access()
        .list(),
        post(
            "createTicketAttachment",
            TICKET_FILES,
            handler(attachments::create),
        )
        .with_account_access(),
        get("getTicketAttachment", TICKET_FILE, handler(attachments::download)).with_account_access(),
        get(
            "getSupportLimits",
            "/support/limits",
            view(|_, _: &Caller| Ok(()), tickets::limits),
        ),
    ]
}

/// The operations for the provider's staff.
pub fn desk_operations() -> Vec<Operation> {
    vec![
        get("getDeskTickets", DESK, handler(desk::list)).at_desk().list(),
        post(
            "createDeskTicket",
            DESK,
            change(
                |tx, staff: &Staff, request| rules::desk::create(tx, &staff.agent, request),
                desk::one,
            ),
        )
        .at_desk(),
        get(
            "getDeskTicket",
            DESK_TICKET,
            view_at(|tx, _: &Staff, id| rules::desk::view(tx, id), desk::one),
        )
        .at_desk(),
        put(
            "updateDeskTicket",
            DESK_TICKET,
            change_at(by_agent(rules::desk::update), desk::one),
        )
        .at_desk(),
        post(
            "claimDeskTicket",
            "/desk/tickets/{ticketId}/claim",
            change_at(by_agent(rules::desk::claim), desk::one),
        )
        .at_desk(),
        post(
            "releaseDeskTicket",
            "/desk/tickets/{ticketId}/release",
            change_at(by_agent(rules::desk::release), desk::one),
        )
        .at_desk(),
        post(
            "closeDeskTicket",
            "/desk/tickets/{ticketId}/close",
            change_at(by_agent(rules::desk::close), desk::one),
        )
        .at_desk(),
        post(
            "reopenDeskTicket",
            "/desk/tickets/{ticketId}/reopen",
            change_at(by_agent(rules::desk::reopen), desk::one),
        )
        .at_desk(),
        post(
            "mergeDeskTicket",
            "/desk/tickets/{ticketId}/merge",
            change_at(by_agent(rules::merges::create), desk::one),
        )
        .at_desk(),
        post(
            "createDeskReply",
            "/desk/tickets/{ticketId}/replies",
            change_at(by_agent(rules::desk_replies::create), replies::one),
        )
        .at_desk(),
        post(
            "createDeskNote",
            "/desk/tickets/{ticketId}/notes",
            change_at(by_agent(rules::notes::create), notes::one),
        )
        .at_desk(),
        get(
            "getDeskHistory",
            "/desk/tickets/{ticketId}/history",
            list_at(
                |tx, _: &Staff, id, list| rules::history::list(tx, id, list),
                history::page,
            ),
        )
        .at_desk()
        .list(),
        get(
            "getDeskAttachments",
            DESK_FILES,
            list_at(
                |tx, _: &Staff, id, list| rules::desk_attachments::list(tx, id, list),
                attachments::page,
            ),
        )
        .at_desk()
        .list(),
        post("createDeskAttachment", DESK_FILES, handler(desk::attach)).at_desk(),
        get("getDeskAttachment", DESK_FILE, handler(desk::download)).at_desk(),
        get(
            "getCannedReplies",
            CANNED,
            list(
                |tx, _: &Staff, list| rules::canned_replies::list(tx, list),
                canned_replies::page,
            ),
        )
        .at_desk()
        .list(),
        post(
            "createCannedReply",
            CANNED,
            change(
                |tx, _: &Staff, request| rules::canned_replies::create(tx, request),
                canned_replies::one,
            ),
        )
        .at_desk(),
        get(
            "getCannedReply",
            CANNED_ONE,
            view_at(
                |tx, _: &Staff, id| rules::canned_replies::view(tx, id),
                canned_replies::one,
            ),
        )
        .at_desk(),
        put(
            "updateCannedReply",
            CANNED_ONE,
            change_at(
                |tx, _: &Staff, id, request| rules::canned_replies::update(tx, id, request),
                canned_replies::one,
            ),
        )
        .at_desk(),
        delete(
            "deleteCannedReply",
            CANNED_ONE,
            change_at(
                |tx, _: &Staff, id, request| rules::canned_replies::delete(tx, id, request),
                done,
            ),
        )
        .at_desk(),
        post(
            "previewCannedReply",
            CANNED_PREVIEW,
            handler(canned_replies::preview),
        )
        .at_desk()
        .scope(Scope::DESK_READ_ONLY),
        get("getDeskReport", "/desk/reports", handler(reports::view)).at_desk(),
        get(
            "getSavedViews",
            SAVED_VIEWS,
            list(
                |tx, staff: &Staff, list| rules::saved_views::list(tx, &staff.agent, list),
                saved_views::page,
            ),
        )
        .at_desk()
        .list(),
        post(
            "createSavedView",
            SAVED_VIEWS,
            change(
                |tx, staff: &Staff, request| rules::saved_views::create(tx, &staff.agent, request),
                saved_views::one,
            ),
        )
        .at_desk(),
        get(
            "getSavedView",
            SAVED_VIEW,
            view_at(
                |tx, staff: &Staff, id| rules::saved_views::view(tx, &staff.agent, id),
                saved_views::one,
            ),
        )
        .at_desk(),
        delete(
            "deleteSavedView",
            SAVED_VIEW,
            change_at(
                |tx, staff: &Staff, id, request| rules::saved_views::delete(tx, &staff.agent, id, request),
                done,
            ),
        )
        .at_desk(),
        get(
            "getDeskEntities",
            "/desk/entities",
            list(
                |tx, _: &Staff, list| rules::entities::list(tx, list),
                entities::page,
            ),
        )
        .at_desk()
        .list(),
        post(
            "setDeskEntity",
            "/desk/entities",
            change(
                |tx, _: &Staff, request| rules::entities::set_from(tx, request),
                entities::one,
            ),
        )
        .at_desk(),
        delete(
            "deleteDeskEntity",
            DESK_ENTITY,
            change_at(
                |tx, _: &Staff, (account, kind, id): (AccountId, String, i64), request| {
                    rules::entities::delete(tx, account, &kind, id, request)
                },
                done,
            ),
        )
        .at_desk(),
    ]
}

/// The operations on mails that Garth sends (decision 0045).
pub fn mail_operations() -> Vec<Operation> {
    vec![
        get(
            "getDeskMails",
            "/desk/tickets/{ticketId}/mails",
            list_at(
                |tx, _: &Staff, id, list| rules::outgoing_mails::list(tx, id, list),
                outgoing_mails::page,
            ),
        )
        .at_desk()
        .list(),
        get(
            "getDeskMailChoices",
            MAIL_CHOICES,
            view(
                |tx, staff: &Staff| rules::mail_choices::view(tx, &staff.agent),
                mail_choices::one,
            ),
        )
        .at_desk(),
        put(
            "updateDeskMailChoices",
            MAIL_CHOICES,
            change(
                |tx, staff: &Staff, request| rules::mail_choices::update(tx, &staff.agent, request),
                mail_choices::one,
            ),
        )
        .at_desk(),
        get(
            "getMailStatus",
            "/provider/mail-status",
            view(|tx, _: &Staff| rules::mail_counts::status(tx), mail_counts::one),
        )
        .of_provider(StaffRole::Operator),
        get(
            "getProviderAccountUserMails",
            "/provider/accounts/{accountId}/users/{username}/mails",
            list_at(
                |tx, _: &Staff, (id, name): (AccountId, String), list| {
                    rules::account_users::mails(tx, id, &name, list)
                },
                outgoing_mails::page,
            ),
        )
        .of_provider(StaffRole::Operator)
        .list(),
        get(
            "getSuppressedAddresses",
            "/provider/suppressed-addresses",
            list(
                |tx, _: &Staff, list| rules::suppressed_addresses::list(tx, list),
                suppressed_addresses::page,
            ),
        )
        .of_provider(StaffRole::Operator)
        .list(),
        delete(
            "deleteSuppressedAddress",
            "/provider/suppressed-addresses/{suppressedAddressId}",
            change_at(
                |tx, _: &Staff, id, request| rules::suppressed_addresses::delete(tx, id, request),
                done,
            ),
        )
        .of_provider(StaffRole::Operator),
    ]
}

/// The operations on the texts of mails (decision 0049).
pub fn mail_template_operations() -> Vec<Operation> {
    vec![
        get(
            "getMailTemplates",
            MAIL_TEMPLATES,
            view(
                |tx, _: &Staff| rules::mail_templates::view(tx),
                mail_templates::one,
            ),
        )
        .of_provider(StaffRole::Operator),
        put(
            "updateMailTemplates",
            MAIL_TEMPLATES,
            change(
                |tx, _: &Staff, request| rules::mail_templates::update(tx, request),
                mail_templates::one,
            ),
        )
        .of_provider(StaffRole::Admin),
        delete(
            "resetMailTemplates",
            MAIL_TEMPLATES,
            change(
                |tx, _: &Staff, request| rules::mail_templates::reset(tx, request),
                done,
            ),
        )
        .of_provider(StaffRole::Admin),
        post(
            "previewMailTemplate",
            "/provider/mail-templates/preview",
            handler(mail_templates::preview),
        )
        .of_provider(StaffRole::Operator)
        .scope(Scope::new("provider", Level::ReadOnly)),
    ]
}

/// Adapts a rule that takes an `Agent` to a rule that takes a `Staff`.
fn by_agent<T>(
    rule: fn(&mut WriteTx, &Agent, TicketId, &Request) -> Result<T>,
) -> impl Fn(&mut WriteTx, &Staff, TicketId, &Request) -> Result<T> + Copy {
    move |tx, staff, id, request| rule(tx, &staff.agent, id, request)
}
