//! Creates and renames users, within the limit of `taken_names.rs`.

use crate::model::input::Input;
use crate::model::reason::Code;
use crate::model::user::User;
use crate::rules::caller::Caller;
use crate::rules::error::FieldError;
use crate::rules::request::Request;
use crate::rules::{Error, Result, users};
use crate::store::WriteTx;
use crate::web::App;
use crate::web::taken_names::Attempt;

/// Creates a user in the caller's account.
pub async fn add_user(app: &App, caller: Caller, request: Request) -> Result<User> {
    let add = move |tx: &mut WriteTx, caller: &Caller| users::add(tx, caller, &request);
    write(app, caller, add).await
}

/// Changes a user of the caller's account.
pub async fn update_user(app: &App, caller: Caller, username: String, request: Request) -> Result<User> {
    let renames = renames(&request, &username);
    let update = move |tx: &mut WriteTx, caller: &Caller| users::update(tx, caller, &username, &request);
    match renames {
        true => write(app, caller, update).await,
        false => app.write(caller, update).await,
    }
}

/// Runs a rule that sets a username, unless the account has tried too many taken names.
async fn write(
    app: &App,
    caller: Caller,
    work: impl Fn(&mut WriteTx, &Caller) -> Result<User> + Send + 'static,
) -> Result<User> {
    let attempt = Attempt::reserve(app.taken_names(), &app.store().context().clock, caller.account)?;
    let outcome = app.write(caller, work).await;
    let is_taken = |error: &FieldError| error.code == Code::UsernameTaken;
    if matches!(&outcome, Err(Error::Refused(errors)) if errors.iter().any(is_taken)) {
        attempt.found_taken();
    }
    outcome
}

/// Whether a request changes the username.
fn renames(request: &Request, username: &str) -> bool {
    let new_name = request.body.as_ref().ok().and_then(|body| body.get("username"));
    matches!(new_name, Some(Input::Text(new_name)) if !new_name.eq_ignore_ascii_case(username))
}
