//! Protection against duplicate form submissions: a browser sends a form again when the user goes back to it
//! or reloads the response. An API client that sends a request twice intends both, so only console pages use this.

/// A text that is identical to the latest post is a duplicate within this time, even if the page was reloaded in between.
pub const REPEAT_WINDOW_SECONDS: i64 = 600;

/// The result of a form submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submission<T, D = T> {
    Created(T),
    /// The object exists already: it was created after the page was rendered.
    Duplicate(D),
}
