//! Tickets and the desk.

pub mod attachment;
pub mod bounce_address;
pub mod canned_reply;
pub mod clock;
pub mod entity;
pub mod history;
pub mod image_size;
pub mod mail_count;
pub mod mail_template;
pub mod merge_text;
pub mod outgoing_mail;
mod placeholders;
pub mod received_mail;
pub mod reply;
pub mod reply_address;
pub mod report;
pub mod saved_view;
pub mod subject;
pub mod target;
pub mod ticket;
pub mod ticket_tag;
