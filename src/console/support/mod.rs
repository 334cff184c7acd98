//! Pages for tickets, for customers and for staff.

pub mod canned_replies;
pub mod desk;
pub mod desk_ticket;
pub mod new_ticket;
pub mod subjects;
pub mod threads;
pub mod ticket;
pub mod tickets;
