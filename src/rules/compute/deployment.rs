//! The fields for deploying an image to a disk: the image, and the credentials of its root user.

use crate::model::image::Image;
use crate::model::input::Input;
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason, Reasons};
use crate::rules::form::Form;
use crate::rules::not_offered::refuse_field;
use crate::rules::ssh_keys::AuthorizedUsers;

pub fn image_named(policy: &Policy, raw: &str) -> Result<Image, Reasons> {
    let found = policy.images.iter().find(|image| image.id == raw).cloned();
    found.ok_or_else(|| vec![Reason::new(Code::ImageInvalid, "image is not valid")])
}

/// Reads the credentials, which are required with an image. They are not stored. Only the usernames are checked.
pub fn read_credentials(form: &mut Form) -> AuthorizedUsers {
    let text = |input: &Input| matches!(input, Input::Text(_)).then_some(Ok(()));
    form.optional("root_pass", |_| Ok(()));
    form.values("authorized_keys", "a string", text);
    let users = AuthorizedUsers::read(form);
    let names = ["root_pass", "authorized_keys", AuthorizedUsers::FIELD];
    let has_credentials = names.iter().any(|name| form.has(name));
    if !has_credentials && form.has("image") {
        let text = "Must provide valid root_pass, authorized_keys, or authorized_users";
        form.refuse("root_pass", Reason::new(Code::CredentialsMissing, text));
    }
    users
}

pub fn refuse_scripts(form: &mut Form) {
    let text = "Garth has no StackScripts: leave this field out";
    refuse_field(form, "stackscript_id", text);
    refuse_field(form, "stackscript_data", text);
}
