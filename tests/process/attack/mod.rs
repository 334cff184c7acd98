//! Attacks on a running server. They must not affect other clients.

mod bodies;
mod bystander;
mod collections;
mod connections;
mod early_errors;
mod forms;
mod hidden_objects;
mod http2;
mod log_in;
mod meter;
mod request_cost;
mod response_memory;
mod stalled_clients;
