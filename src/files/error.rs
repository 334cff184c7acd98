//! Errors of the attachment storage.

/// A storage error, for the log.
#[derive(Debug, thiserror::Error)]
#[error("{operation}: {cause}")]
pub struct FilesError {
    operation: String,
    cause: Box<dyn std::error::Error + Send + Sync>,
}

impl FilesError {
    /// Whether the storage has responded that it has no file under the key.
    pub fn is_missing(&self) -> bool {
        let cause = self.cause.downcast_ref::<object_store::Error>();
        matches!(cause, Some(object_store::Error::NotFound { .. }))
    }

    pub(super) fn new(
        operation: impl Into<String>,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let (operation, cause) = (operation.into(), cause.into());
        Self { operation, cause }
    }
}
