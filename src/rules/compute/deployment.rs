//! The fields for deploying an image to a disk: the image, and the credentials of its root user.

use crate::model::image::Image;
use crate::model::input::Input;
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::ssh_key::PublicKey;
use crate::rules::form::Form;
use crate::rules::not_offered::refuse_field;
use crate::rules::ssh_keys::AuthorizedUsers;

pub fn image_named(policy: &Policy, raw: &str) -> Result<Image, Reasons> {
    let found = policy.images.iter().find(|image| image.id == raw).cloned();
    found.ok_or_else(|| vec![Reason::new(Code::ImageInvalid, "image is not valid")])
}

/// Reads the credentials of the root user, and adds an error if there is an image without credentials. Garth
/// does not store the credentials and does not check the strength of the password. A password without an image
/// has no effect, because the Terraform provider always sends one.
pub fn read_credentials(form: &mut Form) -> AuthorizedUsers {
    let public_key = |input: &Input| match input {
        Input::Text(text) => Some(PublicKey::parse(text)),
        _ => None,
    };
    let password = form.optional("root_pass", |text| Ok(!text.is_empty()));
    form.values("authorized_keys", "a string", public_key);
    let users = AuthorizedUsers::read(form);
    let lists = ["authorized_keys", AuthorizedUsers::FIELD];
    let has_credentials = password == Some(true) || lists.iter().any(|name| form.count(name) > 0);
    if !has_credentials && form.has("image") {
        let text = "Must provide valid root_pass, authorized_keys, or authorized_users";
        form.refuse("root_pass", Reason::new(Code::CredentialsMissing, text));
    }
    for name in lists {
        if form.count(name) > 0 {
            refuse_without_image(form, name);
        }
    }
    users
}

/// Refuses a field that only the deployment of an image uses.
pub fn refuse_without_image(form: &mut Form, name: &'static str) {
    if !form.has("image") {
        let text = "Only the deployment of an image uses this field: send an image, or leave this field out";
        form.refuse(name, Reason::new(Code::ImageRequired, text));
    }
}

/// The error about a disk that is smaller than its image.
pub fn too_small_for(image: &Image) -> Reason {
    let text = format!(
        "The image {} needs a disk of at least {} MB",
        image.id, image.size
    );
    Reason::new(Code::ImageSize, text)
}

pub fn refuse_scripts(form: &mut Form) {
    let text = "Garth has no StackScripts: leave this field out";
    refuse_field(form, "stackscript_id", text);
    refuse_field(form, "stackscript_data", text);
}
