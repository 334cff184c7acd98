//! An operation of the API: its access requirements, headers and rate limit class. `api` has the table of
//! operations.

use std::sync::OnceLock;

use axum::handler::Handler;
use axum::http::{HeaderValue, Method};
use axum::middleware;
use axum::routing::{MethodFilter, MethodRouter, on};

use super::{App, insecure};
use crate::model::scope::{Level, Scope};
use crate::model::staff_role::StaffRole;
use crate::rules::caller::Requirements;

pub use super::limits::Class;

pub struct Operation {
    pub id: &'static str,
    pub method: Method,
    pub path: &'static str,
    pub base: Base,
    pub audience: Audience,
    pub scope: Option<Scope>,
    /// The lowest role of staff, for operations of staff.
    pub role: Option<StaffRole>,
    pub grant: Option<Needs>,
    pub class: Class,
    /// Whether users open the operation in a browser, so that its errors are pages.
    pub page: bool,
    pub route: MethodRouter<App>,
    accepted: OnceLock<HeaderValue>,
}

/// The base of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Under `/v4` and `/v4beta`.
    Versioned,
    /// At the root of the server.
    Root,
}

/// The audience of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    Public,
    Tenants,
    /// The provider's staff.
    Staff,
    /// The agents of hosts.
    Agents,
}

/// The grant that a restricted user needs. It is for documentation only: the rules enforce grants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    AccountReadOnly,
    AccountReadWrite,
    AddLinodes,
    AddVpcs,
    LinodeReadOnly,
    LinodeReadWrite,
    /// The operation is for unrestricted users only: no grant gives access to it.
    Unrestricted,
    VpcReadOnly,
    VpcReadWrite,
}

/// The handler of an operation, before it is bound to a method.
pub struct Handling(Box<dyn FnOnce(MethodFilter) -> MethodRouter<App>>);

/// Wraps a handler for the operation table.
pub fn handler<H, T>(handler: H) -> Handling
where
    H: Handler<T, App>,
    T: 'static,
{
    Handling(Box::new(move |filter| on(filter, handler)))
}

/// An operation for tenants at a versioned path, without a scope. The builder methods change these defaults.
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
        audience: Audience::Tenants,
        scope: None,
        role: None,
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

    /// Sets the requirements of an operation on a VPC or its parts. A read needs no scope. A change needs the
    /// scope `vpc:read_write`.
    pub fn on_vpc(self) -> Self {
        match self.method == Method::GET {
            true => self.needs(Needs::VpcReadOnly),
            false => self.scope(Scope::VPC_READ_WRITE).needs(Needs::VpcReadWrite),
        }
    }

    /// Sets the requirements of an operation on an instance or its parts.
    pub fn on_instance(self) -> Self {
        match self.method == Method::GET {
            true => self.scope(Scope::LINODES_READ_ONLY).needs(Needs::LinodeReadOnly),
            false => self
                .scope(Scope::LINODES_READ_WRITE)
                .needs(Needs::LinodeReadWrite),
        }
    }

    /// Sets the scope of an operation on the account itself.
    pub fn on_account(self) -> Self {
        match self.method == Method::GET {
            true => self.scope(Scope::ACCOUNT_READ_ONLY),
            false => self.scope(Scope::ACCOUNT_READ_WRITE),
        }
    }

    /// Sets the scope of an operation on a product that has its own family of scopes.
    pub fn of_family(self, family: &'static str) -> Self {
        match self.method == Method::GET {
            true => self.scope(Scope::new(family, Level::ReadOnly)),
            false => self.scope(Scope::new(family, Level::ReadWrite)),
        }
    }

    /// Sets the requirements of an operation on resources that the account's users share, such as tickets: a restricted
    /// user needs account access.
    pub fn with_account_access(self) -> Self {
        match self.method == Method::GET {
            true => self.on_account().needs(Needs::AccountReadOnly),
            false => self.on_account().needs(Needs::AccountReadWrite),
        }
    }

    /// Sets the requirements of an operation on the account's users or OAuth clients: only unrestricted users
    /// can use it.
    pub fn unrestricted(self) -> Self {
        self.on_account().needs(Needs::Unrestricted)
    }

    /// Makes the operation available to staff with this role or a higher one, instead of tenants.
    pub fn role(mut self, role: StaffRole) -> Self {
        self.audience = Audience::Staff;
        self.role = Some(role);
        self
    }

    /// Makes the operation of the desk available to all staff, instead of tenants.
    pub fn at_desk(mut self) -> Self {
        self = self.role(StaffRole::Support);
        match self.method == Method::GET {
            true => self.scope(Scope::DESK_READ_ONLY),
            false => self.scope(Scope::DESK_READ_WRITE),
        }
    }

    /// Makes the operation on hosts available to staff, instead of tenants: reads to all, changes to operators.
    pub fn on_hosts(self) -> Self {
        let role = match self.method == Method::GET {
            true => StaffRole::Support,
            false => StaffRole::Operator,
        };
        self.role(role).of_family("hosts")
    }

    /// Makes the operation of the provider's administration available to staff with this role or a higher one,
    /// instead of tenants.
    pub fn of_provider(self, role: StaffRole) -> Self {
        self.role(role).of_family("provider")
    }

    /// Makes the operation available to the agents of hosts, instead of tenants. It has no rate limit, because the
    /// provider runs the agents.
    pub fn for_agents(mut self) -> Self {
        self.audience = Audience::Agents;
        self.class(Class::Unlimited)
    }

    pub fn list(self) -> Self {
        self.class(Class::List)
    }

    pub fn class(mut self, class: Class) -> Self {
        self.class = class;
        self
    }

    pub fn public(mut self) -> Self {
        self.audience = Audience::Public;
        self
    }

    /// Moves the operation to the root of the server. It is then public and has no rate limit.
    pub fn at_root(mut self) -> Self {
        self.base = Base::Root;
        self.class = Class::Unlimited;
        self.public()
    }

    /// Moves the operation to the root of the server, with the rate limit of OAuth operations.
    pub fn oauth(self) -> Self {
        self.at_root().class(Class::Oauth)
    }

    /// Marks an operation that users open in a browser.
    pub fn page(mut self) -> Self {
        self.page = true;
        self.oauth()
    }

    /// Marks an operation that shows a password form, or that can redirect to such a form. The operation is
    /// refused over insecure connections.
    pub fn asks_password(mut self) -> Self {
        self.route = self.route.layer(middleware::from_fn(insecure::refuse));
        self
    }

    /// What the access check requires of the principal.
    pub fn requirements(&self) -> Requirements {
        Requirements {
            scope: self.scope,
            role: self.role,
        }
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
