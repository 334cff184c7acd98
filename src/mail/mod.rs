//! Mail: reads incoming messages.
//!
//! `inbound` only parses. The rules that act on a parsed message are in `rules`.

pub mod inbound;
