//! Creating, editing and deleting the configs of an instance.

use axum::extract::State;
use axum::response::Response;
use maud::html;

use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState, VERSION_FIELD};
use crate::console::instances;
use crate::console::layout::{pluralize, redirect_with_notice};
use crate::console::visit::Visit;
use crate::model::config::Config;
use crate::model::disk::Disk;
use crate::model::entity_tag::EntityTag;
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::{ConfigId, InstanceId};
use crate::model::input::Input;
use crate::model::instance::Instance;
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

type Path = At<(InstanceId, ConfigId)>;

/// The field with the disk that the config boots from.
const BOOT_DISK: &str = "devices.sda.disk_id";
const LABEL: Field = Field {
    name: "label",
    label: "Label",
    hint: "Up to 48 characters.",
    optional: false,
    autofocus: true,
    code: false,
    max_chars: Some(48),
    check_url: None,
};
const COMMENTS: Field = Field {
    name: "comments",
    label: "Comments",
    hint: "Up to 255 characters.",
    optional: true,
    autofocus: false,
    code: false,
    max_chars: Some(255),
    check_url: None,
};

pub async fn new(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<InstanceId>) -> PageResult {
    render_new(&app, &visit, caller, id, FormState::default()).await
}

pub async fn create(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<InstanceId>,
    data: FormData,
) -> PageResult {
    let mut object = data.object(&["label", "comments"]);
    if let Ok(disk) = data.text(BOOT_DISK).parse() {
        let device = Input::Object(vec![("disk_id".to_owned(), Input::Integer(disk))]);
        let devices = Input::Object(vec![("sda".to_owned(), device)]);
        object.push(("devices".to_owned(), devices));
    }
    let request = app.prepare(data.request(object));
    let created = app
        .write(caller.clone(), move |tx, caller| {
            rules::configs::create(tx, caller, id, &request)
        })
        .await;
    match created {
        Ok(_) => Ok(redirect_with_notice(&instances::url(id), "config-created")),
        Err(error) => render_new(&app, &visit, caller, id, forms::from_error(data, error)?).await,
    }
}

async fn render_new(
    app: &App,
    visit: &Visit,
    caller: Caller,
    id: InstanceId,
    form_state: FormState,
) -> PageResult {
    let (instance, disks) = app
        .read(caller, move |tx, caller| {
            let instance = load_writable(tx, caller, id)?;
            let disks = rules::disks::list(tx, caller, id, &ListRequest::full_page())?.items;
            Ok((instance, disks))
        })
        .await?;
    let disk_choice = |disk: &Disk| {
        (
            disk.id.to_string(),
            format!("{} ({} MB)", disk.label.as_str(), disk.size),
        )
    };
    let disks: Vec<_> = disks.iter().map(disk_choice).collect();
    let boot_disk = Field {
        name: BOOT_DISK,
        label: "Boot disk",
        optional: true,
        ..Field::default()
    };
    let (label, instance_url) = (instance.label.as_str(), instances::url(id));
    let form = Card::new(format!("{instance_url}/configs/new"), "Add config", &instance_url);
    let body = html! {
        h1 { "Add a config to " (label) }
        (forms::card(visit, &form_state, &form, &html! {
            (forms::text_input(&form_state, LABEL))
            @if !disks.is_empty() { (forms::select_or(&form_state, boot_disk, "None", &disks)) }
            (forms::textarea(&form_state, COMMENTS, 2))
        }))
    };
    let breadcrumbs = [instances::LIST, (label, instance_url.as_str())];
    Ok(visit.form_page(&form_state, "Add a config", &breadcrumbs, &body))
}

