//! Forms: from what a browser sent to what a rule reads, and back to the page with every complaint
//! at its field.
//!
//! A field on a page has the name that the API gives it (`subnets[0].ipv4`), so the complaints of a
//! rule find their fields by themselves, and nothing that was typed is lost.

mod card;
mod fields;
mod names;
mod sent;
mod typed;

pub use card::{Card, card, confirm, confirmed};
pub use fields::{Field, choice, line, lines, secret, switch};
pub use names::id_of;
pub use sent::{NEWEST, SEEN, Sent, newest};
pub use typed::{Typed, again};
