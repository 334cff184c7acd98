//! Pages for the subnets of a VPC.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::account::event_filter::url_of_object;
use crate::console::address_map::{self, format_range, in_use};
use crate::console::blockers;
use crate::console::error_page::{ErrorPage, PageResult};
use crate::console::forms::{self, Card, FormData, FormState, VERSION_FIELD};
use crate::console::ipv6;
use crate::console::layout::{empty_state, fragment, redirect_with_notice, time};
use crate::console::port_table;
use crate::console::query::Query;
use crate::console::usage::{used_meter, used_meter_with_percent};
use crate::console::visit::Visit;
use crate::console::vpcs::{self, active_tag, field_errors, label_field, range_feedback, range_field};
use crate::model::address_map::{View, bucket_prefix};
use crate::model::cidr::{Cidr, Cidr6};
use crate::model::entity_tag::EntityTag;
use crate::model::grant::{Global, GrantKind, Permission};
use crate::model::id::{InterfaceId, SubnetId, VpcId};
use crate::model::interface::write_address;
use crate::model::range_request::OF_SUBNETS;
use crate::model::subnet::Subnet;
use crate::model::subnet_name::SubnetName;
use crate::model::vpc::Vpc;
use crate::rules;
use crate::rules::address_map::{SubnetMap, Window, Windows};
use crate::rules::addresses::{self, Usage};
use crate::rules::caller::Caller;
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

type Path = At<(VpcId, SubnetId)>;

pub fn url(subnet: &Subnet) -> String {
    format!("/vpcs/{}/subnets/{}", subnet.vpc, subnet.id)
}

/// The URL of an interface on the page of its subnet. For a large subnet, the URL also zooms in on the
/// interface.
pub fn interface_url(subnet: &Subnet, interface: InterfaceId) -> String {
    interface_url_at(&url(subnet), subnet, interface)
}

/// Like `url`, for the name of a subnet.
pub fn url_by_name(subnet: &SubnetName) -> String {
    format!("/vpcs/{}/subnets/{}", subnet.vpc, subnet.id)
}

/// Like `interface_url`, for the name of a subnet.
pub fn interface_url_by_name(subnet: &SubnetName, interface: InterfaceId) -> String {
    interface_url_in(&url_by_name(subnet), subnet.ipv4, interface)
}

/// Like `interface_url`, if `subnet_url` is the URL of the subnet's page.
pub fn interface_url_at(subnet_url: &str, subnet: &Subnet, interface: InterfaceId) -> String {
    interface_url_in(subnet_url, subnet.ipv4, interface)
}

fn interface_url_in(subnet_url: &str, range: Cidr, interface: InterfaceId) -> String {
    match bucket_prefix(range) {
        None => format!("{subnet_url}#interface-{interface}"),
        Some(_) => format!("{subnet_url}?interface={interface}#interface-{interface}"),
    }
}

/// The number of instances on a subnet. The subnet's `uses` are grouped by instance.
pub fn instance_count(subnet: &Subnet) -> usize {
    subnet.uses.chunk_by(|a, b| a.instance == b.instance).count()
}

/// The form. A free block of the map links here with `?free=10.0.1.0-10.0.3.255`.
pub async fn new(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<VpcId>,
    query: Query,
) -> PageResult {
    let vpc = app
        .read(caller, move |tx, caller| load_writable(tx, caller, id))
        .await?;
    let ranges: Vec<Cidr> = vpc.subnets.iter().map(|subnet| subnet.ipv4).collect();
    let in_block = address_map::parse_block(query.text("free"))
        .and_then(|(first, last)| rules::subnets::propose_in(&ranges, first, last));
    let next = || rules::subnets::propose(&app.store().policy(), &ranges, None);
    let proposed = in_block.or_else(next);
    let range = proposed.map(|range| range.to_string()).unwrap_or_default();
    let label = format!("subnet-{}", vpc.subnets.len() + 1);
    let ipv6 = vpc.ipv6.map(|_| format!("/{}", OF_SUBNETS.default));
    let ipv6 = (ipv6::FIELD, ipv6.as_deref().unwrap_or_default());
    let form_state = FormState::prefilled(&[("label", &label), ("ipv4", &range), ipv6]);
    Ok(render_new(&visit, &vpc, &form_state))
}

