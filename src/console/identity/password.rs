//! Changing a password: the form that tenants and staff share, and the page of staff.

use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use maud::{Markup, html};

use crate::console::error_page::PageResult;
use crate::console::forms::{self, Field, FormData, FormState};
use crate::console::layout::redirect_with_notice;
use crate::console::mail_choices;
use crate::console::visit::Visit;
use crate::model::client::Client;
use crate::model::reason::{Code, Reason};
use crate::model::token::Secret;
use crate::rules::agent::Staff;
use crate::rules::caller::Principal;
use crate::rules::error::FieldError;
use crate::rules::passwords::{Change, Hashes};
use crate::rules::{self, Error, Result};
use crate::store::WriteTx;
use crate::web::hashing::PermitRequest;
use crate::web::login_throttle::{KnownClient, Source};
use crate::web::{App, cookies, login_attempts};

/// The title of the page of the user, for tenants and for staff.
pub const PROFILE_TITLE: &str = "Your profile";
const STAFF_URL: &str = "/desk/password";
const STAFF_NOTE: &str = "This logs out your other sessions. Your tokens remain valid.";
const OLD_PASSWORD: &str = "old_password";
const NEW_PASSWORD: &str = "password";
const CONFIRM_PASSWORD: &str = "again";

/// The page of a member of staff.
pub async fn staff_page(State(app): State<App>, visit: Visit, _: Staff) -> PageResult {
    Ok(render_staff_page(&app, &visit, &FormState::default()))
}

pub async fn change_of_staff(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    parts: Parts,
    data: FormData,
) -> PageResult {
    match try_change(&app, &staff, &parts, &data, rules::passwords::change_of_staff).await? {
        Change::Done(session) => {
            let mut response = redirect_with_notice(STAFF_URL, "password-changed");
            cookies::set(response.headers_mut(), cookies::SESSION, &session);
            Ok(response)
        }
        Change::Refused { wrong, wait } => {
            let page = render_staff_page(&app, &visit, &refused_form(wrong, wait));
            Ok(with_wait(page, wait))
        }
    }
}

fn render_staff_page(app: &App, visit: &Visit, form_state: &FormState) -> Response {
    let body = html! {
        div .title { h1 { (PROFILE_TITLE) } }
        dl .facts {
            div { dt { "Username" } dd { (visit.username) } }
            @if let Some(role) = visit.role { div { dt { "Role" } dd { (role.word()) } } }
        }
        div .two-columns {
            section aria-labelledby="password" { h2 #password { "Password" } (form(visit, form_state, STAFF_URL, STAFF_NOTE)) }
            div { (mail_choices::link(app)) }
        }
    };
    visit.form_page(form_state, PROFILE_TITLE, &[("Desk", "/desk")], &body)
}

/// The form. `note` describes the other effects of a change.
pub fn form(visit: &Visit, form_state: &FormState, url: &str, note: &str) -> Markup {
    let field = |name, label, hint| Field {
        name,
        label,
        hint,
        ..Field::default()
    };
    html! {
        (form_state.alert_with_labels(&[(NEW_PASSWORD, "New password")]))
        form .card method="post" novalidate action=(url) {
            (visit.form_token())
            (forms::password_input(form_state, field(OLD_PASSWORD, "Current password", ""), "current-password"))
            (forms::password_input(form_state, field(NEW_PASSWORD, "New password", "At least 11 characters."), "new-password"))
            (forms::password_input(form_state, field(CONFIRM_PASSWORD, "Confirm new password", ""), "new-password"))
            p .quiet { (note) }
            div .actions { button .main type="submit" { "Change password" } }
        }
    }
}

/// The form after a refusal. `wait` is the number of seconds until the next attempt.
pub fn refused_form(wrong: FieldError, wait: u64) -> FormState {
    let error = match wait {
        0 => Error::Refused(Vec::new()),
        wait => Error::TooMany { wait },
    };
    FormState::with_errors(FormData::default(), vec![wrong]).with_status_of(&error)
}

/// Adds the number of seconds until the next attempt to a response.
pub fn with_wait(mut response: Response, wait: u64) -> Response {
    if wait > 0 {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(wait));
    }
    response
}

/// Changes the password of the user with the rule `change`. Wrong guesses of the current password are counted, so that
/// an unattended session allows no more guesses than the log-in page.
pub async fn try_change<P: Principal>(
    app: &App,
    principal: &P,
    parts: &Parts,
    data: &FormData,
    change: fn(&mut WriteTx, &P, &Hashes, &Client) -> Result<Change>,
) -> Result<Change> {
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
    let client = KnownClient::User(principal.identity().user);
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
    let stored = app.read(principal.clone(), rules::passwords::own_hash).await?;
    let stored_copy = stored.clone();
    let is_correct = app
        .hash(permit_request, move || {
            rules::passwords::is_correct(&old, stored_copy.as_deref())
        })
        .await?;
    let Some(old) = stored.filter(|_| is_correct) else {
        login_attempts::fail(app, reservation);
        return Ok(refused(OLD_PASSWORD, "The current password is incorrect"));
    };
    login_attempts::succeed(app, reservation);
    let hashes = Hashes { old, new };
    let address = login_attempts::client_address(&parts.extensions);
    let client = login_attempts::describe_client(app, &parts.headers, address);
    app.write(principal.clone(), move |tx, principal| {
        change(tx, principal, &hashes, &client)
    })
    .await
}
