//! Choosing what a ticket is about.

use maud::{Markup, html};

use crate::console::forms::{self, Field, Sent, Typed};
use crate::console::threads::kind_in_words;
use crate::model::input::Input;
use crate::model::reason::Code;
use crate::model::subject::SubjectKind;
use crate::rules::Error;
use crate::rules::error::FieldError;
use crate::rules::subjects::Offered;

/// One of the list, as `vpc_id:5`.
const ABOUT: &str = "about";
/// Something that is not in the list.
const KIND: &str = "about_kind";
const ID: &str = "about_id";

/// The fields of the API that say what was chosen.
pub fn chosen(sent: &Sent) -> Vec<(String, Input)> {
    let number = |raw: &str| match raw.trim().parse() {
        Ok(number) => Input::Integer(number),
        Err(_) => Input::Text(raw.to_owned()),
    };
    let known = |attribute: &str| {
        SubjectKind::WITH_ID
            .iter()
            .any(|kind| kind.attribute() == attribute)
    };
    let mut fields = Vec::new();
    if let Some((attribute, id)) = sent.text(ABOUT).split_once(':')
        && known(attribute)
    {
        fields.push((attribute.to_owned(), number(id)));
    }
    if known(sent.text(KIND)) {
        fields.push((sent.text(KIND).to_owned(), number(sent.text(ID))));
    }
    fields
}

/// Complaints of the API at the fields of the page, in the page's words.
pub fn placed(sent: &Sent, mut wrong: Vec<FieldError>) -> Vec<FieldError> {
    for wrong in &mut wrong {
        let about = wrong.field.as_deref();
        let kind = SubjectKind::WITH_ID
            .into_iter()
            .find(|kind| Some(kind.attribute()) == about);
        if let Some(kind) = kind {
            let from_list = sent.text(ABOUT).split(':').next() == about;
            wrong.reason = reworded(wrong, kind);
            wrong.field = Some(if from_list { ABOUT } else { ID }.to_owned());
        }
    }
    wrong
}

fn reworded(wrong: &FieldError, kind: SubjectKind) -> String {
    let kind = kind_in_words(kind.word());
    match wrong.code {
        Code::EntityInvalid => format!("No {kind} has this ID, or you do not have access to it"),
        Code::EntityUnknown => format!("The provider has no {kind} with this ID"),
        Code::EntityConflict => {
            "A ticket can be about one resource only. Choose it from the list or enter its ID, not both"
                .to_owned()
        }
        _ => wrong.reason.clone(),
    }
}

/// A refusal as a form that is drawn again; anything else is not for a form.
pub fn refused(sent: Sent, error: Error) -> Result<Typed, Error> {
    let mut typed = forms::again(sent, error)?;
    typed.wrong = placed(&typed.sent, typed.wrong);
    Ok(typed)
}

/// The fields. `page` is the address that narrows the list by `?find=`.
pub fn draw(typed: &Typed, offered: &[Offered], page: &str) -> Markup {
    let chosen = typed.sent.text(ABOUT);
    let wrong = typed.reasons(ABOUT);
    let value = |offered: &Offered| format!("{}:{}", offered.kind.attribute(), offered.id);
    let kinds = SubjectKind::WITH_ID
        .iter()
        .rev()
        .filter(|kind| offered.iter().any(|one| one.kind == **kind));
    let by_id = typed.sent.has(KIND) && !typed.sent.text(KIND).is_empty();
    html! {
        div .field .wrong[!wrong.is_empty()] {
            label for="f-about" { "Regarding " span .optional { "optional" } }
            div .picker {
                select #f-about name=(ABOUT) aria-invalid=[(!wrong.is_empty()).then_some("true")] {
                    option value="" { "Not specified" }
                    @for kind in kinds {
                        optgroup label=(kind_in_words(kind.word())) {
                            @for one in offered.iter().filter(|one| one.kind == *kind) {
                                option value=(value(one)) selected[value(one) == chosen] { (one.label) " (" (one.id) ")" }
                            }
                        }
                    }
                }
                input .only-script type="search" name="find" placeholder="Filter the list" aria-label="Filter the list" autocomplete="off"
                    hx-get=(page) hx-trigger="input changed delay:250ms" hx-include="closest form" hx-params="find,about,account_id"
                    hx-target="#f-about" hx-select="#f-about" hx-swap="outerHTML" hx-sync="this:replace";
            }
            @if !wrong.is_empty() { p .reason { (wrong.join(". ")) } }
        }
        details .more open[by_id] {
            summary { "Not in the list? Enter its ID" }
            div .columns {
                (forms::choice(typed, Field { name: KIND, label: "Type", optional: true, ..Field::default() },
                    &SubjectKind::WITH_ID.map(|kind| (kind.attribute().to_owned(), kind_in_words(kind.word()).to_owned()))))
                (forms::line(typed, Field { name: ID, label: "ID", optional: true, ..Field::default() }))
            }
        }
    }
}
