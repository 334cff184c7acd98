//! Tickets, and what the desk does with them.

pub mod attachment;
pub mod canned_reply;
pub mod entity;
pub mod history;
pub mod reply;
pub mod subject;
pub mod tag;
pub mod ticket;
