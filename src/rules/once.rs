//! Protection against duplicate form submissions: a browser sends a form again when the user goes back to it
//! or reloads the response. API clients that send a request twice mean it, so only console pages use this.

/// The window in seconds in which the same text, with nothing after it, counts as a duplicate, even from a
/// page that was rendered again with the text still in its form.
pub const REPEAT_WINDOW_SECONDS: i64 = 600;

/// The result of a form submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Once<T, B = T> {
    Made(T),
    /// A duplicate of an object created since the page was rendered.
    Before(B),
}
