//! A limit for learning which usernames are taken, on each node for itself.
//!
//! Usernames are one namespace for all accounts and the staff, so a refused name says that someone has it. An account may
//! learn that only so often.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::model::id::AccountId;
use crate::model::input::Input;
use crate::model::reason::Code;
use crate::model::user::User;
use crate::rules::caller::Caller;
use crate::rules::error::FieldError;
use crate::rules::request::Request;
use crate::rules::{Error, Result, users};
use crate::store::WriteTx;
use crate::web::App;
use crate::web::throttle::{Failures, Rate, seconds};

const HOUR: Duration = Duration::from_secs(3600);
/// 20 taken names, then none until an hour has passed.
const RATE: Rate = Rate {
    free_failures: 20,
    first_wait: HOUR,
    max_wait: HOUR,
    forgotten_after: HOUR,
};
const MAX_ACCOUNTS: usize = 20_000;

pub struct TakenNames(Mutex<Failures<AccountId>>);

impl Default for TakenNames {
    fn default() -> Self {
        Self(Mutex::new(Failures::new(RATE, MAX_ACCOUNTS)))
    }
}

impl TakenNames {
    fn lock(&self) -> MutexGuard<'_, Failures<AccountId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a user of the caller's account.
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

/// Runs a rule that gives a user a name, unless the account has met too many taken names.
async fn write(
    app: &App,
    caller: Caller,
    work: impl Fn(&mut WriteTx, &Caller) -> Result<User> + Send + 'static,
) -> Result<User> {
    let attempt = Attempt::reserve(app, caller.account)?;
    let made = app.write(caller, work).await;
    let is_taken = |wrong: &FieldError| wrong.code == Code::UsernameTaken;
    if matches!(&made, Err(Error::Refused(wrong)) if wrong.iter().any(is_taken)) {
        attempt.found_taken();
    }
    made
}

/// Whether a request would give a user another name.
fn renames(request: &Request, username: &str) -> bool {
    let wanted = request.body.as_ref().ok().and_then(|body| body.get("username"));
    matches!(wanted, Some(Input::Text(wanted)) if !wanted.eq_ignore_ascii_case(username))
}

/// An attempt in progress. Parallel ones count, so that they cannot exceed the limit.
struct Attempt<'a> {
    app: &'a App,
    account: AccountId,
    settled: bool,
}

impl<'a> Attempt<'a> {
    fn reserve(app: &'a App, account: AccountId) -> Result<Self> {
        let (mut names, now) = (app.taken_names().lock(), now(app));
        let wait = names.wait(&account, now);
        if !wait.is_zero() || !names.reserve(account, now) {
            let wait = seconds(wait).max(1);
            return Err(Error::TooMany { wait });
        }
        let settled = false;
        Ok(Self {
            app,
            account,
            settled,
        })
    }

    fn found_taken(mut self) {
        self.settled = true;
        self.app.taken_names().lock().fail(&self.account, now(self.app));
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.settled {
            self.app
                .taken_names()
                .lock()
                .release(&self.account, now(self.app));
        }
    }
}

fn now(app: &App) -> Duration {
    app.store().world().clock.monotonic()
}
