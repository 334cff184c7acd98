//! What things are: values that cannot be wrong.
//!
//! Nothing here reads a file, a socket, a clock or a row, and nothing here knows JSON. A value
//! that exists has passed its rules; whoever holds one need not check it again.

pub mod account;
pub mod address_map;
pub mod attachment;
pub mod canned_reply;
pub mod cidr;
pub mod config;
pub mod device;
pub mod event;
pub mod grant;
pub mod history;
pub mod id;
pub mod image;
pub mod input;
pub mod instance;
pub mod interface;
pub mod label;
pub mod oauth;
pub mod page;
pub mod plan;
pub mod policy;
pub mod reason;
pub mod region;
pub mod reply;
pub mod scope;
pub mod subject;
pub mod subnet;
pub mod tag;
pub mod text;
pub mod ticket;
pub mod time;
pub mod token;
pub mod user;
pub mod vpc;