/// The instance, if the caller can change it.
fn load_writable(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> rules::Result<Instance> {
    let instance = rules::instances::view(tx, caller, id)?;
    caller.require_permission(tx, GrantKind::Linode, id.0, Permission::ReadWrite)?;
    Ok(instance)
}

fn load(
    tx: &mut ReadTx,
    caller: &Caller,
    (id, config): (InstanceId, ConfigId),
) -> rules::Result<(Instance, Config)> {
    let config = rules::configs::view(tx, caller, (id, config))?;
    Ok((load_writable(tx, caller, id)?, config))
}

pub async fn edit(State(app): State<App>, visit: Visit, caller: Caller, At(path): Path) -> PageResult {
    let (instance, config) = app.read(caller, move |tx, caller| load(tx, caller, path)).await?;
    let form_state = FormState::prefilled(&[
        ("label", config.label.as_str()),
        ("comments", &config.settings.comments),
        (VERSION_FIELD, &EntityTag::of(&config).to_string()),
    ]);
    Ok(render_edit(&visit, &instance, &config, &form_state))
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(path): Path,
    data: FormData,
) -> PageResult {
    let request = app.prepare(data.request(data.object(&["label", "comments"])));
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::configs::update(tx, caller, path, &request)
        })
        .await;
    let form_state = match changed {
        Ok(_) => return Ok(redirect_with_notice(&instances::url(path.0), "config-changed")),
        Err(error) => forms::from_error(data, error)?,
    };
    let (instance, config) = app.read(caller, move |tx, caller| load(tx, caller, path)).await?;
    let form_state = form_state.with_version_of(&config).with_current_values(&[
        ("label", config.label.as_str()),
        ("comments", &config.settings.comments),
    ]);
    Ok(render_edit(&visit, &instance, &config, &form_state))
}

fn render_edit(visit: &Visit, instance: &Instance, config: &Config, form_state: &FormState) -> Response {
    let (label, instance_url) = (config.label.as_str(), instances::url(instance.id));
    let form = Card::new(url(config, "edit"), "Save", &instance_url);
    let body = html! {
        h1 { "Edit " (label) }
        (forms::card(visit, form_state, &form, &html! {
            (forms::text_input(form_state, LABEL))
            (forms::textarea(form_state, COMMENTS, 2))
        }))
    };
    let breadcrumbs = [instances::LIST, (instance.label.as_str(), instance_url.as_str())];
    visit.form_page(form_state, &format!("Edit {label}"), &breadcrumbs, &body)
}

fn url(config: &Config, page: &str) -> String {
    format!("{}/configs/{}/{page}", instances::url(config.instance), config.id)
}

pub async fn confirm_delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(path): Path,
) -> PageResult {
    let (instance, config) = app.read(caller, move |tx, caller| load(tx, caller, path)).await?;
    let form_state = FormState::default().with_version_of(&config);
    Ok(render_delete(&visit, &instance, &config, &form_state))
}

pub async fn delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(path): Path,
    data: FormData,
) -> PageResult {
    let request = data.request(Vec::new());
    let deleted = app
        .write(caller.clone(), move |tx, caller| {
            rules::configs::delete(tx, caller, path, &request)
        })
        .await;
    let form_state = match deleted {
        Ok(()) => return Ok(redirect_with_notice(&instances::url(path.0), "config-deleted")),
        Err(error) => forms::from_error(data, error)?,
    };
    let (instance, config) = app.read(caller, move |tx, caller| load(tx, caller, path)).await?;
    let form_state = form_state.with_version_of(&config);
    Ok(render_delete(&visit, &instance, &config, &form_state))
}

fn render_delete(visit: &Visit, instance: &Instance, config: &Config, form_state: &FormState) -> Response {
    let (label, instance_url) = (config.label.as_str(), instances::url(instance.id));
    let form = Card::new(url(config, "delete"), "Delete config", &instance_url).danger();
    let interfaces = config.interfaces.len();
    let body = html! {
        h1 { "Delete " (label) "?" }
        (forms::card(visit, form_state, &form, &html! {
            p {
                "This permanently deletes the config"
                @if interfaces > 0 { " and its " strong { (pluralize(interfaces, "interface", "interfaces")) } }
                ". The disks remain."
            }
        }))
    };
    let breadcrumbs = [instances::LIST, (instance.label.as_str(), instance_url.as_str())];
    visit.form_page(form_state, &format!("Delete {label}"), &breadcrumbs, &body)
}
