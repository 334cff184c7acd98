//! What every answer is made of, and how much of it waits.

pub mod answer;
pub mod answer_memory;
pub mod common_headers;
pub mod downloads;
pub mod entity_tags;
pub mod pieces;
