//! A request as rules see it: the body and `If-Match`.
//!
//! Access is checked before the body is validated. So a rule first loads the object, then calls
//! `check_if_match`, then opens the `form`.
//!
//! A body with lists is parsed before the transaction, as a draft: the single writer thread must not spend
//! time on lists whose length a client chooses. The errors of a draft are reported only when the rule opens
//! the draft.

use std::hash::Hash;

use super::error::{BodyFault, Error, Result};
use super::field_errors::FieldErrors;
use super::form::Form;
use crate::model::entity_tag::EntityTag;
use crate::model::input::Input;
use crate::model::policy::Policy;

#[derive(Debug)]
pub struct Request {
    pub expected: Option<Expected>,
    pub body: Result<Input, BodyFault>,
}

impl Request {
    /// A request without `If-Match` and without fields.
    pub fn empty() -> Self {
        Self::with_fields::<String>([])
    }

    /// A request without `If-Match`.
    pub fn with_fields<N: Into<String>>(fields: impl IntoIterator<Item = (N, Input)>) -> Self {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), value));
        Self {
            expected: None,
            body: Ok(Input::Object(fields.collect())),
        }
    }
}

/// Parses the fields of a body. An implementation can use the policy, but not the store.
pub trait FromForm: Sized {
    fn read(form: &mut Form, policy: &Policy) -> Self;
}

/// The input of a rule: the request itself, or a draft.
pub trait Prepared: Send + 'static {
    fn prepare(request: Request, policy: &Policy) -> Self;
}

impl Prepared for Request {
    fn prepare(request: Request, _: &Policy) -> Self {
        request
    }
}

/// A request whose body was parsed before the transaction.
#[derive(Debug)]
pub struct Drafted<D> {
    expected: Option<Expected>,
    body: Result<(D, FieldErrors), BodyFault>,
}

impl<D: FromForm + Send + 'static> Prepared for Drafted<D> {
    fn prepare(request: Request, policy: &Policy) -> Self {
        let read = |object: Input| {
            let mut form = Form::new(&object);
            let draft = D::read(&mut form, policy);
            (draft, form.into_errors())
        };
        Self {
            expected: request.expected,
            body: request.body.map(read),
        }
    }
}

impl<D> Drafted<D> {
    /// Fails if the object has changed since the caller read it.
    pub fn check_if_match(&self, object: &impl Hash) -> Result<()> {
        check_if_match(self.expected.as_ref(), object)
    }

    /// Like `check_if_match`, but also succeeds if `stable` matches. `stable` is the object without the
    /// fields that change without an update.
    pub fn check_if_match_or_stable(&self, object: &impl Hash, stable: &impl Hash) -> Result<()> {
        self.check_if_match(object)
            .or_else(|_| self.check_if_match(stable))
    }

    /// The draft, and a form with its errors.
    pub fn open(&self) -> Result<(&D, Form<'static>)> {
        match &self.body {
            Ok((draft, errors)) => Ok((draft, Form::resumed(errors.clone()))),
            Err(fault) => Err(Error::Body(fault.clone())),
        }
    }
}

/// The state that the caller expects (`If-Match`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    Any,
    Tags(Vec<String>),
}

impl Request {
    /// Fails if the object has changed since the caller read it.
    pub fn check_if_match(&self, object: &impl Hash) -> Result<()> {
        check_if_match(self.expected.as_ref(), object)
    }

    /// Like `check_if_match`, but also succeeds if `stable` matches. `stable` is the object without the
    /// fields that change without an update.
    pub fn check_if_match_or_stable(&self, object: &impl Hash, stable: &impl Hash) -> Result<()> {
        self.check_if_match(object)
            .or_else(|_| self.check_if_match(stable))
    }

    /// For an operation without fields: only checks that the body can be read.
    pub fn require_valid_body(&self) -> Result<()> {
        self.form().map(drop)
    }

    pub fn form(&self) -> Result<Form<'_>> {
        match &self.body {
            Ok(object) => Ok(Form::new(object)),
            Err(fault) => Err(Error::Body(fault.clone())),
        }
    }
}

/// Checks `If-Match`, for requests that have no form.
pub fn check_if_match(expected: Option<&Expected>, object: &impl Hash) -> Result<()> {
    match expected {
        None | Some(Expected::Any) => Ok(()),
        Some(Expected::Tags(tags)) if tags.contains(&EntityTag::of(object).to_string()) => Ok(()),
        Some(Expected::Tags(_)) => Err(Error::Stale),
    }
}
