//! An entry of the table of pages: path, audience and handler.

use axum::handler::Handler;
use axum::http::Method;
use axum::middleware;
use axum::routing::{self, MethodRouter};

use crate::model::staff_role::StaffRole;
use crate::web::operation::{Audience, Class};
use crate::web::{App, insecure};

/// A page, or the target of a form.
pub struct Page {
    pub id: &'static str,
    pub method: Method,
    pub path: &'static str,
    pub audience: Audience,
    /// The lowest role of staff, for pages of staff.
    pub role: Option<StaffRole>,
    pub class: Class,
    /// Whether the form can have files.
    pub has_files: bool,
    /// Whether the form can have small files, which are read into memory.
    pub has_small_files: bool,
    pub route: MethodRouter<App>,
}

/// A page that is loaded with GET.
pub fn get<T: 'static>(id: &'static str, path: &'static str, handler: impl Handler<T, App>) -> Page {
    new(id, Method::GET, path, routing::get(handler))
}

/// The target of a form.
pub fn post<T: 'static>(id: &'static str, path: &'static str, handler: impl Handler<T, App>) -> Page {
    new(id, Method::POST, path, routing::post(handler))
}

fn new(id: &'static str, method: Method, path: &'static str, route: MethodRouter<App>) -> Page {
    Page {
        id,
        method,
        path,
        audience: Audience::Tenants,
        role: None,
        class: Class::Command,
        has_files: false,
        has_small_files: false,
        route,
    }
}

impl Page {
    /// Requires a secure connection, because the page has a password form or is the target of a password
    /// form.
    pub fn has_password_form(mut self) -> Self {
        self.route = self.route.layer(middleware::from_fn(insecure::refuse));
        self
    }

    pub fn public(mut self) -> Self {
        self.audience = Audience::Public;
        self
    }

    /// Makes the page available to all staff, instead of tenants.
    pub fn staff(self) -> Self {
        self.role(StaffRole::Support)
    }

    /// Makes the page available to staff with this role or a higher one, instead of tenants.
    pub fn role(mut self, role: StaffRole) -> Self {
        self.audience = Audience::Staff;
        self.role = Some(role);
        self
    }

    /// Accepts forms with files: `FormData` has their fields, and `FormFiles` their files.
    pub fn with_files(mut self) -> Self {
        self.has_files = true;
        self
    }

    /// Accepts forms with small files: `FormData` has their fields, and `SmallFiles` their files.
    pub fn with_small_files(mut self) -> Self {
        self.has_small_files = true;
        self
    }

    pub fn class(mut self, class: Class) -> Self {
        self.class = class;
        self
    }
}
