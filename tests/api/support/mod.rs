//! Tickets, for customers and for staff.

pub mod attachment_quota;
pub mod attachments;
pub mod desk;
pub mod replies;
pub mod ticket_races;
pub mod tickets;
pub mod uploads;
