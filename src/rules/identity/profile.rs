//! The caller's own profile and preferences.

use crate::model::event::Action;
use crate::model::input::Input;
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::text::Line;
use crate::model::user::{Email, User};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::event_changes;
use crate::rules::events;
use crate::rules::form::{Form, one_of};
use crate::rules::request::{Drafted, FromForm, Request};
use crate::store::{self, ReadTx, WriteTx};

/// The maximum size of the preferences as JSON, in bytes.
const MAX_PREFERENCES_BYTES: usize = 64 * 1024;
/// An SSH public key on one line.
type PublicKey = Line<16384>;
const LISH_AUTH_METHODS: [&str; 3] = ["password_keys", "keys_only", "disabled"];

pub fn view(tx: &mut ReadTx, caller: &Caller) -> Result<User> {
    store::users::find_by_id(tx, caller.user())?.ok_or(Error::Unauthenticated)
}

/// A change of a profile.
#[derive(Clone, Debug)]
pub struct Change {
    email: Option<Email>,
    timezone: Option<String>,
    email_notifications: Option<bool>,
    lish_auth_method: Option<String>,
    /// One key per line.
    authorized_keys: Option<String>,
}

impl FromForm for Change {
    fn read(form: &mut Form, _: &Policy) -> Self {
        let email = form.optional("email", Email::parse);
        let timezone = form.optional("timezone", parse_timezone);
        let email_notifications = form.boolean("email_notifications");
        let lish_auth_method = form.optional("lish_auth_method", parse_lish);
        let keys = form.values("authorized_keys", "a string", |key| match key {
            Input::Text(key) => Some(PublicKey::parse(key)),
            _ => None,
        });
        Self {
            email,
            timezone,
            email_notifications,
            lish_auth_method,
            authorized_keys: keys.map(|keys| join(&keys)),
        }
    }
}

pub fn update(tx: &mut WriteTx, caller: &Caller, request: &Drafted<Change>) -> Result<User> {
    let mut user = view(tx, caller)?;
    request.check_if_match_or_stable(&user, &user.without_login())?;
    let (change, form) = request.open()?;
    form.finish(|| Some(()))?;

    let (change, before) = (change.clone(), user.clone());
    user.email = change.email.unwrap_or(user.email);
    user.timezone = change.timezone.unwrap_or(user.timezone);
    user.email_notifications = change.email_notifications.unwrap_or(user.email_notifications);
    user.lish_auth_method = change.lish_auth_method.unwrap_or(user.lish_auth_method);
    user.authorized_keys = change.authorized_keys.or(user.authorized_keys);
    store::users::update(tx, &user)?;
    let changes = event_changes::of_user(&before, &user);
    events::record_account_update(tx, caller, Action::ProfileUpdate, None, &changes)?;
    Ok(user)
}

/// The caller's preferences, as the JSON object that a client stored.
pub fn preferences(tx: &mut ReadTx, caller: &Caller) -> Result<String> {
    Ok(store::users::preferences(tx, caller.user())?)
}

/// Replaces the preferences. `json` is the object of the request.
pub fn set_preferences(tx: &mut WriteTx, caller: &Caller, request: &Request, json: &str) -> Result<String> {
    request.check_if_match(&preferences(tx, caller)?)?;
    request.require_valid_body()?;
    if json.len() > MAX_PREFERENCES_BYTES {
        let text = format!("Preferences must be at most {MAX_PREFERENCES_BYTES} bytes");
        let reason = Reason::new(Code::PreferencesTooLarge, text);
        return Err(Error::whole(reason));
    }
    store::users::set_preferences(tx, caller.user(), json)?;
    Ok(json.to_owned())
}

fn join(keys: &[PublicKey]) -> String {
    let lines: Vec<_> = keys.iter().map(PublicKey::as_str).collect();
    lines.join("\n")
}

/// Parses the name of a time zone, such as `Europe/Berlin`. Checks only the format, because no rule uses the
/// time zone.
fn parse_timezone(raw: &str) -> Result<String, Reasons> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '-' | '+');
    match (1..=64).contains(&raw.len()) && raw.chars().all(is_allowed) {
        true => Ok(raw.to_owned()),
        false => {
            let text = "Must be the name of a time zone, such as Europe/Berlin";
            Err(vec![Reason::new(Code::TimezoneInvalid, text)])
        }
    }
}

fn parse_lish(raw: &str) -> Result<String, Reasons> {
    one_of(raw, &LISH_AUTH_METHODS).map(str::to_owned)
}
