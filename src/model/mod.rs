//! What things are: values that cannot be wrong.
//!
//! Nothing here reads a file, a socket, a clock or a row, and nothing here knows JSON. A value
//! that exists has passed its rules; whoever holds one need not check it again.

pub mod account;
mod compute;
pub mod id;
mod identity;
pub mod input;
pub mod job;
pub mod label;
mod network;
pub mod page;
pub mod policy;
pub mod reason;
mod support;
pub mod text;
pub mod time;

pub use account::{change, event};
pub use compute::{config, image, instance, interface, plan, power, region};
pub use identity::{device, grant, oauth, oauth_grant, proof, scope, token, user};
pub use network::{address_map, cidr, subnet, vpc, vpc_ip};
pub use support::{attachment, canned_reply, entity, history, reply, subject, tag, ticket};
