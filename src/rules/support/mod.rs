//! Rules for tickets, for customers and for the desk.

pub mod attachments;
pub mod canned_replies;
pub mod desk;
pub mod entities;
pub mod replies;
pub mod scrub;
pub mod subjects;
pub mod tickets;
pub mod transitions;
pub mod viewers;
