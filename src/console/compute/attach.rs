//! Attaching an instance to a subnet: the form, and the choice of an instance for a subnet.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState};
use crate::console::instances::{self, status_tag};
use crate::console::layout::{empty_state, pagination, redirect_with_notice};
use crate::console::query::{MAX_SEARCH_CHARS, Query};
use crate::console::subnet_choice::{self, Choices, FieldNames, Selection};
use crate::console::visit::Visit;
use crate::console::{subnets, vpcs};
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::{ConfigId, InstanceId, SubnetId, VpcId};
use crate::model::instance::Instance;
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::rules::caller::Caller;
use crate::rules::conditions::Condition;
use crate::rules::error::FieldError;
use crate::rules::lists::ListRequest;
use crate::rules::{self, Error};
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

const INSTANCES_PER_PAGE: i64 = 50;
const CONFIG: &str = "config_id";
const NAMES: FieldNames = FieldNames {
    subnet: "subnet_id",
    address: "ipv4.vpc",
};

/// The form. The page of a subnet links here with `?subnet_id=5&address=10.0.0.7`.
pub async fn form(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<InstanceId>,
    query: Query,
) -> PageResult {
    let mut data = FormData::default();
    for (parameter, field) in [
        ("vpc_id", "vpc_id"),
        ("subnet_id", NAMES.subnet),
        ("address", NAMES.address),
    ] {
        data.set(field, query.text(parameter));
    }
    render(&app, &visit, caller, id, FormState::with_errors(data, Vec::new())).await
}

pub async fn attach(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<InstanceId>,
    data: FormData,
) -> PageResult {
    if subnet_choice::is_load(&data) {
        return render(&app, &visit, caller, id, FormState::with_errors(data, Vec::new())).await;
    }
    let attached = match data.text(CONFIG).parse().ok().map(ConfigId) {
        Some(config) => {
            let request = app.prepare(data.request(subnet_choice::interface(&data, NAMES)));
            let attaching = app.write(caller.clone(), move |tx, caller| {
                rules::interfaces::create(tx, caller, (id, config), &request)
            });
            attaching.await
        }
        None => Err(Error::on(CONFIG, Reason::new(Code::Required, "Choose a config"))),
    };
    match attached {
        Ok(_) => Ok(redirect_with_notice(&instances::url(id), "interface-attached")),
        Err(error) => {
            let mut form_state = forms::from_error(data, error)?;
            // The form has no field for the purpose. The error is that the config already has a VPC interface.
            let on_purpose = |error: &&mut FieldError| error.field.as_deref() == Some("purpose");
            for error in form_state.errors.iter_mut().filter(on_purpose) {
                error.field = None;
                error.reason =
                    "The config is already attached to a VPC. Detach it first, or choose another config."
                        .to_owned();
            }
            render(&app, &visit, caller, id, form_state).await
        }
    }
}

/// An instance with the IDs and labels of its configs, and the subnets to choose from.
type Loaded = (Instance, Vec<(String, String)>, Choices);

fn load(tx: &mut ReadTx, caller: &Caller, id: InstanceId, selection: &Selection) -> rules::Result<Loaded> {
    let instance = rules::instances::view(tx, caller, id)?;
    caller.require_permission(tx, GrantKind::Linode, id.0, Permission::ReadWrite)?;
    let configs = rules::configs::list(tx, caller, id, &ListRequest::full_page())?;
    let configs = configs.items.into_iter();
    let configs = configs.map(|config| {
        let is_attached = config.interfaces.iter().any(|interface| interface.vpc.is_some());
        let note = if is_attached { " (already attached)" } else { "" };
        (config.id.to_string(), format!("{}{note}", config.label.as_str()))
    });
    let choices = selection.clone().in_region(&instance.region).load(tx, caller)?;
    Ok((instance, configs.collect(), choices))
}

async fn render(
    app: &App,
    visit: &Visit,
    caller: Caller,
    id: InstanceId,
    mut form_state: FormState,
) -> PageResult {
    let selection = Selection::read(&form_state.data, NAMES);
    let loaded = app
        .read(caller, move |tx, caller| load(tx, caller, id, &selection))
        .await?;
    if let [(only, _)] = loaded.1.as_slice() {
        form_state.data.set(CONFIG, only.as_str());
    }
    Ok(render_form(visit, &loaded, &form_state))
}

