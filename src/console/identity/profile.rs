//! The profile and the password of the user.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use maud::{Markup, html};

use crate::console::account::tabs;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Field, FormData, FormState, VERSION_FIELD};
use crate::console::layout::{redirect_with_notice, time};
use crate::console::visit::Visit;
use crate::model::entity_tag::EntityTag;
use crate::model::reason::{Code, Reason};
use crate::model::token::Secret;
use crate::model::user::User;
use crate::rules::caller::Caller;
use crate::rules::error::FieldError;
use crate::rules::passwords::Change;
use crate::rules::{self, Error};
use crate::web::hashing::PermitRequest;
use crate::web::login_throttle::{KnownClient, Source};
use crate::web::{App, cookies, login_attempts};

const PROFILE_URL: &str = "/account";
const OLD_PASSWORD: &str = "old_password";
const NEW_PASSWORD: &str = "password";
const CONFIRM_PASSWORD: &str = "again";

pub async fn view(State(app): State<App>, visit: Visit, caller: Caller) -> PageResult {
    let user = app.read(caller.clone(), rules::profile::view).await?;
    let page = ProfilePage::new(&user);
    Ok(page.render(&visit, &caller))
}

pub async fn update(State(app): State<App>, visit: Visit, caller: Caller, data: FormData) -> PageResult {
    let mut object = data.object(&["email", "timezone"]);
    object.push(data.checkbox("email_notifications"));
    let request = app.prepare(data.request(object));
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::profile::update(tx, caller, &request)
        })
        .await;
    let form_state = match changed {
        Ok(_) => return Ok(redirect_with_notice(PROFILE_URL, "profile-changed")),
        Err(error) => forms::from_error(data, error)?,
    };
    let user = app.read(caller.clone(), rules::profile::view).await?;
    let mut page = ProfilePage::new(&user);
    page.profile = form_state.with_version_of(&user.without_login());
    Ok(page.render(&visit, &caller))
}

/// Changes the password of the user. Wrong guesses of the current password are counted, so that an unattended
/// session allows no more guesses than the log-in page.
pub async fn change_password(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    data: FormData,
) -> PageResult {
    match try_change(&app, &caller, &data).await {
        Ok(Change::Done(session)) => {
            let mut response = redirect_with_notice(PROFILE_URL, "password-changed");
            cookies::set(response.headers_mut(), cookies::SESSION, &session);
            Ok(response)
        }
        Ok(Change::Refused {
            wrong: field_error,
            wait,
        }) => {
            let user = app.read(caller.clone(), rules::profile::view).await?;
            let mut page = ProfilePage::new(&user);
            let error = match wait {
                0 => Error::Refused(Vec::new()),
                wait => Error::TooMany { wait },
            };
            page.password =
                FormState::with_errors(FormData::default(), vec![field_error]).with_status_of(&error);
            let mut response = page.render(&visit, &caller);
            if wait > 0 {
                let wait = HeaderValue::from(wait);
                response.headers_mut().insert(header::RETRY_AFTER, wait);
            }
            Ok(response)
        }
        Err(other) => Err(other.into()),
    }
}

async fn try_change(app: &App, caller: &Caller, data: &FormData) -> rules::Result<Change> {
    let refused = |field: &str, text: &str| Change::Refused {
        wrong: FieldError::on(field, Reason::new(Code::ChoiceInvalid, text)),
        wait: 0,
    };
    if data.text(NEW_PASSWORD) != data.text(CONFIRM_PASSWORD) {
        return Ok(refused(CONFIRM_PASSWORD, "The passwords do not match"));
    }
    let secret = |name: &str| Secret::new(data.text(name).to_owned());
    let (old, new) = (secret(OLD_PASSWORD), secret(NEW_PASSWORD));
    // Validate the new password first, so that an invalid new password does not count as a failed attempt.
    let client = KnownClient::User(caller.user());
    let permit_request = PermitRequest::from_known(client);
    let new = match app
        .hash(permit_request, move || rules::passwords::hash(&new))
        .await?
    {
        Ok(hash) => hash,
        Err(Error::Refused(errors)) => {
            let first = errors.into_iter().next().ok_or(Error::NotFound)?;
            return Ok(Change::Refused {
                wrong: first,
                wait: 0,
            });
        }
        Err(other) => return Err(other),
    };
    let reservation = match login_attempts::reserve(app, Source::Known(client)) {
        Ok(reservation) => reservation,
        Err(wait) => {
            let text = format!("Too many failed attempts. Wait {wait} seconds, then try again");
            let wrong = FieldError::on(OLD_PASSWORD, Reason::new(Code::ChoiceInvalid, text));
            return Ok(Change::Refused { wrong, wait });
        }
    };
    let stored = app.read(caller.clone(), rules::passwords::own_hash).await?;
    let stored_copy = stored.clone();
    let is_correct = app
        .hash(permit_request, move || {
            rules::passwords::is_correct(&old, stored_copy.as_deref())
        })
        .await?;
    let Some(stored) = stored.filter(|_| is_correct) else {
        login_attempts::fail(app, reservation);
        return Ok(refused(OLD_PASSWORD, "The current password is incorrect"));
    };
    login_attempts::succeed(app, reservation);
    app.write(caller.clone(), move |tx, caller| {
        rules::passwords::change(tx, caller, &stored, &new)
    })
    .await
}

