//! The files of a submitted form.

use std::convert::Infallible;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use bytes::Bytes;

use crate::rules::error::FieldError;
use crate::uploads::ReceivedFile;
use crate::web::App;

/// The field for files.
pub const FILE_FIELD: &str = "file";

/// The files of a form, on the local disk, and the errors of refused files. A form that is not multipart has only the
/// names of its files.
#[derive(Clone, Default)]
pub struct FormFiles {
    /// Request extensions are cloned, but a file has one owner.
    files: Arc<Mutex<Vec<ReceivedFile>>>,
    pub errors: Vec<FieldError>,
    /// The names of all files that the user had selected. A browser does not select them again on the next page.
    pub names: Vec<String>,
}

impl FromRequestParts<App> for FormFiles {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        Ok(parts.extensions.remove::<FormFiles>().unwrap_or_default())
    }
}

impl FormFiles {
    pub fn new(files: Vec<ReceivedFile>, errors: Vec<FieldError>, names: Vec<String>) -> Self {
        let files = Arc::new(Mutex::new(files));
        Self { files, errors, names }
    }

    /// The files of a form that is not multipart: browsers send their names as the values of the field.
    pub fn only_names(fields: &[(String, String)]) -> Self {
        let selected = |(name, value): &&(String, String)| name == FILE_FIELD && !value.is_empty();
        let names = fields.iter().filter(selected).map(|(_, value)| value.clone());
        Self::new(Vec::new(), Vec::new(), names.collect())
    }

    /// Whether files were sent.
    pub fn any(&self) -> bool {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        !files.is_empty() || !self.errors.is_empty()
    }

    /// Takes the files, which are deleted if they are dropped.
    pub fn take(&self) -> Vec<ReceivedFile> {
        mem::take(&mut self.files.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The files of a form with small files, such as images of the brand, in memory.
#[derive(Clone, Default)]
pub struct SmallFiles(Vec<(String, Bytes)>);

impl FromRequestParts<App> for SmallFiles {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        Ok(parts.extensions.remove::<SmallFiles>().unwrap_or_default())
    }
}

impl SmallFiles {
    /// The files with the names of their fields.
    pub fn new(files: Vec<(String, Bytes)>) -> Self {
        Self(files)
    }

    /// The file of a field.
    pub fn content(&self, field: &str) -> Option<&[u8]> {
        let found = self.0.iter().find(|(name, _)| name == field);
        found.map(|(_, content)| content.as_ref())
    }
}
