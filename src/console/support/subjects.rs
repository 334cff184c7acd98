//! The selection of the resource that a ticket is about.

use maud::{Markup, html};

use crate::console::forms::{self, Field, FormData, FormState};
use crate::console::threads::kind_label;
use crate::model::input::Input;
use crate::model::reason::{Code, Reason};
use crate::model::subject::SubjectKind;
use crate::rules::Error;
use crate::rules::error::FieldError;
use crate::rules::subjects::Candidate;

/// The field with the resource that the user selected in the list, such as `vpc_id:5`.
const ABOUT: &str = "about";
/// The fields with the kind and the ID of a resource that is not in the list.
const KIND: &str = "about_kind";
const ID: &str = "about_id";

/// The API fields for the selected resource.
pub fn selected_fields(data: &FormData) -> Vec<(String, Input)> {
    let number = |raw: &str| match raw.trim().parse() {
        Ok(number) => Input::Integer(number),
        Err(_) => Input::Text(raw.to_owned()),
    };
    let is_known = |attribute: &str| {
        SubjectKind::WITH_ID
            .iter()
            .any(|kind| kind.attribute() == attribute)
    };
    let mut fields = Vec::new();
    if let Some((attribute, id)) = data.text(ABOUT).split_once(':')
        && is_known(attribute)
    {
        fields.push((attribute.to_owned(), number(id)));
    }
    if is_known(data.text(KIND)) {
        fields.push((data.text(KIND).to_owned(), number(data.text(ID))));
    }
    fields
}

/// The error about an ID without a type, which `selected_fields` ignores.
pub fn missing_type(data: &FormData) -> Option<Error> {
    let has_id = !data.text(ID).trim().is_empty();
    let reason = || {
        Reason::new(
            Code::Required,
            "Choose the type of the resource, or leave its ID empty",
        )
    };
    (has_id && data.text(KIND).is_empty()).then(|| Error::on(KIND, reason()))
}

/// Converts a rule's errors to the fields and texts of the page.
pub fn page_errors(data: &FormData, mut errors: Vec<FieldError>) -> Vec<FieldError> {
    for error in &mut errors {
        let attribute = error.field.as_deref();
        let kind = SubjectKind::WITH_ID
            .into_iter()
            .find(|kind| Some(kind.attribute()) == attribute);
        if let Some(kind) = kind {
            let is_from_list = data.text(ABOUT).split(':').next() == attribute;
            error.reason = page_reason(error, kind);
            error.field = Some(if is_from_list { ABOUT } else { ID }.to_owned());
        }
    }
    errors
}

fn page_reason(error: &FieldError, kind: SubjectKind) -> String {
    let kind = kind_label(kind.word());
    match error.code {
        Code::EntityInvalid => format!("No {kind} has this ID, or you do not have access to it"),
        Code::EntityUnknown => format!("The provider has no {kind} with this ID"),
        Code::EntityConflict => {
            "A ticket can be about one resource only. Choose it from the list or enter its ID, not both"
                .to_owned()
        }
        _ => error.reason.clone(),
    }
}

/// The form to render after a validation error. Other errors are returned.
pub fn from_error(data: FormData, error: Error) -> Result<FormState, Error> {
    let mut form_state = forms::from_error(data, error)?;
    form_state.errors = page_errors(&form_state.data, form_state.errors);
    Ok(form_state)
}

/// The form fields. `page_url` is the URL of the page, which filters the list with `?find=`.
pub fn render(form_state: &FormState, candidates: &[Candidate], page_url: &str) -> Markup {
    let selected = form_state.data.text(ABOUT);
    let errors = form_state.errors_on(ABOUT);
    let value = |candidate: &Candidate| format!("{}:{}", candidate.kind.attribute(), candidate.id);
    let kinds = SubjectKind::WITH_ID
        .iter()
        .rev()
        .filter(|kind| candidates.iter().any(|candidate| candidate.kind == **kind));
    let is_entered_by_id = [KIND, ID]
        .iter()
        .any(|name| !form_state.data.text(name).is_empty());
    html! {
        div .field .wrong[!errors.is_empty()] {
            label for="f-about" { "Regarding " span .optional { "optional" } }
            div .picker {
                select #f-about name=(ABOUT) aria-invalid=[(!errors.is_empty()).then_some("true")] {
                    option value="" { "Not specified" }
                    @for kind in kinds {
                        optgroup label=(kind_label(kind.word())) {
                            @for candidate in candidates.iter().filter(|candidate| candidate.kind == *kind) {
                                option value=(value(candidate)) selected[value(candidate) == selected] { (candidate.label) " (" (candidate.id) ")" }
                            }
                        }
                    }
                }
                input .only-script type="search" name="find" placeholder="Filter the list" aria-label="Filter the list" autocomplete="off"
                    hx-get=(page_url) hx-trigger="input changed delay:250ms" hx-include="closest form" hx-params="find,about,account_id"
                    hx-target="#f-about" hx-select="#f-about" hx-swap="outerHTML" hx-sync="this:replace";
            }
            @if !errors.is_empty() { p .reason { (errors.join(". ")) } }
        }
        details .more open[is_entered_by_id] {
            summary { "Not in the list? Enter its ID" }
            div .columns {
                (forms::select(form_state, Field { name: KIND, label: "Type", optional: true, ..Field::default() },
                    &SubjectKind::WITH_ID.map(|kind| (kind.attribute().to_owned(), kind_label(kind.word()).to_owned()))))
                (forms::text_input(form_state, Field { name: ID, label: "ID", optional: true, ..Field::default() }))
            }
        }
    }
}
