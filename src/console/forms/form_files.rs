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

/// The files of a form, on the local disk, and the errors of refused files.
#[derive(Clone, Default)]
pub struct FormFiles {
    /// Request extensions are cloned, but a file has one owner.
    files: Arc<Mutex<Vec<ReceivedFile>>>,
    pub errors: Vec<FieldError>,
}

impl FromRequestParts<App> for FormFiles {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        Ok(parts.extensions.remove::<FormFiles>().unwrap_or_default())
    }
}

impl FormFiles {
    pub fn new(files: Vec<ReceivedFile>, errors: Vec<FieldError>) -> Self {
        let files = Arc::new(Mutex::new(files));
        Self { files, errors }
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
