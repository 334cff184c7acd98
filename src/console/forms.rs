//! Forms: from what a browser sent to what a rule reads, and back to the page with every complaint
//! at its field.
//!
//! A field on a page has the name that the API gives it (`subnets[0].ipv4`), so the complaints of a
//! rule find their fields by themselves, and nothing that was typed is lost.

use std::convert::Infallible;
use std::hash::Hash;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use maud::{Markup, html};

use super::visit::Visit;
use crate::model::input::Input;
use crate::model::reason::{Code, Reason};
use crate::model::tag::Tag;
use crate::rules::error::{Error, FieldError};
use crate::rules::request::{Expected, Request};
use crate::web::App;
use crate::web::error::status_of;

/// The hidden field that says in which state a thing was when its form was drawn.
pub const SEEN: &str = "seen";

/// The hidden field that says what was the newest of its kind when a form was drawn that makes one more.
pub const NEWEST: &str = "newest";

/// That field, for what is meant to be sent once.
pub fn newest(id: i64) -> Markup {
    html! { input type="hidden" name=(NEWEST) value=(id); }
}

/// The fields of a form, as they were typed.
#[derive(Clone, Debug, Default)]
pub struct Sent(Vec<(String, String)>);

impl FromRequestParts<App> for Sent {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Sent>().cloned().unwrap_or_default())
    }
}

impl Sent {
    pub fn new(fields: Vec<(String, String)>) -> Self {
        Self(fields)
    }

    /// A field; nothing if it was not sent. Line ends are as the store has them.
    pub fn text(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.retain(|(key, _)| key != name);
        self.0.push((name.to_owned(), value.into()));
    }

    /// An object for a rule with these fields, as texts.
    pub fn object(&self, names: &[&str]) -> Vec<(String, Input)> {
        let field = |name: &&str| ((*name).to_owned(), self.input(name));
        names.iter().map(field).collect()
    }

    /// The same for a choice or a number: what was left empty is left out.
    pub fn filled(&self, names: &[&str]) -> Vec<(String, Input)> {
        let mut object = self.object(names);
        object.retain(|(_, value)| *value != Input::Text(String::new()));
        object
    }

    fn input(&self, name: &str) -> Input {
        Input::Text(self.text(name).replace("\r\n", "\n"))
    }

    /// How many rows of `list[0].name`, `list[1].name`, … there are.
    pub fn rows(&self, list: &str, names: &[&str]) -> usize {
        let there = |at: &usize| names.iter().any(|name| self.has(&format!("{list}[{at}].{name}")));
        (0..).take_while(there).count()
    }

    /// Those rows as a list for a rule.
    pub fn list(&self, list: &str, names: &[&str]) -> Input {
        let row = |at: usize| {
            let field = |name: &&str| ((*name).to_owned(), self.input(&format!("{list}[{at}].{name}")));
            Input::Object(names.iter().map(field).collect())
        };
        Input::List((0..self.rows(list, names)).map(row).collect())
    }

    /// Takes rows out in which nothing was typed, and one more if asked to; the rest move up.
    pub fn without_row(&mut self, list: &str, names: &[&str], leave_out: Option<usize>) {
        let field = |at: usize, name: &str| format!("{list}[{at}].{name}");
        let rows: Vec<Vec<String>> = (0..self.rows(list, names))
            .map(|at| {
                names
                    .iter()
                    .map(|name| self.text(&field(at, name)).to_owned())
                    .collect()
            })
            .collect();
        self.0.retain(|(key, _)| !key.starts_with(&format!("{list}[")));
        let kept = rows
            .into_iter()
            .enumerate()
            .filter(|(at, row)| Some(*at) != leave_out && row.iter().any(|value| !value.trim().is_empty()));
        for (at, (_, row)) in kept.enumerate() {
            for (name, value) in names.iter().zip(row) {
                self.0.push((field(at, name), value));
            }
        }
    }

    /// Whether a switch was on; one that is off is not sent at all.
    pub fn truth(&self, name: &str) -> (String, Input) {
        (name.to_owned(), Input::Bool(self.text(name) == "true"))
    }

    /// What was the newest when the form was drawn; if it does not say, nothing can have come after.
    pub fn newest(&self) -> i64 {
        self.text(NEWEST).parse().unwrap_or(i64::MAX)
    }

