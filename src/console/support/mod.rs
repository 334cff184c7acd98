//! Pages for tickets, for customers and for staff.

pub mod canned_replies;
pub mod desk;
mod desk_home;
pub mod desk_ticket;
pub mod new_ticket;
mod reports;
pub mod saved_views;
pub mod subjects;
pub mod targets;
pub mod threads;
pub mod ticket;
pub mod tickets;

use crate::console::page::{Page, get, post};
use crate::web::operation::Class;

const TICKET: &str = "/tickets/{ticketId}";
const DESK_TICKET: &str = "/desk/tickets/{ticketId}";
const CANNED_REPLY: &str = "/desk/canned-replies/{cannedReplyId}";

pub fn pages() -> Vec<Page> {
    vec![
        get("pageTickets", "/tickets", tickets::list),
        get("exportTickets", "/tickets/export.csv", tickets::export),
        get("pageTicketNew", "/tickets/new", new_ticket::form),
        post("sendTicketNew", "/tickets/new", new_ticket::open).class(Class::TicketCreate),
        get("pageTicket", TICKET, ticket::view),
        post("sendReply", "/tickets/{ticketId}/replies", ticket::reply),
        post("sendTicketClose", "/tickets/{ticketId}/close", ticket::close),
        post(
            "sendAttachment",
            "/tickets/{ticketId}/attachments",
            ticket::attach,
        ),
        get(
            "getAttachmentFile",
            "/tickets/{ticketId}/attachments/{attachmentId}",
            ticket::download,
        ),
        get(
            "getAttachmentImage",
            "/tickets/{ticketId}/attachments/{attachmentId}/image",
            ticket::image,
        ),
    ]
}

pub fn desk_pages() -> Vec<Page> {
    vec![
        get("pageDesk", "/desk", desk::queue).staff(),
        get("pageDeskHome", "/desk/home", desk_home::view).staff(),
        get("pageDeskKeys", "/desk/keys", desk::shortcuts).staff(),
        get("pageDeskTicketNew", "/desk/tickets/new", new_ticket::desk_form).staff(),
        post("sendDeskTicketNew", "/desk/tickets/new", new_ticket::desk_open)
            .staff()
            .class(Class::TicketCreate),
        get("pageDeskTicket", DESK_TICKET, desk_ticket::view).staff(),
        get(
            "pageDeskVpc",
            "/desk/tickets/{ticketId}/vpc",
            desk_ticket::network::page,
        )
        .staff(),
        get(
            "pageDeskSubnet",
            "/desk/tickets/{ticketId}/vpc/subnets/{vpcSubnetId}",
            desk_ticket::network::subnet,
        )
        .staff(),
        post(
            "sendDeskClaim",
            "/desk/tickets/{ticketId}/claim",
            desk_ticket::actions::claim,
        )
        .staff(),
        post(
            "sendDeskRelease",
            "/desk/tickets/{ticketId}/release",
            desk_ticket::actions::release,
        )
        .staff(),
        post(
            "sendDeskChange",
            "/desk/tickets/{ticketId}/change",
            desk_ticket::actions::change,
        )
        .staff(),
        post(
            "sendDeskReply",
            "/desk/tickets/{ticketId}/replies",
            desk_ticket::actions::reply,
        )
        .staff()
        .with_files(),
        post(
            "sendDeskNote",
            "/desk/tickets/{ticketId}/notes",
            desk_ticket::actions::note,
        )
        .staff(),
        post(
            "sendDeskClose",
            "/desk/tickets/{ticketId}/close",
            desk_ticket::actions::close,
        )
        .staff(),
        post(
            "sendDeskReopen",
            "/desk/tickets/{ticketId}/reopen",
            desk_ticket::actions::reopen,
        )
        .staff(),
        get(
            "pageDeskMerge",
            "/desk/tickets/{ticketId}/merge",
            desk_ticket::merge::view,
        )
        .staff(),
        post(
            "sendDeskMerge",
            "/desk/tickets/{ticketId}/merge",
            desk_ticket::merge::send,
        )
        .staff(),
        get(
            "getDeskAttachmentFile",
            "/desk/tickets/{ticketId}/attachments/{attachmentId}",
            desk_ticket::actions::download,
        )
        .staff(),
        get(
            "getDeskAttachmentImage",
            "/desk/tickets/{ticketId}/attachments/{attachmentId}/image",
            desk_ticket::actions::image,
        )
        .staff(),
        get("pageDeskReports", "/desk/reports", reports::view).staff(),
        get("exportDeskReport", "/desk/reports/export.csv", reports::export).staff(),
        get("pageSavedViews", "/desk/views", saved_views::list).staff(),
        get("pageSavedViewNew", "/desk/views/new", saved_views::form).staff(),
        post("sendSavedViewNew", "/desk/views/new", saved_views::create).staff(),
        post(
            "sendSavedViewDelete",
            "/desk/views/{savedViewId}/delete",
            saved_views::delete,
        )
        .staff(),
        get("pageCannedReplies", "/desk/canned-replies", canned_replies::list).staff(),
        get(
            "pageCannedReplyNew",
            "/desk/canned-replies/new",
            canned_replies::form,
        )
        .staff(),
        post(
            "sendCannedReplyNew",
            "/desk/canned-replies/new",
            canned_replies::create,
        )
        .staff(),
        get("pageCannedReply", CANNED_REPLY, canned_replies::edit).staff(),
        post("sendCannedReply", CANNED_REPLY, canned_replies::update).staff(),
        post(
            "sendCannedReplyDelete",
            "/desk/canned-replies/{cannedReplyId}/delete",
            canned_replies::delete,
        )
        .staff(),
    ]
}
