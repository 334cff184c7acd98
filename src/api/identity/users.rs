//! JSON views of users.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::model::user::{Login, User};
use crate::rules::Result;
use crate::rules::caller::Caller;
use crate::rules::request::Request;
use crate::web::extract::At;
use crate::web::{App, answer, user_names};

#[derive(Serialize)]
struct UserView<'a> {
    username: &'a str,
    email: &'a str,
    restricted: bool,
    ssh_keys: &'a [String],
    tfa_enabled: bool,
    verified_phone_number: Option<&'static str>,
    #[serde(serialize_with = "answer::optional_time")]
    password_created: Option<Time>,
    last_login: Option<LoginView<'a>>,
    user_type: &'static str,
}

#[derive(Serialize)]
struct LoginView<'a> {
    #[serde(serialize_with = "answer::time")]
    login_datetime: Time,
    status: &'a str,
}

impl<'a> UserView<'a> {
    fn new(user: &'a User) -> Self {
        let login = |login: &'a Login| LoginView {
            login_datetime: login.at,
            status: &login.status,
        };
        Self {
            username: user.username.as_str(),
            email: user.email.as_str(),
            restricted: user.restricted,
            ssh_keys: &user.ssh_keys,
            tfa_enabled: false,
            verified_phone_number: None,
            password_created: user.password_created,
            last_login: user.last_login.as_ref().map(login),
            user_type: "default",
        }
    }
}

pub async fn create(State(app): State<App>, caller: Caller, request: Request) -> Result<Response> {
    let user = user_names::add_user(&app, caller, request).await?;
    Ok(answer::one(&user, &UserView::new(&user)))
}

pub async fn update(
    State(app): State<App>,
    caller: Caller,
    At(username): At<String>,
    request: Request,
) -> Result<Response> {
    let user = user_names::update_user(&app, caller, username, request).await?;
    Ok(answer::one(&user, &UserView::new(&user)))
}

pub fn one(user: &User, _: &ViewContext) -> Response {
    answer::one(user, &UserView::new(user))
}

pub fn page(users: &Paged<User>, _: &ViewContext) -> Response {
    answer::page(users, UserView::new)
}
