//! Tickets, for customers and for staff.

pub mod attachment_quota;
pub mod attachments;
mod canned_replies;
pub mod desk;
mod desk_attachments;
mod desk_queue;
mod desk_replies;
mod entities;
pub mod lmtp;
mod mail_choices;
mod mail_templates;
mod merges;
pub mod outgoing_mails;
pub mod received_mails;
pub mod replies;
mod reports;
mod saved_views;
mod targets;
pub mod ticket_races;
mod ticket_tags;
pub mod tickets;
pub mod uploads;
