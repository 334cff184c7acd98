//! Attacks on a running server, and what everybody else notices of them: nothing.

mod bodies;
mod bystander;
mod connections;
mod early_errors;
mod http2;
mod log_in;
mod meter;
mod request_cost;
mod response_memory;
mod stalled_clients;
