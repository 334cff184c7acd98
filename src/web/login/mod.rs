//! Log-in: attempts, throttling and password hashing.

pub mod hashing;
pub mod log_in_form;
pub mod login_attempts;
pub mod login_names;
pub mod login_throttle;
pub mod taken_names;
pub mod throttle;
pub mod user_names;
