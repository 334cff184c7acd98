//! An operation: what the access check, the headers and the rate limits need to know of it. The table of them is the API's.

use std::sync::OnceLock;

use axum::handler::Handler;
use axum::http::{HeaderValue, Method};
use axum::middleware;
use axum::routing::{MethodFilter, MethodRouter, on};

use super::{App, insecure};
use crate::model::scope::Scope;

pub use super::limits::Class;

pub struct Operation {
    pub id: &'static str,
    pub method: Method,
    pub path: &'static str,
    pub base: Base,
    pub who: Who,
    pub scope: Option<Scope>,
    pub grant: Option<Needs>,
    pub class: Class,
    /// Whether people see its answers, in a browser.
    pub page: bool,
    pub route: MethodRouter<App>,
    accepted: OnceLock<HeaderValue>,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Under `/v4` and `/v4beta`.
    Versioned,
    /// At the root of the server.
    Root,
}

/// Who an operation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Everybody,
    Tenants,
    /// The provider's staff, at the desk.
    Staff,
}

/// What a restricted user must have been granted. The rules check it; here it is documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    AccountReadOnly,
    AccountReadWrite,
    AddLinodes,
    AddVpcs,
    LinodeReadOnly,
    LinodeReadWrite,
    /// No grant opens it: only an unrestricted user may.
    Unrestricted,
    VpcReadOnly,
    VpcReadWrite,
}

/// How requests for an operation are handled, whatever its method.
pub struct Handling(Box<dyn FnOnce(MethodFilter) -> MethodRouter<App>>);

/// A handler, as a line of the table takes it.
pub fn handler<H, T>(handler: H) -> Handling
where
    H: Handler<T, App>,
    T: 'static,
{
    Handling(Box::new(move |filter| on(filter, handler)))
}

/// An operation of tenants at a versioned path, until its line says otherwise.
fn operation(
    (method, filter): (Method, MethodFilter),
    id: &'static str,
    path: &'static str,
    handling: Handling,
) -> Operation {
    Operation {
        id,
        method,
        path,
        base: Base::Versioned,
        who: Who::Tenants,
        scope: None,
        grant: None,
        class: Class::Command,
        page: false,
        route: (handling.0)(filter),
        accepted: OnceLock::new(),
    }
}

pub fn get(id: &'static str, path: &'static str, handling: Handling) -> Operation {
    operation((Method::GET, MethodFilter::GET), id, path, handling)
}

pub fn post(id: &'static str, path: &'static str, handling: Handling) -> Operation {
    operation((Method::POST, MethodFilter::POST), id, path, handling)
}

pub fn put(id: &'static str, path: &'static str, handling: Handling) -> Operation {
    operation((Method::PUT, MethodFilter::PUT), id, path, handling)
}

pub fn delete(id: &'static str, path: &'static str, handling: Handling) -> Operation {
    operation((Method::DELETE, MethodFilter::DELETE), id, path, handling)
}

impl Operation {
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    pub fn needs(mut self, grant: Needs) -> Self {
        self.grant = Some(grant);
        self
    }

    /// It concerns a VPC or what is in it: any token may look, changing takes a scope.
    pub fn on_vpc(self) -> Self {
        match self.method == Method::GET {
            true => self.needs(Needs::VpcReadOnly),
            false => self.scope(Scope::VPC_READ_WRITE).needs(Needs::VpcReadWrite),
        }
    }

    /// It concerns an instance or what it has: looking takes less than changing.
    pub fn on_instance(self) -> Self {
        match self.method == Method::GET {
            true => self.scope(Scope::LINODES_READ_ONLY).needs(Needs::LinodeReadOnly),
            false => self
                .scope(Scope::LINODES_READ_WRITE)
                .needs(Needs::LinodeReadWrite),
        }
    }

    /// It concerns the account itself.
    pub fn on_account(self) -> Self {
        match self.method == Method::GET {
            true => self.scope(Scope::ACCOUNT_READ_ONLY),
            false => self.scope(Scope::ACCOUNT_READ_WRITE),
        }
    }

    /// It concerns what the account's users share, such as its tickets: a restricted user needs
    /// access to the account.
    pub fn with_account_access(self) -> Self {
        match self.method == Method::GET {
            true => self.on_account().needs(Needs::AccountReadOnly),
            false => self.on_account().needs(Needs::AccountReadWrite),
        }
    }

    /// It concerns the account's users or programs, which no grant opens.
    pub fn unrestricted(self) -> Self {
        self.on_account().needs(Needs::Unrestricted)
    }

    /// It is for the provider's staff, at the desk.
    pub fn at_desk(mut self) -> Self {
        self.who = Who::Staff;
        match self.method == Method::GET {
            true => self.scope(Scope::DESK_READ_ONLY),
            false => self.scope(Scope::DESK_READ_WRITE),
        }
    }

    pub fn list(self) -> Self {
        self.class(Class::List)
    }

    pub fn class(mut self, class: Class) -> Self {
        self.class = class;
        self
    }

    pub fn everybody(mut self) -> Self {
        self.who = Who::Everybody;
        self
    }

    pub fn at_root(mut self) -> Self {
        self.base = Base::Root;
        self.class = Class::Unlimited;
        self.everybody()
    }

    pub fn oauth(self) -> Self {
        self.at_root().class(Class::Oauth)
    }

    /// It is a page for people.
    pub fn page(mut self) -> Self {
        self.page = true;
        self.oauth()
    }

    /// It is, or may lead to, a form for a password.
    pub fn asks_password(mut self) -> Self {
        self.route = self.route.layer(middleware::from_fn(insecure::refuse));
        self
    }

    /// The path from the root of the server.
    pub fn full_path(&self) -> String {
        match self.base {
            Base::Versioned => format!("/v4{}", self.path),
            Base::Root => self.path.to_owned(),
        }
    }

    /// The value of `X-Accepted-OAuth-Scopes`.
    pub fn accepted_scopes(&self) -> &HeaderValue {
        self.accepted.get_or_init(|| match self.scope {
            None => HeaderValue::from_static("*"),
            Some(scope) => HeaderValue::try_from(scope.to_string()).expect("a scope is plain ASCII"),
        })
    }
}
