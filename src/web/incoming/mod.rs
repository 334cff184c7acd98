//! Request input: paths, bodies, form fields and files.

pub mod body;
pub mod fields;
pub mod file_names;
pub mod host;
pub mod json;
pub mod part_heads;
pub mod paths;
pub mod upload;
pub mod upload_body;
