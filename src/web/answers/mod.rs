//! Response bodies, headers, entity tags, and the memory budget for responses.

pub mod answer;
pub mod chunks;
pub mod common_headers;
pub mod downloads;
pub mod entity_tags;
pub mod response_memory;
