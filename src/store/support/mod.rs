//! Queries for tickets, their replies, notes, attachments and history.

pub mod attachment_checks;
pub mod attachments;
pub mod canned_replies;
pub mod desk;
pub mod entities;
pub mod history;
pub mod mail_counts;
pub mod mail_templates;
pub mod notes;
pub mod outgoing_mails;
pub mod received_mails;
pub mod replies;
pub mod reports;
pub mod saved_views;
pub mod staff_mail_choices;
pub mod suppressed_addresses;
pub mod targets;
pub mod ticket_tags;
pub mod tickets;
pub mod viewers;
