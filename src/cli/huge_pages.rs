//! Transparent huge pages: the kernel backs memory with 2 MiB pages. A page stays resident even if only 4 KiB are used.

/// Makes the kernel use small pages for this process, so that resident memory follows the memory in use (decision 0022).
pub fn disable() {
    if let Err(cause) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::debug!(error = %cause, "transparent huge pages not disabled");
    }
}
