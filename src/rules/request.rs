//! What a caller sent along, looked into only when its turn comes.
//!
//! Whether a caller may touch a thing is answered before what it wants to do with it, so a rule
//! first loads the thing, then asks `unchanged`, then opens the `form`.

use std::hash::Hash;

use super::error::{BodyFault, Error, Result};
use super::form::Form;
use crate::model::input::Input;
use crate::model::tag::Tag;

#[derive(Debug)]
pub struct Request {
    pub expected: Option<Expected>,
    pub body: Result<Input, BodyFault>,
}

/// In which state the caller believes the thing to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    Any,
    Tags(Vec<String>),
}

impl Request {
    /// Refuses if the thing is no longer as the caller expects it.
    pub fn unchanged(&self, thing: &impl Hash) -> Result<()> {
        unchanged(self.expected.as_ref(), thing)
    }

    /// The same for a thing that changes by itself: it is enough if what of it stays is as the caller expects it.
    pub fn unchanged_or_still(&self, thing: &impl Hash, still: &impl Hash) -> Result<()> {
        self.unchanged(thing).or_else(|_| self.unchanged(still))
    }

    /// For an operation without fields: what came along is only checked for being readable.
    pub fn asks_nothing(&self) -> Result<()> {
        self.form().map(drop)
    }

    pub fn form(&self) -> Result<Form<'_>> {
        match &self.body {
            Ok(object) => Ok(Form::new(object)),
            Err(fault) => Err(Error::Body(fault.clone())),
        }
    }
}

/// The same for what comes without a form.
pub fn unchanged(expected: Option<&Expected>, thing: &impl Hash) -> Result<()> {
    match expected {
        None | Some(Expected::Any) => Ok(()),
        Some(Expected::Tags(tags)) if tags.contains(&Tag::of(thing).to_string()) => Ok(()),
        Some(Expected::Tags(_)) => Err(Error::Stale),
    }
}