pub async fn create(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<VpcId>,
    data: FormData,
) -> PageResult {
    let typed = data.clone();
    let created = app
        .write(caller.clone(), move |tx, caller| {
            let mut data = typed.clone();
            let vpc = load_writable(tx, caller, id)?;
            let ranges: Vec<Cidr> = vpc.subnets.iter().map(|subnet| subnet.ipv4).collect();
            vpcs::fill_size(tx.policy(), &mut data, "ipv4", &ranges);
            let request = data.request(ipv6::with_list(data.object(&vpcs::SUBNET_FIELDS)));
            rules::subnets::create(tx, caller, id, &request)
        })
        .await;
    match created {
        Ok(subnet) => Ok(redirect_with_notice(&url(&subnet), "subnet-created")),
        Err(error) => {
            let form_state = ipv6::with_field_errors(forms::from_error(data, error)?);
            let vpc = app
                .read(caller, move |tx, caller| load_writable(tx, caller, id))
                .await?;
            Ok(render_new(&visit, &vpc, &form_state))
        }
    }
}

/// Validates a range while the user types.
pub async fn check(State(app): State<App>, caller: Caller, At(id): At<VpcId>, query: Query) -> PageResult {
    let Query(data) = query;
    let request = data.request(ipv6::with_list(data.object(&vpcs::SUBNET_FIELDS)));
    let (errors, ranges) = app
        .read(caller, move |tx, caller| {
            let vpc = load_writable(tx, caller, id)?;
            let errors = field_errors(rules::subnets::check(tx, caller, id, &request))?;
            let ranges: Vec<Cidr> = vpc.subnets.iter().map(|subnet| subnet.ipv4).collect();
            Ok((errors, ranges))
        })
        .await?;
    let prefix = Cidr::prefix_length_of(data.text("ipv4"));
    let proposed = rules::subnets::propose(&app.store().policy(), &ranges, prefix);
    let feedback = range_feedback("ipv4", data.text("ipv4"), &errors, proposed);
    Ok(fragment(&feedback))
}

fn load_writable(tx: &mut ReadTx, caller: &Caller, id: VpcId) -> rules::Result<Vpc> {
    rules::vpcs::load_for(tx, caller, id, Permission::ReadWrite)
}

fn render_new(visit: &Visit, vpc: &Vpc, form_state: &FormState) -> Response {
    let (label, vpc_url) = (vpc.label.as_str(), vpcs::url(vpc.id));
    let form = Card::new(format!("{vpc_url}/subnets/new"), "Add subnet", &vpc_url);
    let vpc_range = vpc.ipv6.map(|range| range.to_string()).unwrap_or_default();
    let hint = format!("The lowest free part of {vpc_range}. Cannot be changed later.");
    let body = html! {
        h1 { "Add a subnet to " (label) }
        (forms::card(visit, form_state, &form, &html! {
            (label_field(form_state, "label", true))
            (range_field(form_state, "ipv4", &format!("{vpc_url}/subnets/check")))
            p .hint { "A private IPv4 range from /8 to /29 that does not overlap another subnet. Cannot be changed later." }
            @if vpc.ipv6.is_some() { (ipv6::range_field(form_state, ipv6::FIELD, &hint, &ipv6::subnet_choices(vpc.ipv6))) }
        }))
    };
    visit.form_page(
        form_state,
        "Add a subnet",
        &[vpcs::LIST, (label, &vpc_url)],
        &body,
    )
}

