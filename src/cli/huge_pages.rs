//! Transparent huge pages: the kernel backs memory with pages of 2 MiB. Such a page stays resident as a
//! whole, even if the process uses only 4 KiB of it.

/// Makes the kernel use small pages for this process, so that resident memory follows the memory in use (decision 0022).
pub fn disable() {
    if let Err(cause) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::debug!(error = %cause, "transparent huge pages not disabled");
    }
}
