//! The page of one's own profile, and of one's password.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use maud::{Markup, html};

use crate::console::account::tabs;
use crate::console::error_page::Answer;
use crate::console::forms::{self, Field, SEEN, Sent, Typed};
use crate::console::layout::{done, time};
use crate::console::visit::Visit;
use crate::model::reason::{Code, Reason};
use crate::model::tag::Tag;
use crate::model::token::Secret;
use crate::model::user::User;
use crate::rules::caller::Caller;
use crate::rules::error::FieldError;
use crate::rules::passwords::Change;
use crate::rules::{self, Error};
use crate::web::hashing::Place;
use crate::web::login_throttle::{Known, Source};
use crate::web::{App, cookies, login_attempts};

const HERE: &str = "/account";
const OLD: &str = "old_password";
const NEW: &str = "password";
const AGAIN: &str = "again";

pub async fn view(State(app): State<App>, visit: Visit, caller: Caller) -> Answer {
    let user = app.read(caller.clone(), rules::profile::view).await?;
    let page = Shown::new(&user);
    Ok(page.draw(&visit, &caller))
}

pub async fn update(State(app): State<App>, visit: Visit, caller: Caller, sent: Sent) -> Answer {
    let mut object = sent.object(&["email", "timezone"]);
    object.push(sent.truth("email_notifications"));
    let request = app.prepare(sent.request(object));
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::profile::update(tx, caller, &request)
        })
        .await;
    let typed = match changed {
        Ok(_) => return Ok(done(HERE, "profile-changed")),
        Err(error) => forms::again(sent, error)?,
    };
    let user = app.read(caller.clone(), rules::profile::view).await?;
    let mut page = Shown::new(&user);
    page.profile = typed.now(&user.without_login());
    Ok(page.draw(&visit, &caller))
}

/// Changes the own password. Guesses at the old one are counted for the user, so a screen left open allows no more of them
/// than the log-in page does.
pub async fn change_password(State(app): State<App>, visit: Visit, caller: Caller, sent: Sent) -> Answer {
    match changed(&app, &caller, &sent).await {
        Ok(Change::Done(session)) => {
            let mut response = done(HERE, "password-changed");
            cookies::set(response.headers_mut(), cookies::SESSION, &session);
            Ok(response)
        }
        Ok(Change::Refused { wrong, wait }) => {
            let user = app.read(caller.clone(), rules::profile::view).await?;
            let mut page = Shown::new(&user);
            let error = match wait {
                0 => Error::Refused(Vec::new()),
                wait => Error::TooMany { wait },
            };
            page.password = Typed::refused(Sent::default(), vec![wrong]).with_status_of(&error);
            let mut response = page.draw(&visit, &caller);
            if wait > 0 {
                let wait = HeaderValue::from(wait);
                response.headers_mut().insert(header::RETRY_AFTER, wait);
            }
            Ok(response)
        }
        Err(other) => Err(other.into()),
    }
}

