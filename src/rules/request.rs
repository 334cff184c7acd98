//! What a caller sent along, looked into only when its turn comes.
//!
//! Whether a caller may touch a thing is answered before what it wants to do with it, so a rule
//! first loads the thing, then asks `unchanged`, then opens the `form`.
//!
//! A body that may have lists is read before the transaction, as a draft: the writer has one thread for all callers, and
//! how long a list is one of them decides. What is wrong with it is still answered only when the rule opens it.

use std::hash::Hash;

use super::complaints::Complaints;
use super::error::{BodyFault, Error, Result};
use super::form::Form;
use crate::model::input::Input;
use crate::model::policy::Policy;
use crate::model::tag::Tag;

#[derive(Debug)]
pub struct Request {
    pub expected: Option<Expected>,
    pub body: Result<Input, BodyFault>,
}

/// What the fields of a body say by themselves. Reading them takes settings, but never the store.
pub trait FromForm: Sized {
    fn read(form: &mut Form, policy: &Policy) -> Self;
}

/// What a rule takes of a request: the request as it is, or a draft.
pub trait Prepared: Send + 'static {
    fn prepare(request: Request, policy: &Policy) -> Self;
}

impl Prepared for Request {
    fn prepare(request: Request, _: &Policy) -> Self {
        request
    }
}

/// A request whose body was read before the transaction.
#[derive(Debug)]
pub struct Drafted<D> {
    expected: Option<Expected>,
    body: Result<(D, Complaints), BodyFault>,
}

impl<D: FromForm + Send + 'static> Prepared for Drafted<D> {
    fn prepare(request: Request, policy: &Policy) -> Self {
        let read = |object: Input| {
            let mut form = Form::new(&object);
            let draft = D::read(&mut form, policy);
            (draft, form.into_complaints())
        };
        Self {
            expected: request.expected,
            body: request.body.map(read),
        }
    }
}

impl<D> Drafted<D> {
    /// Refuses if the thing is no longer as the caller expects it.
    pub fn unchanged(&self, thing: &impl Hash) -> Result<()> {
        unchanged(self.expected.as_ref(), thing)
    }

    /// The same for a thing that changes by itself: it is enough if what of it stays is as the caller expects it.
    pub fn unchanged_or_still(&self, thing: &impl Hash, still: &impl Hash) -> Result<()> {
        self.unchanged(thing).or_else(|_| self.unchanged(still))
    }

    /// The draft, and the form that keeps the complaints about it.
    pub fn open(&self) -> Result<(&D, Form<'static>)> {
        match &self.body {
            Ok((draft, complaints)) => Ok((draft, Form::resumed(complaints.clone()))),
            Err(fault) => Err(Error::Body(fault.clone())),
        }
    }
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
