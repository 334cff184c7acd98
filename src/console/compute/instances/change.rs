//! Editing and deleting an instance.

use axum::extract::State;
use axum::response::Response;
use maud::html;

use super::{LIST, label_field, url};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState, VERSION_FIELD};
use crate::console::layout::{pluralize, redirect_with_notice};
use crate::console::visit::Visit;
use crate::model::entity_tag::EntityTag;
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::InstanceId;
use crate::model::input::Input;
use crate::model::instance::Instance;
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

pub async fn edit(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<InstanceId>,
) -> PageResult {
    let instance = app
        .read(caller, move |tx, caller| load_writable(tx, caller, id))
        .await?;
    let form_state = FormState::prefilled(&[
        ("label", instance.label.as_str()),
        ("tags", &instance.tags.join(", ")),
        (VERSION_FIELD, &EntityTag::of(&instance).to_string()),
    ]);
    Ok(render_edit(&visit, &instance, &form_state))
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<InstanceId>,
    data: FormData,
) -> PageResult {
    let tags = data
        .text("tags")
        .split(',')
        .map(str::trim)
        .filter(|tag| !tag.is_empty());
    let tags = Input::List(tags.map(|tag| Input::Text(tag.to_owned())).collect());
    let mut object = data.object(&["label"]);
    object.push(("tags".to_owned(), tags));
    let request = app.prepare(data.request(object));
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::instances::update(tx, caller, id, &request)
        })
        .await;
    let form_state = match changed {
        Ok(instance) => return Ok(redirect_with_notice(&url(instance.id), "instance-changed")),
        Err(error) => forms::from_error(data, error)?.with_list_errors_at("tags"),
    };
    let instance = app
        .read(caller, move |tx, caller| load_writable(tx, caller, id))
        .await?;
    let form_state = form_state.with_version_of(&instance).with_current_values(&[
        ("label", instance.label.as_str()),
        ("tags", &instance.tags.join(", ")),
    ]);
    Ok(render_edit(&visit, &instance, &form_state))
}

/// The instance, if the caller can change it.
fn load_writable(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> rules::Result<Instance> {
    let instance = rules::instances::view(tx, caller, id)?;
    caller.require_permission(tx, GrantKind::Linode, id.0, Permission::ReadWrite)?;
    Ok(instance)
}

fn render_edit(visit: &Visit, instance: &Instance, form_state: &FormState) -> Response {
    let (label, instance_url) = (instance.label.as_str(), url(instance.id));
    let form = Card::new(format!("{instance_url}/edit"), "Save", &instance_url);
    let tags = Field {
        name: "tags",
        label: "Tags",
        hint: "Separated by commas.",
        optional: true,
        ..Field::default()
    };
    let body = html! {
        h1 { "Edit " (label) }
        (forms::card(visit, form_state, &form, &html! {
            (label_field(form_state, true))
            (forms::text_input(form_state, tags))
        }))
    };
    let breadcrumbs = [LIST, (label, instance_url.as_str())];
    visit.form_page(form_state, &format!("Edit {label}"), &breadcrumbs, &body)
}

/// An instance, and the number of its disks.
type Deletion = (Instance, usize);

fn load_deletion(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> rules::Result<Deletion> {
    let instance = load_writable(tx, caller, id)?;
    let disks = rules::disks::list(tx, caller, id, &ListRequest::first(1))?.results;
    Ok((instance, disks as usize))
}

pub async fn confirm_delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<InstanceId>,
) -> PageResult {
    let deletion = app
        .read(caller, move |tx, caller| load_deletion(tx, caller, id))
        .await?;
    Ok(render_delete(&visit, &deletion, &FormState::default()))
}

pub async fn delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<InstanceId>,
    data: FormData,
) -> PageResult {
    let deletion = app
        .read(caller.clone(), move |tx, caller| load_deletion(tx, caller, id))
        .await?;
    let request = data.request(Vec::new());
    let deleting = app.write(caller, move |tx, caller| {
        rules::instances::delete(tx, caller, id, &request)
    });
    let deleted = forms::if_confirmed(&data, deletion.0.label.as_str(), deleting).await;
    match deleted {
        Ok(()) => Ok(redirect_with_notice(LIST.1, "instance-deleted")),
        Err(error) => Ok(render_delete(&visit, &deletion, &forms::from_error(data, error)?)),
    }
}

fn render_delete(visit: &Visit, (instance, disks): &Deletion, form_state: &FormState) -> Response {
    let (label, instance_url) = (instance.label.as_str(), url(instance.id));
    // A boot changes the instance without a user, so the form has no version.
    let form = Card::new(format!("{instance_url}/delete"), "Delete instance", &instance_url).danger();
    let body = html! {
        h1 { "Delete " (label) "?" }
        (forms::card(visit, form_state, &form, &html! {
            p {
                "This permanently deletes the instance"
                @if *disks > 0 { " and its " strong { (pluralize(*disks, "disk", "disks")) } }
                ", and releases its addresses."
                @if instance.running.is_some() { " " strong { "It is running." } }
            }
            (forms::confirmation_input(form_state, label))
        }))
    };
    let breadcrumbs = [LIST, (label, instance_url.as_str())];
    visit.form_page(form_state, &format!("Delete {label}"), &breadcrumbs, &body)
}
