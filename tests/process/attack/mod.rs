//! Attacks on a running server, and what everybody else notices of them: nothing.

mod answers;
mod bodies;
mod bystander;
mod connections;
mod cost;
mod log_in;
mod multiplexed;
mod proportion;
mod refusals;
mod stuck;
