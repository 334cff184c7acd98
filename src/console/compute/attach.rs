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
use crate::model::interface::write_address;
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::model::subnet_name::SubnetName;
use crate::model::vpc_ip::VpcIp;
use crate::rules::caller::Caller;
use crate::rules::conditions::Condition;
use crate::rules::error::FieldError;
use crate::rules::lists::ListRequest;
use crate::rules::{self, Error};
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

const CONFIG: &str = "config_id";
const NAMES: FieldNames = FieldNames {
    subnet: "subnet_id",
    address: "ipv4.vpc",
};

/// The parameters of the URL of the form, with the fields that they fill.
const PARAMETERS: [(&str, &str); 3] = [
    ("vpc_id", "vpc_id"),
    ("subnet_id", NAMES.subnet),
    ("address", NAMES.address),
];

/// The form. The page of a subnet links here with `?subnet_id=5&address=10.0.0.7`.
pub async fn form(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<InstanceId>,
    query: Query,
) -> PageResult {
    let mut data = FormData::default();
    for (parameter, field) in PARAMETERS {
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

/// The data of the form.
struct Loaded {
    instance: Instance,
    /// The IDs and labels of the configs without a VPC interface.
    configs: Vec<(String, String)>,
    /// The VPC interfaces of the other configs.
    attached: Vec<Attached>,
    choices: Choices,
}

/// A config with a VPC interface. It cannot get another one.
struct Attached {
    config: String,
    address: u32,
    /// `None` if the caller cannot see the VPC.
    subnet: Option<SubnetName>,
    detach_url: String,
}

fn load(tx: &mut ReadTx, caller: &Caller, id: InstanceId, selection: &Selection) -> rules::Result<Loaded> {
    let instance = rules::instances::view(tx, caller, id)?;
    caller.require_permission(tx, GrantKind::Linode, id.0, Permission::ReadWrite)?;
    let (mut configs, mut attached) = (Vec::new(), Vec::new());
    for config in rules::configs::list(tx, caller, id, &ListRequest::full_page())?.items {
        let label = config.label.as_str().to_owned();
        let mut interfaces = config.interfaces.iter();
        let found = interfaces.find_map(|interface| Some((interface.id, interface.vpc.as_ref()?)));
        match found {
            None => configs.push((config.id.to_string(), label)),
            Some((interface, vpc)) => attached.push(Attached {
                config: label,
                address: vpc.address,
                subnet: rules::subnet_names::find(tx, caller, vpc.subnet)?,
                detach_url: instances::detach_url(id, config.id, interface),
            }),
        }
    }
    let choices = selection.clone().in_region(&instance.region).load(tx, caller)?;
    Ok(Loaded {
        instance,
        configs,
        attached,
        choices,
    })
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
    if let [(only, _)] = loaded.configs.as_slice() {
        form_state.data.set(CONFIG, only.as_str());
    }
    Ok(render_form(visit, &loaded, &form_state))
}

fn render_form(visit: &Visit, loaded: &Loaded, form_state: &FormState) -> Response {
    let Loaded {
        instance,
        configs,
        attached,
        choices,
    } = loaded;
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
        @if !attached.is_empty() { (attached_note(loaded, &return_url(&attach_url, form_state))) }
        @if configs.is_empty() && !attached.is_empty() {
            p { a .button href=(instance_url) { "Back to the instance" } }
        } @else if configs.is_empty() {
            @let url = format!("{instance_url}/configs/new");
            (empty_state("No configs", "Interfaces belong to a config. Add a config first.", Some(("Add config", &url))))
        } @else {
            (forms::card(visit, form_state, &form, &html! {
                button .hidden type="submit" tabindex="-1" aria-hidden="true" { "Attach" }
                @if configs.len() > 1 { (forms::select(form_state, config, configs)) }
                @else {
                    input type="hidden" name=(CONFIG) value=(form_state.data.text(CONFIG));
                    @if !attached.is_empty() { p { "The config " strong { (configs[0].1) } " gets the interface." } }
                }
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

/// This form, with the subnet and the address that were chosen.
fn return_url(attach_url: &str, form_state: &FormState) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (parameter, field) in PARAMETERS {
        let value = form_state.data.text(field);
        if !value.is_empty() {
            query.append_pair(parameter, value);
        }
    }
    format!("{attach_url}?{}", query.finish())
}

/// The configs that are attached already, each with a link that detaches it and returns to the form.
fn attached_note(loaded: &Loaded, return_url: &str) -> Markup {
    let mut query = form_urlencoded::Serializer::new(String::new());
    let query = query.append_pair("return_to", return_url).finish();
    html! {
        div .warning {
            @for attached in &loaded.attached {
                p {
                    @if loaded.attached.len() + loaded.configs.len() > 1 { "The config " strong { (attached.config) } } @else { (loaded.instance.label.as_str()) }
                    " is attached to "
                    @match &attached.subnet {
                        Some(subnet) => { "the subnet " strong { (subnet.label.as_str()) } " of " strong { (subnet.vpc_label.as_str()) } },
                        None => "a VPC",
                    }
                    ", with the address " code { (write_address(attached.address)) } ". "
                    "Detach it before you attach it to another subnet. "
                    a .button href=(format!("{}?{query}", attached.detach_url)) { "Detach" }
                }
            }
        }
    }
}

/// The instances that can be attached to a subnet, at an address if the query has one.
pub async fn choose_instance(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At((vpc, id)): At<(VpcId, SubnetId)>,
    query: Query,
) -> PageResult {
    let (text, list) = (query.search_text(), query.list_request());
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
            let ips = rules::vpc_ips::of_instances(tx, caller, &found.items)?;
            Ok((vpc, subnet, (found, ips)))
        })
        .await?;
    let (found, ips) = found;
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
    let is_attached = |instance: &Instance| ips.iter().any(|ip| ip.instance == instance.id);
    let has_no_choice = found.items.iter().all(is_attached);
    let body = html! {
        div .title {
            h1 { "Attach an instance to " (label) }
            a .button .main[has_no_choice] href=(format!("/instances/new{target}")) { "Create an instance here" }
        }
        @if !query.text("address").is_empty() { p .quiet { "At the address " code { (query.text("address")) } "." } }
        (search_form(&format!("{subnet_url}/attach"), &text, query.text("address")))
        (instance_table(&found, &ips, &target))
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

fn instance_table(found: &Paged<Instance>, ips: &[VpcIp], target: &str) -> Markup {
    let is_attached = |instance: &&Instance| ips.iter().any(|ip| ip.instance == instance.id);
    let (attached, free): (Vec<_>, Vec<_>) = found.items.iter().partition(is_attached);
    html! {
        @if found.items.is_empty() {
            (empty_state("No instances", "No instance in the region of this VPC matches.", None))
        } @else {
            @if free.is_empty() {
                p .warning { "All of these instances are attached to a subnet. Detach one first, or create an instance on this subnet." }
            }
            table .list {
                thead { tr {
                    th scope="col" { "Label" } th scope="col" { "Status" } th scope="col" { "Addresses in VPCs" } th scope="col" { span .hidden { "Actions" } }
                } }
                tbody { @for instance in free.iter().chain(&attached) {
                    @let url = instances::url(instance.id);
                    @let ips: Vec<_> = ips.iter().filter(|ip| ip.instance == instance.id).filter_map(|ip| ip.address).collect();
                    tr {
                        th scope="row" { a href=(url) { (instance.label.as_str()) } " " span .id { (instance.id) } }
                        td data-label="Status" { (status_tag(instance.status)) }
                        td data-label="Addresses in VPCs" { span {
                            @if ips.is_empty() { span .quiet { "None" } }
                            @for (at, address) in ips.iter().enumerate() { @if at > 0 { ", " } code { (write_address(*address)) } }
                        } }
                        td { div .actions { a href=(format!("{url}/attach{target}")) {
                            @if ips.is_empty() { "Attach" } @else { "Detach or attach" }
                            span .hidden { " " (instance.label.as_str()) }
                        } } }
                    }
                } }
            }
        }
    }
}
