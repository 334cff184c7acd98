//! Tickets and the desk.

pub mod attachment;
pub mod canned_reply;
pub mod entity;
pub mod history;
pub mod received_mail;
pub mod reply;
pub mod reply_address;
pub mod subject;
pub mod ticket;