fn render_form(visit: &Visit, (instance, configs, choices): &Loaded, form_state: &FormState) -> Response {
    let (label, instance_url) = (instance.label.as_str(), instances::url(instance.id));
    let attach_url = format!("{instance_url}/attach");
    let form = Card::new(attach_url.as_str(), "Attach", &instance_url);
    let config = Field {
        name: CONFIG,
        label: "Config",
        ..Field::default()
    };
    let body = html! {
        h1 { "Attach " (label) " to a subnet" }
        @if configs.is_empty() {
            @let url = format!("{instance_url}/configs/new");
            (empty_state("No configs", "Interfaces belong to a config. Add a config first.", Some(("Add config", &url))))
        } @else {
            (forms::card(visit, form_state, &form, &html! {
                button .hidden type="submit" tabindex="-1" aria-hidden="true" { "Attach" }
                @if configs.len() > 1 { (forms::select(form_state, config, configs)) }
                @else { input type="hidden" name=(CONFIG) value=(form_state.data.text(CONFIG)); }
                (subnet_choice::fields(form_state, choices, NAMES, false, &attach_url))
                @if instance.running.is_some() {
                    p .hint { "The instance is running. It uses the new interface after the next boot." }
                }
            }))
        }
    };
    let breadcrumbs = [instances::LIST, (label, instance_url.as_str())];
    visit.form_page(form_state, "Attach to a subnet", &breadcrumbs, &body)
}

/// The instances that can be attached to a subnet, at an address if the query has one.
pub async fn choose_instance(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At((vpc, id)): At<(VpcId, SubnetId)>,
    query: Query,
) -> PageResult {
    let (text, list) = (query.search_text(), query.list_request(INSTANCES_PER_PAGE));
    let search = text.clone();
    let (vpc, subnet, found) = app
        .read(caller, move |tx, caller| {
            let subnet = rules::subnets::view(tx, caller, (vpc, id))?;
            let vpc = rules::vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadOnly)?;
            let mut list = list.clone().sorted("label", false);
            list = list.only(Condition::equal("region", vpc.region.0.as_str()));
            if !search.is_empty() {
                list = list.only(Condition::contained_in(["label", "id", "tags"], &search));
            }
            let found = rules::instances::list(tx, caller, &list)?;
            Ok((vpc, subnet, found))
        })
        .await?;
    let (subnet_url, vpc_url) = (subnets::url(&subnet), vpcs::url(vpc.id));
    let label = subnet.label.as_str();
    let target = match query.text("address") {
        "" => format!("?subnet_id={}", subnet.id),
        address => {
            let mut query = form_urlencoded::Serializer::new(String::new());
            query.append_pair("subnet_id", &subnet.id.to_string());
            format!("?{}", query.append_pair("address", address).finish())
        }
    };
    let body = html! {
        div .title {
            h1 { "Attach an instance to " (label) }
            a .button href=(format!("/instances/new{target}")) { "Create instance on this subnet" }
        }
        @if !query.text("address").is_empty() { p .quiet { "At the address " code { (query.text("address")) } "." } }
        (search_form(&format!("{subnet_url}/attach"), &text, query.text("address")))
        (instance_table(&found, &target))
        (pagination(&found, &format!("{subnet_url}/attach{target}")))
    };
    let breadcrumbs = [
        vpcs::LIST,
        (vpc.label.as_str(), vpc_url.as_str()),
        (label, subnet_url.as_str()),
    ];
    Ok(visit.page("Attach an instance", &breadcrumbs, &body))
}

fn search_form(url: &str, text: &str, address: &str) -> Markup {
    html! {
        form .search role="search" aria-label="Instances" method="get" action=(url) {
            div .field {
                label for="q" { "Search" }
                input #q type="search" name="q" value=(text) autocomplete="off" spellcheck="false" maxlength=(MAX_SEARCH_CHARS)
                    placeholder="Label, ID or tag";
            }
            @if !address.is_empty() { input type="hidden" name="address" value=(address); }
            button type="submit" { "Search" }
        }
    }
}

fn instance_table(found: &Paged<Instance>, target: &str) -> Markup {
    html! {
        @if found.items.is_empty() {
            (empty_state("No instances", "No instance in the region of this VPC matches.", None))
        } @else {
            table .list {
                thead { tr { th scope="col" { "Label" } th scope="col" { "Status" } th scope="col" { span .hidden { "Actions" } } } }
                tbody { @for instance in &found.items {
                    @let url = instances::url(instance.id);
                    tr {
                        th scope="row" { a href=(url) { (instance.label.as_str()) } " " span .id { (instance.id) } }
                        td data-label="Status" { (status_tag(instance.status)) }
                        td { div .actions { a href=(format!("{url}/attach{target}")) { "Attach" span .hidden { " " (instance.label.as_str()) } } } }
                    }
                } }
            }
        }
    }
}
