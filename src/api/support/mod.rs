//! Tickets on the wire, on the customer's side and at the desk.

pub mod attachments;
pub mod canned_replies;
pub mod desk;
pub mod entities;
pub mod replies;
pub mod tickets;
