//! The page of an instance: its state, its addresses, its configs and their interfaces.

use std::collections::HashMap;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use maud::{Markup, html};

use super::{LIST, detach_url, image_label, plan_label, status_tag, url};
use crate::console::account::event_filter::url_of_object;
use crate::console::error_page::PageResult;
use crate::console::forms::FormState;
use crate::console::layout::{empty_state, region_name, time};
use crate::console::power;
use crate::console::visit::Visit;
use crate::console::vpcs::active_tag;
use crate::console::{port_table, subnets, vpcs};
use crate::model::config::Config;
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::{InstanceId, SubnetId};
use crate::model::instance::Instance;
use crate::model::interface::{Interface, Purpose, VpcAttachment, write_address};
use crate::model::policy::Policy;
use crate::model::port::PortDetails;
use crate::model::subnet_name::SubnetName;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::rules::{self, Error};
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

pub async fn view(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<InstanceId>,
    headers: HeaderMap,
) -> PageResult {
    let loaded = app
        .read(caller, move |tx, caller| InstancePage::load(tx, caller, id))
        .await;
    match loaded {
        // An open page reloads itself with htmx, which discards error responses.
        Err(Error::NotFound) if headers.contains_key("hx-request") => {
            Ok(visit.page("Instance", &[LIST], &not_available()))
        }
        page => Ok(page?.respond(&app, &visit, &FormState::default())),
    }
}

/// The page after a change of the power state that failed.
pub async fn render(
    app: &App,
    visit: &Visit,
    caller: Caller,
    id: InstanceId,
    form_state: &FormState,
) -> PageResult {
    let page = app
        .read(caller, move |tx, caller| InstancePage::load(tx, caller, id))
        .await?;
    Ok(page.respond(app, visit, form_state))
}

fn not_available() -> Markup {
    let text = "It was deleted, or you no longer have access to it.";
    html! { div #instance role="status" { (empty_state("Instance not available", text, Some(("Show all instances", LIST.1)))) } }
}

/// The data of the page.
struct InstancePage {
    instance: Instance,
    configs: Vec<Config>,
    /// The subnets of the interfaces that the caller can see.
    subnets: HashMap<SubnetId, SubnetName>,
    /// The ports on a host. An instance in a region without hosts has none.
    ports: Vec<PortDetails>,
    may_change: bool,
}

impl InstancePage {
    fn load(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> rules::Result<Self> {
        let instance = rules::instances::view(tx, caller, id)?;
        let configs = rules::configs::list(tx, caller, id, &ListRequest::full_page())?.items;
        let interfaces = configs.iter().flat_map(|config| &config.interfaces);
        let subnets = rules::subnet_names::of_interfaces(tx, caller, interfaces)?;
        let permission = caller.require_permission(tx, GrantKind::Linode, id.0, Permission::ReadWrite);
        Ok(Self {
            instance,
            configs,
            subnets,
            ports: rules::ports::of_instance(tx, caller, id)?,
            may_change: permission.is_ok(),
        })
    }

    fn respond(&self, app: &App, visit: &Visit, form_state: &FormState) -> Response {
        let body = self.render(&app.store().policy(), visit, form_state);
        visit.form_page(form_state, self.instance.label.as_str(), &[LIST], &body)
    }

    fn render(&self, policy: &Policy, visit: &Visit, form_state: &FormState) -> Markup {
        let InstancePage {
            instance, may_change, ..
        } = self;
        let instance_url = url(instance.id);
        // The end of a boot on a host is no new event, so the page also polls while the instance is busy.
        let poll = if instance.is_busy() { ", every 2s" } else { "" };
        let trigger = format!("garth:linode-{} from:body{poll}", instance.id);
        html! { div #instance hx-get=(instance_url) hx-trigger=(trigger) hx-select="#instance" hx-swap="outerHTML" {
            (form_state.alert())
            div .title {
                h1 { (instance.label.as_str()) " " (status_tag(instance.status)) }
                div .actions {
                    @if *may_change { (power::buttons(visit, instance, &self.configs)) }
                    a .button href=(format!("/tickets/new?linode_id={}", instance.id)) { "Open a ticket about this" }
                    a .button href=(url_of_object("linode", instance.id.0)) { "Activity" }
                    @if *may_change {
                        a .button href=(format!("{instance_url}/edit")) { "Edit" }
                        a .button.danger href=(format!("{instance_url}/delete")) { "Delete" }
                    }
                }
            }
            (self.facts(policy))
            section aria-labelledby="configs" {
                div .title {
                    h2 #configs { "Configs and interfaces" }
                    @if *may_change { div .actions {
                        @if !self.configs.is_empty() { a .button href=(format!("{instance_url}/attach")) { "Attach to a subnet" } }
                        @if !self.configs.is_empty() { a .button href=(format!("{instance_url}/configs/new")) { "Add config" } }
                    } }
                }
                @if self.configs.is_empty() {
                    @let new_config = format!("{instance_url}/configs/new");
                    @let next = may_change.then_some(("Add config", new_config.as_str()));
                    (empty_state("No configs", "An instance boots with a config, which has its disks and interfaces.", next))
                }
                @for config in &self.configs { (self.config(config)) }
            }
            (port_table::of_instance(&self.ports, &instance_url))
        } }
    }

    fn facts(&self, policy: &Policy) -> Markup {
        let instance = &self.instance;
        html! {
            dl .facts {
                div { dt { "Region" } dd { (region_name(policy, &instance.region)) } }
                div { dt { "Plan" } dd { (plan_label(policy, &instance.plan)) } }
                @if let Some(image) = &instance.image { div { dt { "Image" } dd { (image_label(policy, image)) } } }
                div { dt { "Public addresses" } dd { (addresses(&instance.ipv4)) } }
                @if !instance.private_ipv4.is_empty() { div { dt { "Private address" } dd { (addresses(&instance.private_ipv4)) } } }
                @if !instance.tags.is_empty() { div { dt { "Tags" } dd { @for tag in &instance.tags { span .tag { (tag) } " " } } } }
                div { dt { "ID" } dd { (instance.id) } }
                div { dt { "Created" } dd { (time(instance.created)) } }
                div { dt { "Updated" } dd { (time(instance.updated)) } }
            }
        }
    }

    fn config(&self, config: &Config) -> Markup {
        let config_url = format!("{}/configs/{}", url(self.instance.id), config.id);
        let label = config.label.as_str();
        let is_running = self.instance.running == Some(config.id);
        html! {
            div .title.config {
                h3 { (label) " " span .id { (config.id) } @if is_running { " " span .tag.on { "running" } } }
                @if self.may_change { div .actions {
                    a href=(format!("{config_url}/edit")) { "Edit" span .hidden { " " (label) } }
                    a href=(format!("{config_url}/delete")) { "Delete" span .hidden { " " (label) } }
                } }
            }
            @if config.interfaces.is_empty() {
                p .quiet { "No interfaces. The instance uses its public address." }
            } @else {
                table .list {
                    thead { tr {
                        th scope="col" { "Network" } th scope="col" { "Address" } th scope="col" { "State" }
                        @if self.may_change { th scope="col" { span .hidden { "Actions" } } }
                    } }
                    tbody { @for interface in &config.interfaces { (self.interface(config, interface)) } }
                }
            }
        }
    }

    fn interface(&self, config: &Config, interface: &Interface) -> Markup {
        let detach = detach_url(self.instance.id, config.id, interface.id);
        let verb = if interface.vpc.is_some() {
            "Detach"
        } else {
            "Remove"
        };
        html! {
            tr #(format!("interface-{}", interface.id)) {
                th scope="row" { (network_name(interface, &self.subnets)) " " span .quiet.small { "interface " (interface.id) } }
                td .long data-label="Address" { div { (interface_addresses(interface)) } }
                td data-label="State" { (active_tag(interface.active)) @if interface.primary { " " span .tag { "primary" } } }
                @if self.may_change { td { div .actions {
                    a href=(detach) { (verb) span .hidden { " interface " (interface.id) } }
                } } }
            }
        }
    }
}

