//! JSON views of the provider's staff.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::page::Paged;
use crate::model::staff_role::StaffRole;
use crate::model::time::Time;
use crate::model::user::User;
use crate::web::answer;

#[derive(Serialize)]
struct StaffView<'a> {
    username: &'a str,
    email: &'a str,
    role: Option<&'static str>,
    disabled: bool,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::optional_time")]
    last_login: Option<Time>,
}

impl<'a> StaffView<'a> {
    fn new(user: &'a User) -> Self {
        Self {
            username: user.username.as_str(),
            email: user.email.as_str(),
            role: user.role.map(StaffRole::word),
            disabled: user.disabled,
            created: user.created,
            last_login: user.last_login.as_ref().map(|login| login.at),
        }
    }
}

pub fn one(user: &User, _: &ViewContext) -> Response {
    answer::one(user, &StaffView::new(user))
}

pub fn page(users: &Paged<User>, _: &ViewContext) -> Response {
    answer::page(users, StaffView::new)
}
