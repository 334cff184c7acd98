//! The profile and the password of the user.

use axum::extract::State;
use axum::http::request::Parts;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::account::tabs;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Field, FormData, FormState, VERSION_FIELD};
use crate::console::layout::{redirect_with_notice, time};
use crate::console::password::{self, PROFILE_TITLE as TITLE};
use crate::console::visit::Visit;
use crate::model::entity_tag::EntityTag;
use crate::model::input::Input;
use crate::model::time_zone;
use crate::model::user::User;
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::passwords::Change;
use crate::web::{App, cookies};

const PROFILE_URL: &str = "/account";
const MAILS_FIELD: &str = "email_notifications";
const TENANT_NOTE: &str = "This logs out your other sessions and revokes the access of applications that you authorized. Your tokens remain \
                           valid.";

pub async fn view(State(app): State<App>, visit: Visit, caller: Caller) -> PageResult {
    let user = app.read(caller.clone(), rules::profile::view).await?;
    let page = ProfilePage::new(&app, &user);
    Ok(page.render(&visit, &caller))
}

pub async fn update(State(app): State<App>, visit: Visit, caller: Caller, data: FormData) -> PageResult {
    let current = app.read(caller.clone(), rules::profile::view).await?;
    let mut object = data.object(&["email", "timezone"]);
    for (name, value) in &mut object {
        // The rule refuses an empty name. It accepts names that are not in the list, for clients of the API.
        if *name == "timezone" && !is_offered(data.text("timezone"), &current) {
            *value = Input::Text(String::new());
        }
    }
    // The form has no such field without a mail server.
    if app.sends_mail() {
        object.push(data.checkbox(MAILS_FIELD));
    }
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
    let mut page = ProfilePage::new(&app, &user);
    page.profile = form_state.with_version_of(&user.without_login());
    Ok(page.render(&visit, &caller))
}

/// Changes the password of the user. Wrong guesses of the current password are counted, so that an unattended
/// session allows no more guesses than the log-in page.
pub async fn change_password(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    parts: Parts,
    data: FormData,
) -> PageResult {
    match password::try_change(&app, &caller, &parts, &data, rules::passwords::change).await {
        Ok(Change::Done(session)) => {
            let mut response = redirect_with_notice(PROFILE_URL, "password-changed");
            cookies::set(response.headers_mut(), cookies::SESSION, &session);
            Ok(response)
        }
        Ok(Change::Refused { wrong, wait }) => {
            let user = app.read(caller.clone(), rules::profile::view).await?;
            let mut page = ProfilePage::new(&app, &user);
            page.password = password::refused_form(wrong, wait);
            Ok(password::with_wait(page.render(&visit, &caller), wait))
        }
        Err(other) => Err(other.into()),
    }
}

/// Whether the form offers a time zone: those of the list, and the current one.
fn is_offered(name: &str, user: &User) -> bool {
    time_zone::is_known(name) || name == user.timezone
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
    sends_mail: bool,
    profile: FormState,
    password: FormState,
}

impl<'a> ProfilePage<'a> {
    fn new(app: &App, user: &'a User) -> Self {
        let profile = FormState::prefilled(&[
            ("email", user.email.as_str()),
            ("timezone", &user.timezone),
            (MAILS_FIELD, &user.email_notifications.to_string()),
            (VERSION_FIELD, &EntityTag::of(&user.without_login()).to_string()),
        ]);
        Self {
            user,
            sends_mail: app.sends_mail(),
            profile,
            password: FormState::default(),
        }
    }

    fn render(&self, visit: &Visit, caller: &Caller) -> Response {
        let user = self.user;
        let body = html! {
            (tabs(caller, PROFILE_URL))
            div .title { h1 { (TITLE) } }
            dl .facts {
                div { dt { "Username" } dd { (user.username.as_str()) } }
                div { dt { "Permissions" } dd { @if user.restricted { "Restricted" } @else { "Full access" } } }
                div { dt { "Created" } dd { (time(user.created)) } }
                @if let Some(at) = user.password_created { div { dt { "Password set" } dd { (time(at)) } } }
                @if let Some(login) = &user.last_login { div { dt { "Last log-in" } dd { (time(login.at)) } } }
            }
            div .two-columns {
                section aria-labelledby="profile" { h2 #profile { "Details" } (self.profile_form(visit)) }
                section aria-labelledby="password" { h2 #password { "Password" } (password::form(visit, &self.password, "/account/password", TENANT_NOTE)) }
            }
        };
        visit.form_page(self.submitted_form(), TITLE, &[], &body)
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
        let choice = |name: &str| (name.to_owned(), name.replace('_', " "));
        let mut zones: Vec<_> = time_zone::names().map(choice).collect();
        if !time_zone::is_known(&self.user.timezone) {
            zones.insert(0, choice(&self.user.timezone));
        }
        html! {
            (form_state.alert())
            form .card method="post" novalidate action=(PROFILE_URL) {
                (visit.form_token())
                (form_state.version_field())
                (forms::text_input(form_state, field("email", "E-mail", "")))
                (forms::select(form_state, field("timezone", "Time zone", "Available to API clients. The console uses your browser's time zone."), &zones))
                @if self.sends_mail {
                    (forms::checkbox(form_state, field(MAILS_FIELD, "Mails about tickets", "Replies to tickets that you opened or replied to, closing and reopening.")))
                } @else {
                    p .hint { "Mails about tickets: this server does not send mails." }
                }
                div .actions { button .main type="submit" { "Save" } }
            }
        }
    }
}