async fn changed(app: &App, caller: &Caller, sent: &Sent) -> rules::Result<Change> {
    let refused = |field: &str, text: &str| Change::Refused {
        wrong: FieldError::on(field, Reason::new(Code::ChoiceInvalid, text)),
        wait: 0,
    };
    if sent.text(NEW) != sent.text(AGAIN) {
        return Ok(refused(AGAIN, "The two passwords differ"));
    }
    let secret = |name: &str| Secret::new(sent.text(name).to_owned());
    let (old, new) = (secret(OLD), secret(NEW));
    // One that cannot be taken is no guess at the old one.
    let user = Known::User(caller.user());
    let place = Place::known(user);
    let new = match app.hash(place, move || rules::passwords::hash(&new)).await? {
        Ok(hash) => hash,
        Err(Error::Refused(wrong)) => {
            let wrong = wrong.into_iter().next().ok_or(Error::NotFound)?;
            return Ok(Change::Refused { wrong, wait: 0 });
        }
        Err(other) => return Err(other),
    };
    let reservation = match login_attempts::reserve(app, Source::Known(user)) {
        Ok(reservation) => reservation,
        Err(wait) => {
            let text = format!("There were too many wrong passwords. Wait {wait} seconds, then try again");
            let wrong = FieldError::on(OLD, Reason::new(Code::ChoiceInvalid, text));
            return Ok(Change::Refused { wrong, wait });
        }
    };
    let kept = app.read(caller.clone(), rules::passwords::own).await?;
    let compared = kept.clone();
    let right = app
        .hash(place, move || {
            rules::passwords::is_correct(&old, compared.as_deref())
        })
        .await?;
    let Some(kept) = kept.filter(|_| right) else {
        login_attempts::fail(app, reservation);
        return Ok(refused(OLD, "This is not your password"));
    };
    login_attempts::succeed(app, reservation);
    app.write(caller.clone(), move |tx, caller| {
        rules::passwords::change(tx, caller, &kept, &new)
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

/// The page with its two forms.
struct Shown<'a> {
    user: &'a User,
    profile: Typed,
    password: Typed,
}

impl<'a> Shown<'a> {
    fn new(user: &'a User) -> Self {
        let notified = if user.email_notifications { "true" } else { "" };
        let profile = Typed::proposed(&[
            ("email", user.email.as_str()),
            ("timezone", &user.timezone),
            ("email_notifications", notified),
            (SEEN, &Tag::of(&user.without_login()).to_string()),
        ]);
        Self {
            user,
            profile,
            password: Typed::default(),
        }
    }

    fn draw(&self, visit: &Visit, caller: &Caller) -> Response {
        let user = self.user;
        let body = html! {
            (tabs(caller, HERE))
            div .title { h1 { (user.username.as_str()) } }
            dl .facts {
                div { dt { "May do" } dd { @if user.restricted { "what was granted" } @else { "everything" } } }
                div { dt { "Member since" } dd { (time(user.created)) } }
                @if let Some(at) = user.password_created { div { dt { "Password set" } dd { (time(at)) } } }
                @if let Some(login) = &user.last_login { div { dt { "Last log-in" } dd { (time(login.at)) } } }
            }
            div .beside {
                section aria-labelledby="profile" { h2 #profile { "Profile" } (self.profile_form(visit)) }
                section aria-labelledby="password" { h2 #password { "Password" } (self.password_form(visit)) }
            }
        };
        visit.form_page(self.decisive(), "Profile", &[], &body)
    }

    /// The form that was refused, if one was.
    fn decisive(&self) -> &Typed {
        match self.password.wrong.is_empty() {
            true => &self.profile,
            false => &self.password,
        }
    }

    fn profile_form(&self, visit: &Visit) -> Markup {
        let typed = &self.profile;
        html! {
            (typed.alert())
            form .card method="post" action=(HERE) {
                (visit.form_token())
                (typed.seen())
                (forms::line(typed, field("email", "E-mail", "")))
                (forms::line(typed, field("timezone", "Time zone", "A name like Europe/Berlin, for programs that ask. These pages show times in your browser's own zone.")))
                (forms::switch(typed, field("email_notifications", "Write to me about what happens on the account", "")))
                div .actions { button .main type="submit" { "Save" } }
            }
        }
    }

    fn password_form(&self, visit: &Visit) -> Markup {
        let typed = &self.password;
        html! {
            (typed.alert_calling(&[(NEW, "New password")]))
            form .card method="post" action="/account/password" {
                (visit.form_token())
                (forms::secret(typed, field(OLD, "Your password now", ""), "current-password"))
                (forms::secret(typed, field(NEW, "New password", "At least 11 characters."), "new-password"))
                (forms::secret(typed, field(AGAIN, "New password again", ""), "new-password"))
                p .quiet { "Other browsers are logged out, and applications lose the access you gave them. Your tokens stay." }
                div .actions { button .main type="submit" { "Change password" } }
            }
        }
    }
}
