//! Rules for tickets, for customers and for the desk.

pub mod attachment_checks;
pub mod attachments;
pub mod canned_replies;
pub mod desk;
pub mod desk_attachments;
pub mod desk_replies;
pub mod desk_version;
pub mod entities;
pub mod history;
mod mail_bounces;
pub mod mail_counts;
pub mod notes;
pub mod received_mails;
pub mod replies;
pub mod reports;
pub mod saved_views;
pub mod subjects;
pub mod targets;
pub mod ticket_network;
pub mod ticket_tags;
pub mod tickets;
pub mod transitions;
pub mod viewers;