fn addresses(all: &[u32]) -> Markup {
    html! { @for (at, address) in all.iter().enumerate() { @if at > 0 { ", " } code { (write_address(*address)) } } }
}

/// The network of an interface, with links if the caller can see the VPC.
fn network_name(interface: &Interface, names: &HashMap<SubnetId, SubnetName>) -> Markup {
    match (&interface.vpc, interface.purpose) {
        (Some(attachment), _) => match names.get(&attachment.subnet) {
            Some(name) => html! {
                a href=(vpcs::url(name.vpc)) { (name.vpc_label.as_str()) } " / "
                a href=(subnets::interface_url_by_name(name, interface.id)) { (name.label.as_str()) }
            },
            None => html! { "Subnet " (attachment.subnet) },
        },
        (None, Purpose::Vlan) => html! { "VLAN " (interface.label.as_deref().unwrap_or_default()) },
        (None, _) => html! { "Internet" },
    }
}

fn interface_addresses(interface: &Interface) -> Markup {
    match (&interface.vpc, &interface.ipam_address) {
        (Some(attachment), _) => vpc_addresses(attachment),
        (None, Some(address)) if !address.is_empty() => html! { code { (address) } },
        _ => html! { "–" },
    }
}

fn vpc_addresses(attachment: &VpcAttachment) -> Markup {
    let ipv6 = attachment.ipv6.as_ref();
    html! {
        code { (write_address(attachment.address)) }
        @if let Some(public) = attachment.nat_1_1 { div .quiet { "1:1 NAT " code { (write_address(public)) } } }
        @for range in &attachment.ranges { div { code { (range) } " " span .tag { "range" } } }
        @if let Some(slaac) = ipv6.and_then(|ipv6| ipv6.slaac) { div { code { (slaac) } " " span .tag { "SLAAC" } } }
        @for range in ipv6.iter().flat_map(|ipv6| &ipv6.ranges) { div { code { (range) } " " span .tag { "range" } } }
    }
}
