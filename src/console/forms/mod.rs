//! Forms: the submitted data as input for a rule, and the rendered form with each error next to its field.
//!
//! A form field has the same name as the API field (`subnets[0].ipv4`), so the errors of a rule match the
//! fields of the page. The form is rendered again with the submitted values.

mod card;
mod fields;
mod form_data;
mod form_files;
mod form_state;
mod names;
mod numbers;

pub use card::{Card, card, check_confirmation, confirmation_input, if_confirmed};
pub use fields::{Field, checkbox, password_input, select, select_or, text_input, textarea};
pub use form_data::{FormData, NEWEST_ID_FIELD, VERSION_FIELD, newest_id_field};
pub use form_files::{FILE_FIELD, FormFiles, SmallFiles};
pub use form_state::{FormState, from_error};
pub use names::element_id;
pub use numbers::{amount, decimal, integer, is_too_large};
