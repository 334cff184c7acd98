//! Protection against duplicate form submissions: a browser sends a form again when the user goes back to it
//! or reloads the response. An API client that sends a request twice wants two objects, so only console pages
//! use this.

/// A text that is identical to the user's latest one counts as a duplicate for this long, even if the user has
/// reloaded the page in the meantime.
pub const REPEAT_WINDOW_SECONDS: i64 = 600;

/// The result of a form submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submission<T, D = T> {
    Created(T),
    /// An identical object was created after the page was rendered, or the newest object is identical and not
    /// older than `REPEAT_WINDOW_SECONDS`.
    Duplicate(D),
}
