//! The kinds of fields that a form has.

use maud::{Markup, html};

use super::names::id_of;
use super::sent::SEEN;
use super::typed::{Typed, was_of};

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
                p .hint { "Current value: " @if now.is_empty() { "empty" } @else { strong { (now) } } ". Saving replaces it." }
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

#[cfg(test)]
mod tests {
    use super::*;

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