pub async fn view(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At((vpc, id)): Path,
    query: Query,
) -> PageResult {
    let windows = windows(&query)?;
    let (map, usage, allowed, ports) = app
        .read(caller, move |tx, caller| {
            let map = rules::address_map::view(tx, caller, vpc, id, windows)?;
            let ports = rules::ports::of_subnet(tx, caller, vpc, id)?;
            let usage = addresses::used_in_subnets(tx, std::slice::from_ref(&map.subnet))?;
            let allowed = Allowed {
                change: caller
                    .require_permission(tx, GrantKind::Vpc, vpc.0, Permission::ReadWrite)
                    .is_ok(),
                attach: caller.may_change_any(tx, GrantKind::Linode)?,
                create_instance: caller.require_global_grant(Global::AddLinodes).is_ok(),
            };
            Ok((map, usage[0], allowed, ports))
        })
        .await?;
    let (label, vpc_url) = (map.subnet.label.as_str(), vpcs::url(vpc));
    let breadcrumbs = [vpcs::LIST, (map.vpc.label.as_str(), vpc_url.as_str())];
    let subnet_url = url(&map.subnet);
    let body = html! {
        (render(&map, usage, &subnet_url, Some(allowed)))
        (port_table::of_subnet(&ports))
    };
    Ok(visit.page(label, &breadcrumbs, &body))
}

/// The parts of the subnet that the query selects.
pub fn windows(query: &Query) -> Result<Windows, ErrorPage> {
    let not_found = |_| ErrorPage::not_found();
    let ipv4 = match (query.text("in"), query.text("interface").parse()) {
        ("", Ok(interface)) => Window::Around(InterfaceId(interface)),
        ("", Err(_)) => Window::Whole,
        (part, _) => Window::Part(Cidr::parse(part).map_err(not_found)?),
    };
    let ipv6 = match query.text("in6") {
        "" => None,
        part => Some(Cidr6::parse(part).map_err(not_found)?),
    };
    Ok(Windows { ipv4, ipv6 })
}

/// What the user may do on the page of a subnet.
#[derive(Clone, Copy)]
pub struct Allowed {
    /// Change and delete the subnet.
    change: bool,
    /// Attach an instance.
    attach: bool,
    create_instance: bool,
}

/// The content of the page of a subnet. `subnet_url` is the URL of this page. `allowed` is `None` for staff, who have no
/// actions here.
pub fn render(map: &SubnetMap, usage: Usage, subnet_url: &str, allowed: Option<Allowed>) -> Markup {
    let subnet = &map.subnet;
    let assignable = subnet.ipv4.assignable();
    let is_whole = map.window == subnet.ipv4;
    html! {
        div .title {
            h1 {
                (subnet.label.as_str()) " " code .range { (subnet.ipv4) }
                @if let Some(ipv6) = subnet.ipv6 { " " code .range { (ipv6) } }
            }
            @if let Some(allowed) = allowed { div .actions {
                @if allowed.attach { a .button.main href=(format!("{subnet_url}/attach")) { "Attach an instance" } }
                @if allowed.create_instance { a .button href=(format!("/instances/new?subnet_id={}", subnet.id)) { "Create an instance" } }
                a .button href=(url_of_object("subnet", subnet.id.0)) { "Activity" }
                @if allowed.change {
                    a .button href=(format!("{subnet_url}/edit")) { "Edit" }
                    a .button.danger href=(format!("{subnet_url}/delete")) { "Delete" }
                }
            } }
        }
        dl .facts {
            div { dt { "Gateway" } dd { code { (write_address(subnet.ipv4.gateway())) } } }
            div { dt { "Usable range" } dd { code { (write_address(*assignable.start())) " – " (write_address(*assignable.end())) } } }
            div { dt { "In use" } dd { (used_meter_with_percent(usage)) } }
            @if let Some(ipv6) = &map.ipv6 { div { dt { "IPv6 networks in use" } dd { (used_meter(ipv6.usage)) } } }
            div { dt { "Instances" } dd { (instance_count(subnet)) } }
            div { dt { "ID" } dd { (subnet.id) } }
            div { dt { "Created" } dd { (time(subnet.created)) } }
            div { dt { "Updated" } dd { (time(subnet.updated)) } }
        }
        section aria-labelledby="map" {
            div .title {
                h2 #map { "Addresses" @if !is_whole { " in " code { (map.window) } } }
                @if !is_whole { a href=(subnet_url) { "Show the whole subnet" } }
            }
            @let may_use_address = allowed.is_some_and(|allowed| allowed.attach || allowed.create_instance);
            @let attach_url = may_use_address.then(|| format!("{subnet_url}/attach"));
            (address_map::subnet(&map.view, &map.holders, &format!("{subnet_url}?in="), attach_url.as_deref()))
        }
        section aria-labelledby="taken" {
            h2 #taken { "In use" @if !is_whole { " in " code { (map.window) } } }
            (table(map, subnet_url, allowed.is_some()))
        }
        @if let Some(map) = &map.ipv6 { (ipv6::sections(map, subnet_url, allowed.is_some())) }
    }
}