fn field<'a>(name: &'a str, label: &'a str, hint: &'a str) -> Field<'a> {
    Field {
        name,
        label,
        hint,
        ..Field::default()
    }
}

/// The page and the state of its two forms.
struct ProfilePage<'a> {
    user: &'a User,
    profile: FormState,
    password: FormState,
}

impl<'a> ProfilePage<'a> {
    fn new(user: &'a User) -> Self {
        let notified = if user.email_notifications { "true" } else { "" };
        let profile = FormState::prefilled(&[
            ("email", user.email.as_str()),
            ("timezone", &user.timezone),
            ("email_notifications", notified),
            (VERSION_FIELD, &EntityTag::of(&user.without_login()).to_string()),
        ]);
        Self {
            user,
            profile,
            password: FormState::default(),
        }
    }

    fn render(&self, visit: &Visit, caller: &Caller) -> Response {
        let user = self.user;
        let body = html! {
            (tabs(caller, PROFILE_URL))
            div .title { h1 { (user.username.as_str()) } }
            dl .facts {
                div { dt { "Permissions" } dd { @if user.restricted { "Restricted" } @else { "Full access" } } }
                div { dt { "Created" } dd { (time(user.created)) } }
                @if let Some(at) = user.password_created { div { dt { "Password set" } dd { (time(at)) } } }
                @if let Some(login) = &user.last_login { div { dt { "Last log-in" } dd { (time(login.at)) } } }
            }
            div .two-columns {
                section aria-labelledby="profile" { h2 #profile { "Profile" } (self.profile_form(visit)) }
                section aria-labelledby="password" { h2 #password { "Password" } (self.password_form(visit)) }
            }
        };
        visit.form_page(self.submitted_form(), "Profile", &[], &body)
    }

    /// The form that sets the status of the response.
    fn submitted_form(&self) -> &FormState {
        match self.password.errors.is_empty() {
            true => &self.profile,
            false => &self.password,
        }
    }

    fn profile_form(&self, visit: &Visit) -> Markup {
        let form_state = &self.profile;
        html! {
            (form_state.alert())
            form .card method="post" action=(PROFILE_URL) {
                (visit.form_token())
                (form_state.version_field())
                (forms::text_input(form_state, field("email", "E-mail", "")))
                (forms::text_input(form_state, field("timezone", "Time zone", "For example, Europe/Berlin. Available to API clients. The console uses your browser's time zone.")))
                (forms::checkbox(form_state, field("email_notifications", "E-mail notifications", "")))
                div .actions { button .main type="submit" { "Save" } }
            }
        }
    }

    fn password_form(&self, visit: &Visit) -> Markup {
        let form_state = &self.password;
        html! {
            (form_state.alert_with_labels(&[(NEW_PASSWORD, "New password")]))
            form .card method="post" action="/account/password" {
                (visit.form_token())
                (forms::password_input(form_state, field(OLD_PASSWORD, "Current password", ""), "current-password"))
                (forms::password_input(form_state, field(NEW_PASSWORD, "New password", "At least 11 characters."), "new-password"))
                (forms::password_input(form_state, field(CONFIRM_PASSWORD, "Confirm new password", ""), "new-password"))
                p .quiet { "This logs out your other sessions and revokes the access of applications that you authorized. Your tokens remain valid." }
                div .actions { button .main type="submit" { "Change password" } }
            }
        }
    }
}
