//! IPv6 ranges of VPCs and subnets: form fields, and the networks of interfaces.

use std::net::Ipv6Addr;

use maud::{Markup, html};

use crate::console::address_map::{self, in_use, network_element_id};
use crate::console::forms::{self, Field, FormState};
use crate::console::layout::{empty_state, number};
use crate::console::vpcs::active_tag;
use crate::model::cidr::Cidr6;
use crate::model::family::{Family, V6};
use crate::model::input::Input;
use crate::model::interface::slaac_address;
use crate::model::network_map::{NetworkHolder, NetworkView, usable_networks};
use crate::model::policy::Policy;
use crate::model::range_request::{OF_SUBNETS, OF_VPCS};
use crate::model::region::Region;
use crate::rules::address_map::NetworkMap;

/// The form field of an IPv6 range. Its value is empty, or a prefix length such as `/56`.
pub const FIELD: &str = "ipv6";
/// The maximum number of networks that a row shows for an interface.
const MAX_SHOWN_NETWORKS: usize = 8;

/// Replaces the value of the field by the list that a rule expects, or removes an empty value.
pub fn with_list(object: Vec<(String, Input)>) -> Vec<(String, Input)> {
    let convert = |(name, value): (String, Input)| match value {
        Input::Text(range) if name == FIELD => {
            let item = Input::Object(vec![("range".to_owned(), Input::Text(range.clone()))]);
            (!range.is_empty()).then(|| (name, Input::List(vec![item])))
        }
        other => Some((name, other)),
    };
    object.into_iter().filter_map(convert).collect()
}

/// Like `with_list`, for each row of a form.
pub fn with_lists(rows: Input) -> Input {
    match rows {
        Input::List(rows) => Input::List(rows.into_iter().map(with_lists).collect()),
        Input::Object(row) => Input::Object(with_list(row)),
        other => other,
    }
}

/// Moves errors about the items of the list to the form field.
pub fn with_field_errors(mut form_state: FormState) -> FormState {
    for error in &mut form_state.errors {
        if let Some(field) = &mut error.field
            && let Some(list) = field.strip_suffix("[0].range")
        {
            *field = list.to_owned();
        }
    }
    form_state
}

/// The prefix lengths that a new VPC can have in at least one region; empty if the provider has no pool.
pub fn vpc_choices(policy: &Policy) -> Vec<(String, String)> {
    let regions = || policy.regions.iter().filter(|region| region.offers(Region::VPCS));
    let is_offered =
        |prefix: u8| regions().any(|region| policy.ipv6_prefix_lengths(region).contains(&prefix));
    let offered = OF_VPCS
        .allowed
        .iter()
        .copied()
        .filter(|prefix| is_offered(*prefix));
    offered
        .map(|prefix| choice(prefix, 1 << (V6::UNIT_PREFIX - prefix)))
        .collect()
}

/// The prefix lengths that a new subnet can have in a VPC with this range, or in any VPC.
pub fn subnet_choices(vpc: Option<Cidr6>) -> Vec<(String, String)> {
    let allowed = OF_SUBNETS.allowed.iter().copied();
    let fitting = allowed.filter(|prefix| vpc.is_none_or(|vpc| vpc.prefix() <= *prefix));
    let usable = |prefix| {
        let range = Cidr6::around(0, prefix);
        usable_networks(range, range)
    };
    fitting.map(|prefix| choice(prefix, usable(prefix))).collect()
}

fn choice(prefix: u8, networks: u64) -> (String, String) {
    (
        format!("/{prefix}"),
        format!("/{prefix} ({} networks)", number(networks)),
    )
}

/// The field for the IPv6 range of a VPC or a subnet. Nothing without choices.
pub fn range_field(form_state: &FormState, name: &str, hint: &str, choices: &[(String, String)]) -> Markup {
    let field = Field {
        name,
        label: "IPv6 range",
        hint,
        optional: true,
        ..Field::default()
    };
    html! { @if !choices.is_empty() { (forms::select_or(form_state, field, "No IPv6", choices)) } }
}

/// The networks of an interface: its SLAAC address, and its routed networks.
pub fn interface_networks(networks: &[NetworkHolder]) -> Markup {
    let omitted = networks.len().saturating_sub(MAX_SHOWN_NETWORKS);
    html! {
        @for network in networks.iter().take(MAX_SHOWN_NETWORKS) { div { (network_text(network)) } }
        @if omitted > 0 { div .quiet { "and " (omitted) " more" } }
    }
}

/// The address that the instance configures in its network.
fn slaac_text(holder: &NetworkHolder) -> String {
    Ipv6Addr::from_bits(slaac_address(holder.network, holder.instance)).to_string()
}

fn network_text(holder: &NetworkHolder) -> Markup {
    html! {
        @if holder.is_slaac {
            code { (slaac_text(holder)) } " " span .tag { "SLAAC" }
        } @else {
            code { (holder.network) } " " span .tag { "range" }
        }
        @if holder.is_public { " " span .tag { "public" } }
    }
}

/// The IPv6 networks of a subnet: the map, and the networks in use. `subnet_url` is the URL of the page.
pub fn sections(map: &NetworkMap, subnet_url: &str, is_tenant: bool) -> Markup {
    let is_whole = map.window == map.range;
    html! {
        section aria-labelledby="map6" {
            div .title {
                h2 #map6 { "IPv6 networks" @if !is_whole { " in " code { (map.window) } } }
                @if !is_whole { a href=(format!("{subnet_url}#map6")) { "Show the whole subnet" } }
            }
            (address_map::networks(&map.view, &map.holders, &format!("{subnet_url}?in6=")))
        }
        section aria-labelledby="taken6" {
            h2 #taken6 { "IPv6 networks in use" @if !is_whole { " in " code { (map.window) } } }
            (table(map, subnet_url, is_tenant))
        }
    }
}

fn no_networks_in_use() -> Markup {
    let text = "An interface on this subnet gets a /64 for SLAAC, unless its settings say otherwise.";
    empty_state("No IPv6 networks in use", text, None)
}

/// The networks or blocks in use as a table.
fn table(map: &NetworkMap, subnet_url: &str, is_tenant: bool) -> Markup {
    match &map.view {
        NetworkView::Networks(_) => html! {
            @if map.holders.is_empty() {
                (no_networks_in_use())
            } @else {
                table .list {
                    thead { tr { th scope="col" { "Network" } th scope="col" { "Instance" }
                        th scope="col" .number { "Config" } th scope="col" .number { "Interface" } th scope="col" { "State" } } }
                    tbody {
                        @for holder in &map.holders {
                            tr #(network_element_id(holder)) {
                                th scope="row" { div {
                                    code { (holder.network) }
                                    @if !holder.is_slaac { " " span .tag { "range" } }
                                    @if holder.is_public { " " span .tag { "public" } }
                                    @if holder.is_slaac { div .quiet { "SLAAC: " code { (slaac_text(holder)) } } }
                                } }
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
        NetworkView::Blocks(blocks) => html! {
            @let used: Vec<_> = blocks.iter().filter(|block| block.used > 0).collect();
            @if used.is_empty() {
                (no_networks_in_use())
            } @else {
                table .list {
                    thead { tr { th scope="col" { "Range" } th scope="col" { "Networks in use" } } }
                    tbody {
                        @for block in used {
                            tr {
                                th scope="row" { a href=(format!("{subnet_url}?in6={}", block.range)) { code { (block.range) } } }
                                td data-label="In use" { (in_use(address_map::usage_of_block(block))) }
                            }
                        }
                    }
                }
            }
        },
    }
}