fn no_addresses_in_use() -> Markup {
    empty_state(
        "No addresses in use",
        "No instance is attached to this subnet.",
        None,
    )
}

/// The addresses or ranges in use as a table.
fn table(map: &SubnetMap, subnet_url: &str, is_tenant: bool) -> Markup {
    match &map.view {
        View::Addresses(_) => html! {
            @if map.holders.is_empty() {
                (no_addresses_in_use())
            } @else {
                table .list {
                    thead { tr { th scope="col" { "Address" } th scope="col" { "Instance" } th scope="col" .number { "Config" }
                        th scope="col" .number { "Interface" } th scope="col" { "State" } } }
                    tbody {
                        @for holder in &map.holders {
                            tr #(address_map::element_id(holder)) {
                                th scope="row" {
                                    code { @if holder.is_range { (format_range(holder.first, holder.last)) } @else { (write_address(holder.first)) } }
                                    @if holder.is_range { " " span .tag { "range" } }
                                }
                                td data-label="Instance" { (address_map::instance_link(holder.instance, holder.instance_label.as_deref(), is_tenant)) }
                                td .number data-label="Config" { (holder.config) }
                                td .number data-label="Interface" { (holder.interface) }
                                td data-label="State" { (active_tag(holder.active)) }
                            }
                        }
                    }
                }
            }
        },
        View::Buckets(buckets) => html! {
            @let used: Vec<_> = buckets.iter().filter(|bucket| bucket.used > 0).collect();
            @if used.is_empty() {
                (no_addresses_in_use())
            } @else {
                table .list {
                    thead { tr { th scope="col" { "Range" } th scope="col" { "Addresses in use" } } }
                    tbody {
                        @for bucket in used {
                            tr {
                                th scope="row" { a href=(format!("{subnet_url}?in={}", bucket.range)) { code { (bucket.range) } } }
                                td data-label="In use" { (in_use(address_map::usage_of(bucket))) }
                            }
                        }
                    }
                }
            }
        },
    }
}

pub async fn edit(State(app): State<App>, visit: Visit, caller: Caller, At((vpc, id)): Path) -> PageResult {
    let (vpc, subnet) = app
        .read(caller, move |tx, caller| load(tx, caller, vpc, id))
        .await?;
    let form_state = FormState::prefilled(&[
        ("label", subnet.label.as_str()),
        (VERSION_FIELD, &EntityTag::of(&subnet).to_string()),
    ]);
    Ok(render_edit(&visit, &vpc, &subnet, &form_state))
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At((vpc, id)): Path,
    data: FormData,
) -> PageResult {
    let request = data.request(data.object(&["label"]));
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::subnets::update(tx, caller, (vpc, id), &request)
        })
        .await;
    let form_state = match changed {
        Ok(subnet) => return Ok(redirect_with_notice(&url(&subnet), "subnet-changed")),
        Err(error) => forms::from_error(data, error)?,
    };
    let (vpc, subnet) = app
        .read(caller, move |tx, caller| load(tx, caller, vpc, id))
        .await?;
    let form_state = form_state
        .with_version_of(&subnet)
        .with_current_values(&[("label", subnet.label.as_str())]);
    Ok(render_edit(&visit, &vpc, &subnet, &form_state))
}

/// Loads a subnet and its VPC. The caller must have write access to the VPC.
fn load(tx: &mut ReadTx, caller: &Caller, vpc: VpcId, id: SubnetId) -> rules::Result<(Vpc, Subnet)> {
    let subnet = rules::subnets::view(tx, caller, (vpc, id))?;
    let vpc = rules::vpcs::load_without_subnets(tx, caller, vpc, Permission::ReadWrite)?;
    Ok((vpc, subnet))
}

