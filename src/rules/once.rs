//! What people send from a page is meant once: a browser sends it again when somebody goes back to the form, or loads
//! the answer to it anew. Programs that send the same twice mean it, so only pages ask for this.

/// How long the same words, with nothing after them, are taken for the same: a page that was gone back to may have
/// been drawn anew, with the words still in it.
pub const MOMENTS: i64 = 600;

/// What came of something that is to be made once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Once<T, B = T> {
    Made(T),
    /// The same was made before, since the page was drawn.
    Before(B),
}