    /// What a rule is asked, for the state in which the page showed the thing.
    pub fn request(&self, object: Vec<(String, Input)>) -> Request {
        let seen = Some(self.text(SEEN)).filter(|seen| !seen.is_empty());
        Request {
            expected: seen.map(|seen| Expected::Tags(vec![seen.to_owned()])),
            body: Ok(Input::Object(object)),
        }
    }
}

/// A form as it is drawn: what was typed or is proposed, and what is wrong with it.
#[derive(Clone, Debug, Default)]
pub struct Typed {
    pub sent: Sent,
    /// What its page is answered with.
    status: StatusCode,
    pub wrong: Vec<FieldError>,
    /// What somebody else has made of fields meanwhile.
    elsewhere: Vec<(&'static str, String)>,
}

impl Typed {
    /// A form as it is first shown.
    pub fn proposed(values: &[(&str, &str)]) -> Self {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            sent: Sent(values.iter().map(pair).collect()),
            ..Self::default()
        }
    }

    pub fn refused(sent: Sent, wrong: Vec<FieldError>) -> Self {
        Self {
            sent,
            wrong,
            ..Self::default()
        }
    }

    /// The same form, answered with the status of an error.
    pub fn with_status_of(self, error: &Error) -> Self {
        Self {
            status: status_of(error),
            ..self
        }
    }

    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// For a thing that somebody else has changed meanwhile.
    fn stale(sent: Sent) -> Self {
        let text = "Somebody has changed it since you opened this page. What you typed is below; compare it with how it is \
                    now, then save again.";
        let reason = Reason::new(Code::PreconditionFailed, text);
        Self::refused(sent, vec![FieldError::whole(reason)])
    }

    /// The same form for a thing as it is now.
    pub fn now(mut self, thing: &impl Hash) -> Self {
        self.sent.set(SEEN, Tag::of(thing).to_string());
        self
    }