fn render_edit(visit: &Visit, vpc: &Vpc, subnet: &Subnet, form_state: &FormState) -> Response {
    let (subnet_url, vpc_url) = (url(subnet), vpcs::url(vpc.id));
    let form = Card::new(format!("{subnet_url}/edit"), "Save", &subnet_url);
    let body = html! {
        h1 { "Edit " (subnet.label.as_str()) }
        (forms::card(visit, form_state, &form, &html! {
            (label_field(form_state, "label", true))
            p .quiet { "IPv4 range: " code { (subnet.ipv4) } " (cannot be changed)" }
            @if let Some(ipv6) = subnet.ipv6 { p .quiet { "IPv6 range: " code { (ipv6) } " (cannot be changed)" } }
        }))
    };
    let title = format!("Edit {}", subnet.label.as_str());
    visit.form_page(
        form_state,
        &title,
        &breadcrumbs(vpc, &vpc_url, subnet, &subnet_url),
        &body,
    )
}

fn breadcrumbs<'a>(
    vpc: &'a Vpc,
    vpc_url: &'a str,
    subnet: &'a Subnet,
    subnet_url: &'a str,
) -> [(&'a str, &'a str); 3] {
    [
        vpcs::LIST,
        (vpc.label.as_str(), vpc_url),
        (subnet.label.as_str(), subnet_url),
    ]
}

pub async fn confirm_delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At((vpc, id)): Path,
) -> PageResult {
    let (vpc, subnet, errors) = app
        .read(caller, move |tx, caller| {
            let (vpc, subnet) = load(tx, caller, vpc, id)?;
            let result = rules::subnets::refuse_if_used(tx, caller, std::slice::from_ref(&subnet));
            Ok((vpc, subnet, field_errors(result)?))
        })
        .await?;
    let form_state = FormState::with_errors(FormData::default(), errors).with_version_of(&subnet);
    Ok(render_delete(&visit, &vpc, &subnet, &form_state))
}

pub async fn delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At((vpc_id, id)): Path,
    data: FormData,
) -> PageResult {
    let (vpc, subnet) = app
        .read(caller.clone(), move |tx, caller| load(tx, caller, vpc_id, id))
        .await?;
    let request = data.request(Vec::new());
    let deleting = app.write(caller, move |tx, caller| {
        rules::subnets::delete(tx, caller, (vpc_id, id), &request)
    });
    let deleted = forms::if_confirmed(&data, subnet.label.as_str(), deleting).await;
    let form_state = match deleted {
        Ok(()) => return Ok(redirect_with_notice(&vpcs::url(vpc_id), "subnet-deleted")),
        Err(error) => forms::from_error(data, error)?,
    };
    Ok(render_delete(
        &visit,
        &vpc,
        &subnet,
        &form_state.with_version_of(&subnet),
    ))
}

fn render_delete(visit: &Visit, vpc: &Vpc, subnet: &Subnet, form_state: &FormState) -> Response {
    let (subnet_url, vpc_url) = (url(subnet), vpcs::url(vpc.id));
    let label = subnet.label.as_str();
    let form = Card::new(format!("{subnet_url}/delete"), "Delete subnet", &subnet_url).danger();
    let body = html! {
        h1 { "Delete the subnet “" (label) "”?" }
        @if blockers::is_blocked(form_state) {
            (blockers::render("This subnet cannot be deleted while instances are attached to it.", std::slice::from_ref(subnet), form_state, &format!("{subnet_url}/delete")))
            p { a .button href=(subnet_url) { "Back to subnet" } }
        } @else {
            (forms::card(visit, form_state, &form, &html! {
                p { "This permanently deletes the subnet and frees the range " code { (subnet.ipv4) }
                    @if let Some(ipv6) = subnet.ipv6 { " and the IPv6 range " code { (ipv6) } } "." }
                (forms::confirmation_input(form_state, label))
            }))
        }
    };
    visit.form_page(
        form_state,
        &format!("Delete {label}"),
        &breadcrumbs(vpc, &vpc_url, subnet, &subnet_url),
        &body,
    )
}
