//! Recorded exchanges: a proxy stores the requests and responses of a service without secrets (`garth record`), and a
//! replay sends the requests to Garth and compares the responses (`garth replay`). See decision 0042.
//!
//! `masking.rs`, `bindings.rs` and `comparison.rs` have no I/O. `upstream.rs` is the HTTP client of both commands.

mod bindings;
mod body;
mod capture;
mod comparison;
mod early_response;
mod field_path;
mod kinds;
mod masking;
mod path_segment;
mod placeholder;
mod prepared_request;
mod proxy;
mod recorder;
mod recording;
mod relay;
mod replay;
mod report;
mod secret_fields;
mod server_values;
mod upstream;

pub use field_path::IgnoredFields;
pub use proxy::{Proxy, serve};
pub use recorder::Recorder;
pub use recording::{Recording, create_file};
pub use replay::replay;
pub use report::{Outcome, Report};
pub use upstream::Upstream;
