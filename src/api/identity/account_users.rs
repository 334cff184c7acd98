//! JSON views of the users of an account for the provider's administration.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::model::user::User;
use crate::web::answer;

#[derive(Serialize)]
struct AccountUserView<'a> {
    username: &'a str,
    email: &'a str,
    restricted: bool,
    disabled: bool,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::optional_time")]
    last_login: Option<Time>,
}

impl<'a> AccountUserView<'a> {
    fn new(user: &'a User) -> Self {
        Self {
            username: user.username.as_str(),
            email: user.email.as_str(),
            restricted: user.restricted,
            disabled: user.disabled,
            created: user.created,
            last_login: user.last_login.as_ref().map(|login| login.at),
        }
    }
}

pub fn one(user: &User, _: &ViewContext) -> Response {
    answer::one(user, &AccountUserView::new(user))
}

pub fn page(users: &Paged<User>, _: &ViewContext) -> Response {
    answer::page(users, AccountUserView::new)
}
