//! Rows of tickets and of what hangs on them.

pub mod attachments;
pub mod canned_replies;
pub mod desk;
pub mod entities;
pub mod history;
pub mod notes;
pub mod replies;
pub mod scrub;
pub mod tickets;
pub mod viewers;
