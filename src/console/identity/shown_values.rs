//! The values that the grants page showed, in one hidden field: a field for each row would make the page much larger.
//! After a conflict with another user, they tell which fields the user has edited.

use maud::{Markup, PreEscaped, html};

use crate::console::forms::FormData;

/// The hidden field of a form, such as `vpc.1=read_only vpc.2= `.
pub fn hidden_field(form: &str, name: &str, values: impl Iterator<Item = (String, &'static str)>) -> Markup {
    html! {
        input type="hidden" form=(form) name=(name)
            value={ @for (field, value) in values { (PreEscaped(field)) "=" (PreEscaped(value)) " " } };
    }
}

/// The names of the fields whose submitted values are those that the page showed.
pub fn unedited(data: &FormData, name: &str) -> Vec<String> {
    let shown = data.text(name).split(' ').filter_map(|one| one.split_once('='));
    let same = shown.filter(|(field, value)| data.text(field) == *value);
    same.map(|(field, _)| field.to_owned()).collect()
}
