//! The input elements of a form.

use maud::{Markup, html};

use super::form_data::VERSION_FIELD;
use super::form_state::{FormState, original_field};
use super::names::element_id;
use crate::model::reason::{Code, Reason};
use crate::rules::error::FieldError;

/// A field on a page.
#[derive(Clone, Copy, Default)]
pub struct Field<'a> {
    pub name: &'a str,
    pub label: &'a str,
    pub hint: &'a str,
    pub optional: bool,
    pub autofocus: bool,
    /// Whether the value is shown in a monospace font.
    pub code: bool,
    pub max_chars: Option<usize>,
    /// The URL that validates the value while the user types.
    pub check_url: Option<&'a str>,
}

/// A single-line text input.
pub fn text_input(form_state: &FormState, field: Field) -> Markup {
    let id = element_id(field.name);
    let errors = form_state.errors_on(field.name);
    let check_id = format!("{id}-check");
    labeled_field(
        form_state,
        field,
        html! {
            input #(id) .code[field.code] type="text" name=(field.name) value=(form_state.data.text(field.name))
                required[!field.optional] autofocus[field.autofocus && form_state.errors.is_empty()]
                autocapitalize="none" spellcheck="false" maxlength=[field.max_chars]
                aria-invalid=[(!errors.is_empty()).then_some("true")] aria-describedby=[describedby(&id, field, &errors)]
                hx-get=[field.check_url] hx-trigger=[field.check_url.map(|_| if errors.is_empty() { "load, input changed delay:250ms, garth:check" } else { "input changed delay:250ms, garth:check" })]
                hx-include=[field.check_url.map(|_| "closest form")] hx-params=[field.check_url.map(|_| "not form_token")] hx-sync=[field.check_url.map(|_| "this:replace")]
                hx-target=[field.check_url.map(|_| format!("#{check_id}"))];
        },
    )
}

/// A password input. Its value is never rendered again, not even after an error. If the user had entered one, the
/// field says that it must be entered again.
pub fn password_input(form_state: &FormState, field: Field, autocomplete: &str) -> Markup {
    let id = element_id(field.name);
    let mut form_state = form_state.clone();
    if !form_state.data.text(field.name).is_empty() && form_state.errors_on(field.name).is_empty() {
        let reason = Reason::new(Code::Required, "Enter the password again");
        form_state.errors.push(FieldError::on(field.name, reason));
    }
    let errors = form_state.errors_on(field.name);
    labeled_field(
        &form_state,
        field,
        html! {
            input #(id) type="password" name=(field.name) required[!field.optional] autocomplete=(autocomplete)
                aria-invalid=[(!errors.is_empty()).then_some("true")] aria-describedby=[describedby(&id, field, &errors)];
        },
    )
}

/// A checkbox.
pub fn checkbox(form_state: &FormState, field: Field) -> Markup {
    let id = element_id(field.name);
    let errors = form_state.errors_on(field.name);
    html! {
        div .field.switch .wrong[!errors.is_empty()] {
            input #(id) type="checkbox" name=(field.name) value="true" checked[form_state.data.text(field.name) == "true"]
                aria-invalid=[(!errors.is_empty()).then_some("true")] aria-describedby=[describedby(&id, field, &errors)];
            label for=(id) { (field.label) }
            (error_text(&id, &errors))
            @if !field.hint.is_empty() { p #(format!("{id}-hint")) .hint { (field.hint) } }
        }
    }
}

/// A multi-line text input.
pub fn textarea(form_state: &FormState, field: Field, rows: usize) -> Markup {
    let id = element_id(field.name);
    let errors = form_state.errors_on(field.name);
    labeled_field(
        form_state,
        field,
        html! {
            textarea #(id) name=(field.name) rows=(rows) required[!field.optional] maxlength=[field.max_chars]
                autofocus[field.autofocus && form_state.errors.is_empty()]
                aria-invalid=[(!errors.is_empty()).then_some("true")] aria-describedby=[describedby(&id, field, &errors)] {
                // The HTML parser drops a newline directly after the tag, so the value needs another newline
                // before it.
                "\n" (form_state.data.text(field.name))
            }
        },
    )
}

/// A drop-down list. Each choice is a value and its label.
pub fn select(form_state: &FormState, field: Field, choices: &[(String, String)]) -> Markup {
    select_or(form_state, field, "Choose…", choices)
}

/// Like `select`, with another label of the empty choice.
pub fn select_or(form_state: &FormState, field: Field, none: &str, choices: &[(String, String)]) -> Markup {
    let id = element_id(field.name);
    let errors = form_state.errors_on(field.name);
    let chosen = form_state.data.text(field.name);
    labeled_field(
        form_state,
        field,
        html! {
            select #(id) name=(field.name) required[!field.optional] autofocus[field.autofocus && form_state.errors.is_empty()]
                aria-invalid=[(!errors.is_empty()).then_some("true")] aria-describedby=[describedby(&id, field, &errors)] {
                option value="" selected[chosen.is_empty()] { (none) }
                @for (value, shown) in choices {
                    option value=(value) selected[value == chosen] { (shown) }
                }
            }
        },
    )
}

fn labeled_field(form_state: &FormState, field: Field, control: Markup) -> Markup {
    let id = element_id(field.name);
    let errors = form_state.errors_on(field.name);
    html! {
        div .field .wrong[!errors.is_empty()] {
            label for=(id) { (field.label) @if field.optional { " " span .optional { "optional" } } }
            (control)
            @if form_state.data.has(VERSION_FIELD) { input type="hidden" name=(original_field(field.name)) value=(form_state.original_value(field.name)); }
            @if let Some((_, current)) = form_state.current_values.iter().find(|(name, _)| *name == field.name) {
                p .hint { "Current value: " @if current.is_empty() { "empty" } @else { strong { (current) } } ". Saving replaces it." }
            }
            // The validation result replaces the error of the previous submission.
            @if field.check_url.is_some() { div #(format!("{id}-check")) .check aria-live="polite" { (error_text(&id, &errors)) } }
            @else { (error_text(&id, &errors)) }
            @if !field.hint.is_empty() { p #(format!("{id}-hint")) .hint { (field.hint) } }
        }
    }
}

fn error_text(id: &str, errors: &[&str]) -> Markup {
    html! { @if !errors.is_empty() { p #(format!("{id}-wrong")) .reason { (errors.join(". ")) } } }
}

fn describedby(id: &str, field: Field, errors: &[&str]) -> Option<String> {
    let mut ids = Vec::new();
    if !errors.is_empty() {
        ids.push(format!("{id}-wrong"));
    }
    if field.check_url.is_some() {
        ids.push(format!("{id}-check"));
    }
    if !field.hint.is_empty() {
        ids.push(format!("{id}-hint"));
    }
    (!ids.is_empty()).then(|| ids.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submitted_values_are_rendered_again_and_escaped() {
        let form_state = FormState::prefilled(&[("label", "\"><script>"), ("description", "\nfirst line")]);
        let field = Field {
            name: "label",
            label: "Label",
            ..Field::default()
        };
        let html = text_input(&form_state, field).into_string();
        assert!(html.contains("value=\"&quot;&gt;&lt;script&gt;\""), "{html}");
        // With `autocomplete="off"`, the browser would not restore the value when the user goes back.
        assert!(!html.contains("autocomplete"), "{html}");
        let field = Field {
            name: "description",
            label: "Description",
            ..Field::default()
        };
        let html = textarea(&form_state, field, 3).into_string();
        assert!(html.contains(">\n\nfirst line</textarea>"), "{html}");
    }
}