    /// Shows beside each field how it is now, if somebody else was faster.
    pub fn beside(mut self, fields: &[(&'static str, &str)]) -> Self {
        let stale = |wrong: &FieldError| wrong.code == Code::PreconditionFailed;
        if self.wrong.iter().any(stale) {
            for (name, now) in fields {
                let (typed, was) = (self.sent.text(name), self.was(name));
                if typed == was && self.sent.has(&was_of(name)) {
                    // Nobody typed anything here: it is as the other one made it.
                    self.sent.set(name, *now);
                } else if typed != *now && was != *now {
                    self.elsewhere.push((name, (*now).to_owned()));
                }
                self.sent.set(&was_of(name), *now);
            }
        }
        self
    }

    /// How a field was when the form was first drawn.
    fn was(&self, name: &str) -> &str {
        match self.sent.has(&was_of(name)) {
            true => self.sent.text(&was_of(name)),
            false => self.sent.text(name),
        }
    }

    /// The hidden field that tells the state in which the page shows the thing.
    pub fn seen(&self) -> Markup {
        html! { input type="hidden" name=(SEEN) value=(self.sent.text(SEEN)); }
    }

    /// Everything wrong at once, with links to the fields; above the form.
    pub fn alert(&self) -> Markup {
        self.alert_calling(&[])
    }

    /// The same on a page where fields have labels of their own.
    pub fn alert_calling(&self, labels: &[(&str, &str)]) -> Markup {
        let label = |field: &str| {
            let own = labels.iter().find(|(name, _)| *name == field);
            own.map_or_else(|| in_words(field), |(_, label)| (*label).to_owned())
        };
        let count = self.wrong.len();
        html! {
            @if count > 0 {
                // Without script, too, a page that was refused is shown from here on.
                div .alert role="alert" tabindex="-1" autofocus {
                    p { strong { @if count == 1 { "One thing is not right yet." } @else { (count) " things are not right yet." } } }
                    ul {
                        @for wrong in &self.wrong {
                            li {
                                @match &wrong.field {
                                    Some(field) => { a href=(format!("#{}", id_of(field))) { (label(field)) } ": " (wrong.reason) }
                                    None => (wrong.reason),
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// What is wrong with a field.
    pub fn reasons(&self, name: &str) -> Vec<&str> {
        let about = self
            .wrong
            .iter()
            .filter(|wrong| wrong.field.as_deref() == Some(name));
        about.map(|wrong| wrong.reason.as_str()).collect()
    }
}

/// The hidden field that tells how a field was when its form was drawn.
fn was_of(name: &str) -> String {
    format!("was.{name}")
}

/// A form to be drawn again, because it was refused or somebody else was faster; anything else is not for a form.
pub fn again(sent: Sent, error: Error) -> Result<Typed, Error> {
    let status = status_of(&error);
    let typed = match error {
        Error::Refused(wrong) => Typed::refused(sent, wrong),
        Error::Stale => Typed::stale(sent),
        other => return Err(other),
    };
    Ok(Typed { status, ..typed })
}

/// Where a form goes, what its button says, and where one goes instead.
pub struct Card<'a> {
    action: String,
    button: &'a str,
    back: &'a str,
    danger: bool,
    wide: bool,
}

impl<'a> Card<'a> {
    pub fn new(action: impl Into<String>, button: &'a str, back: &'a str) -> Self {
        Self {
            action: action.into(),
            button,
            back,
            danger: false,
            wide: false,
        }
    }

    /// For what cannot be undone.
    pub fn danger(self) -> Self {
        Self { danger: true, ..self }
    }

    pub fn wide(self) -> Self {
        Self { wide: true, ..self }
    }
}

/// A form with all that every form has; `fields` are its own.
pub fn card(visit: &Visit, typed: &Typed, card: &Card, fields: &Markup) -> Markup {
    html! {
        (typed.alert())
        form .card .wide[card.wide] method="post" action=(card.action) {
            (visit.form_token())
            (typed.seen())
            (fields)
            div .actions {
                button .main[!card.danger] .danger[card.danger] type="submit" { (card.button) }
                a .button href=(card.back) { "Cancel" }
            }
        }
    }
}

/// The field in which the label of a thing is typed before the thing is deleted.
const CONFIRM: &str = "label";

/// Asks for the label of what is about to be deleted.
pub fn confirm(typed: &Typed, label: &str) -> Markup {
    let asks = format!("Type {label} to confirm");
    let field = Field {
        name: CONFIRM,
        label: &asks,
        autofocus: true,
        ..Field::default()
    };
    line(typed, field)
}

/// Does it only if that was typed.
pub async fn confirmed<T>(
    sent: &Sent,
    label: &str,
    deed: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    if sent.text(CONFIRM).trim() == label {
        return deed.await;
    }
    let reason = Reason::new(
        Code::ChoiceInvalid,
        format!("Must be {label}, as a sign that you mean it"),
    );
    Err(Error::on(CONFIRM, reason))
}

/// A field on a page.
#[derive(Clone, Copy, Default)]
pub struct Field<'a> {
    pub name: &'a str,
    pub label: &'a str,
    pub hint: &'a str,
    pub optional: bool,
    pub autofocus: bool,
    /// Addresses and the like are shown in letters of one width.
    pub code: bool,
    pub most: Option<usize>,
    /// The address that says what is to be said of the value while it is typed.
    pub check: Option<&'a str>,
}

/// A line to type in.
pub fn line(typed: &Typed, field: Field) -> Markup {
    let id = id_of(field.name);
    let wrong = typed.reasons(field.name);
    let check = format!("{id}-check");
    framed(
        typed,
        field,
        html! {
            input #(id) .code[field.code] type="text" name=(field.name) value=(typed.sent.text(field.name))
                required[!field.optional] autofocus[field.autofocus && typed.wrong.is_empty()]
                autocapitalize="none" spellcheck="false" maxlength=[field.most]
                aria-invalid=[(!wrong.is_empty()).then_some("true")] aria-describedby=[described(&id, field, &wrong)]
                hx-get=[field.check] hx-trigger=[field.check.map(|_| if wrong.is_empty() { "load, input changed delay:250ms" } else { "input changed delay:250ms" })]
                hx-include=[field.check.map(|_| "closest form")] hx-params=[field.check.map(|_| "not form_token")] hx-sync=[field.check.map(|_| "this:replace")]
                hx-target=[field.check.map(|_| format!("#{check}"))];
        },
    )
}

/// A line for what nobody may read over one's shoulder. It is never shown again, not even after an error.
pub fn secret(typed: &Typed, field: Field, autocomplete: &str) -> Markup {
    let id = id_of(field.name);
    let wrong = typed.reasons(field.name);
    framed(
        typed,
        field,
        html! {
            input #(id) type="password" name=(field.name) required autocomplete=(autocomplete)
                aria-invalid=[(!wrong.is_empty()).then_some("true")] aria-describedby=[described(&id, field, &wrong)];
        },
    )
}

/// Something that is so or is not.
pub fn switch(typed: &Typed, field: Field) -> Markup {
    let id = id_of(field.name);
    let wrong = typed.reasons(field.name);
    html! {
        div .field.switch .wrong[!wrong.is_empty()] {
            input #(id) type="checkbox" name=(field.name) value="true" checked[typed.sent.text(field.name) == "true"]
                aria-invalid=[(!wrong.is_empty()).then_some("true")] aria-describedby=[described(&id, field, &wrong)];
            label for=(id) { (field.label) }
            (because(&id, &wrong))
            @if !field.hint.is_empty() { p #(format!("{id}-hint")) .hint { (field.hint) } }
        }
    }
}

/// Several lines to type in.
pub fn lines(typed: &Typed, field: Field, rows: usize) -> Markup {
    let id = id_of(field.name);
    let wrong = typed.reasons(field.name);
    framed(
        typed,
        field,
        html! {
            textarea #(id) name=(field.name) rows=(rows) required[!field.optional] maxlength=[field.most]
                autofocus[field.autofocus && typed.wrong.is_empty()]
                aria-invalid=[(!wrong.is_empty()).then_some("true")] aria-describedby=[described(&id, field, &wrong)] {
                // The first line end after the tag is not part of what it holds.
                "\n" (typed.sent.text(field.name))
            }
        },
    )
}

/// One of several: each choice is a value and what is shown for it.
pub fn choice(typed: &Typed, field: Field, choices: &[(String, String)]) -> Markup {
    let id = id_of(field.name);
    let wrong = typed.reasons(field.name);
    let chosen = typed.sent.text(field.name);
    framed(
        typed,
        field,
        html! {
            select #(id) name=(field.name) required[!field.optional] autofocus[field.autofocus && typed.wrong.is_empty()]
                aria-invalid=[(!wrong.is_empty()).then_some("true")] aria-describedby=[described(&id, field, &wrong)] {
                option value="" selected[chosen.is_empty()] { "Choose…" }
                @for (value, shown) in choices {
                    option value=(value) selected[value == chosen] { (shown) }
                }
            }
        },
    )
}

fn framed(typed: &Typed, field: Field, control: Markup) -> Markup {
    let id = id_of(field.name);
    let wrong = typed.reasons(field.name);
    html! {
        div .field .wrong[!wrong.is_empty()] {
            label for=(id) { (field.label) @if field.optional { " " span .optional { "optional" } } }
            (control)
            @if typed.sent.has(SEEN) { input type="hidden" name=(was_of(field.name)) value=(typed.was(field.name)); }
            @if let Some((_, now)) = typed.elsewhere.iter().find(|(name, _)| *name == field.name) {
                p .hint { "It is now " @if now.is_empty() { "empty" } @else { strong { (now) } } ". Saving makes it what you typed." }
            }
            // What is said while one types takes the place of what was wrong before.
            @if field.check.is_some() { div #(format!("{id}-check")) .check aria-live="polite" { (because(&id, &wrong)) } }
            @else { (because(&id, &wrong)) }
            @if !field.hint.is_empty() { p #(format!("{id}-hint")) .hint { (field.hint) } }
        }
    }
}

fn because(id: &str, wrong: &[&str]) -> Markup {
    html! { @if !wrong.is_empty() { p #(format!("{id}-wrong")) .reason { (wrong.join(". ")) } } }
}

fn described(id: &str, field: Field, wrong: &[&str]) -> Option<String> {
    let mut by = Vec::new();
    if !wrong.is_empty() {
        by.push(format!("{id}-wrong"));
    }
    if field.check.is_some() {
        by.push(format!("{id}-check"));
    }
    if !field.hint.is_empty() {
        by.push(format!("{id}-hint"));
    }
    (!by.is_empty()).then(|| by.join(" "))
}

/// The id of a field on its page.
pub fn id_of(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    format!("f-{}", name.chars().map(plain).collect::<String>())
}

/// What fields are called on pages, where that is not their name.
const LABELS: [(&str, &str); 11] = [
    ("about", "What is it about?"),
    ("about_id", "Id"),
    ("account_id", "Account"),
    ("again", "New password again"),
    ("email", "E-mail"),
    ("expiry", "Ends"),
    ("old_password", "Your password now"),
    ("redirect_uri", "Address to send browsers back to"),
    ("scopes", "May be used for"),
    ("summary", "Subject"),
    ("timezone", "Time zone"),
];

/// `subnets[0].ipv4` as people say it: "Subnet 1, IPv4 range".
fn in_words(name: &str) -> String {
    let (before, last) = name.rsplit_once('.').unwrap_or(("", name));
    let label = LABELS.iter().find(|(field, _)| *field == name);
    let last = match (last, label) {
        (_, Some((_, label))) => (*label).to_owned(),
        ("ipv4", _) => "IPv4 range".to_owned(),
        (other, None) => {
            let words = other.replace('_', " ");
            let mut letters = words.chars();
            let first = letters.next().map(|first| first.to_ascii_uppercase());
            first.into_iter().chain(letters).collect()
        }
    };
    let row = before.strip_suffix(']').and_then(|before| before.split_once('['));
    match row.and_then(|(list, at)| Some((list, at.parse::<usize>().ok()?))) {
        Some((list, at)) => {
            let one = list.strip_suffix('s').unwrap_or(list);
            let one = one[..1].to_ascii_uppercase() + &one[1..];
            format!("{one} {}, {last}", at + 1)
        }
        None => last,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(pairs: &[(&str, &str)]) -> Sent {
        Typed::proposed(pairs).sent
    }

    #[test]
    fn rows_become_a_list_and_empty_ones_are_left_out() {
        let mut rows = sent(&[
            ("label", "core"),
            ("subnets[0].label", "a"),
            ("subnets[0].ipv4", "10.0.0.0/24"),
            ("subnets[1].label", " "),
            ("subnets[1].ipv4", ""),
            ("subnets[2].label", "c"),
            ("subnets[2].ipv4", ""),
        ]);
        rows.without_row("subnets", &["label", "ipv4"], None);
        assert_eq!(rows.rows("subnets", &["label", "ipv4"]), 2);
        assert_eq!((rows.text("subnets[1].label"), rows.text("label")), ("c", "core"));
        rows.without_row("subnets", &["label", "ipv4"], Some(0));
        let Input::List(list) = rows.list("subnets", &["label", "ipv4"]) else {
            panic!("not a list");
        };
        assert_eq!(list.len(), 1);
        assert_eq!(list[0].get("label"), Some(&Input::Text("c".to_owned())));
    }

    #[test]
    fn fields_are_named_as_people_say_them() {
        assert_eq!(in_words("subnets[0].ipv4"), "Subnet 1, IPv4 range");
        assert_eq!(in_words("redirect_uri"), "Address to send browsers back to");
        assert_eq!(in_words("client_id"), "Client id");
        assert_eq!(in_words("label"), "Label");
        assert_eq!(id_of("subnets[0].ipv4"), "f-subnets-0--ipv4");
    }

    #[test]
    fn what_is_typed_is_shown_again_and_only_shown() {
        let typed = Typed::proposed(&[("label", "\"><script>"), ("description", "\nfirst line")]);
        let field = Field {
            name: "label",
            label: "Label",
            ..Field::default()
        };
        let drawn = line(&typed, field).into_string();
        assert!(drawn.contains("value=\"&quot;&gt;&lt;script&gt;\""), "{drawn}");
        // A browser that goes back brings what was typed, unless it is told to forget it.
        assert!(!drawn.contains("autocomplete"), "{drawn}");
        let field = Field {
            name: "description",
            label: "Description",
            ..Field::default()
        };
        let drawn = lines(&typed, field, 3).into_string();
        assert!(drawn.contains(">\n\nfirst line</textarea>"), "{drawn}");
    }
}
