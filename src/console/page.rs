//! An entry of the table of pages: path, audience and handler.

use axum::handler::Handler;
use axum::http::Method;
use axum::middleware;
use axum::routing::{MethodFilter, MethodRouter, on};

use crate::web::operation::{Audience, Class};
use crate::web::{App, insecure};

/// A page, or the target of a form.
pub struct Page {
    pub id: &'static str,
    pub method: Method,
    pub path: &'static str,
    pub who: Audience,
    pub class: Class,
    pub route: MethodRouter<App>,
}

pub fn page<H, T>(id: &'static str, method: &Method, path: &'static str, handler: H) -> Page
where
    H: Handler<T, App>,
    T: 'static,
{
    let filter = MethodFilter::try_from(method.clone()).expect("the table uses plain methods");
    Page {
        id,
        method: method.clone(),
        path,
        who: Audience::Tenants,
        class: Class::Command,
        route: on(filter, handler),
    }
}

impl Page {
    /// The page has a password form, or is the target of one: it needs a secure connection.
    pub fn has_password_form(mut self) -> Self {
        self.route = self.route.layer(middleware::from_fn(insecure::refuse));
        self
    }

    pub fn everybody(mut self) -> Self {
        self.who = Audience::Public;
        self
    }

    pub fn staff(mut self) -> Self {
        self.who = Audience::Staff;
        self
    }

    pub fn class(mut self, class: Class) -> Self {
        self.class = class;
        self
    }
}
