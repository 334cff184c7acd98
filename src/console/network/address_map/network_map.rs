//! The map of a subnet's IPv6 range: a square for each /64, or for each block of a large subnet.

use maud::{Markup, html};

use super::subnet_map::columns;
use super::{GAP, NARROW_WIDTH, WIDE_WIDTH, in_use, legend, linked, percent, round, truncate};
use crate::console::usage::usage_class;
use crate::model::cidr::Cidr6;
use crate::model::network_map::{NetworkBlock, NetworkHolder, NetworkState, NetworkView};
use crate::rules::addresses::Usage;

/// Maps with at most this number of squares have room for the names of instances.
const MAX_LARGE_CELLS: usize = 16;

/// The map of the networks of a subnet, or of a part of it. `zoom_url_prefix` followed by a range is the URL of the map
/// of that range.
pub fn networks(view: &NetworkView, holders: &[NetworkHolder], zoom_url_prefix: &str) -> Markup {
    let sizes = [("wide", WIDE_WIDTH), ("narrow", NARROW_WIDTH)];
    match view {
        NetworkView::Networks(cells) => html! {
            div .map {
                @for (class, width) in sizes { (network_grid(cells, holders, class, width)) }
                (legend(&[("taken", "SLAAC"), ("routed", "routed network"), ("reserved", "reserved"), ("free", "free")]))
                p .hint { "Each square is a /64 of the subnet, named by the fourth group of its address." }
            }
        },
        NetworkView::Blocks(blocks) => html! {
            div .map {
                @for (class, width) in sizes { (block_grid(blocks, zoom_url_prefix, class, width)) }
                (legend(&[("some", "under 60% in use"), ("much", "60% or more"), ("full", "90% or more"), ("none", "empty")]))
                p .hint {
                    "Each square is a range of the subnet" @if let Some(block) = blocks.first() { " (/" (block.range.prefix()) ")" }
                    ", named by the fourth group of its address. Select one to zoom in."
                }
            }
        },
    }
}

/// The fourth group of an address. The networks of a subnet differ only in this group, because a subnet is at most a /52.
fn group(network: Cidr6) -> String {
    format!("{:x}", (network.first() >> 64) & 0xffff)
}

fn network_grid(
    cells: &[(Cidr6, NetworkState)],
    holders: &[NetworkHolder],
    class: &str,
    width: f64,
) -> Markup {
    let columns = columns(cells.len(), width);
    let cell_width = (width - GAP * (columns - 1) as f64) / columns as f64;
    let is_large = cells.len() <= MAX_LARGE_CELLS;
    let cell_height = match is_large {
        true => 62.0,
        false => (cell_width * 0.8).clamp(24.0, 34.0),
    };
    let height = cells.len().div_ceil(columns) as f64 * (cell_height + GAP) - GAP;
    html! {
        svg .(class).grid viewBox=(format!("0 0 {width} {}", round(height))) role="group" aria-label="Map of IPv6 networks" {
            @for (at, (network, state)) in cells.iter().enumerate() {
                @let (x, y) = ((at % columns) as f64 * (cell_width + GAP), (at / columns) as f64 * (cell_height + GAP));
                @let holder = match state { NetworkState::Taken(at) => holders.get(*at), _ => None };
                @let label = label(*state, holder);
                (linked(holder.map(|holder| format!("#{}", network_element_id(holder))), html! {
                    title { (network) ": " (label) }
                    rect .(format!("block {}", css_class(*state, holder))) x=(round(x)) y=(round(y)) width=(round(cell_width)) height=(round(cell_height)) rx="4" {}
                    @if is_large {
                        text .range x=(round(x + 8.0)) y=(round(y + 20.0)) { ":" (group(*network)) "::" }
                        text .much x=(round(x + 8.0)) y=(round(y + 40.0)) { (truncate(&label, cell_width - 12.0, 7.6)) }
                    } @else {
                        text .cell x=(round(x + cell_width / 2.0)) y=(round(y + cell_height / 2.0 + 4.0)) text-anchor="middle" { (group(*network)) }
                    }
                }))
            }
        }
    }
}

fn css_class(state: NetworkState, holder: Option<&NetworkHolder>) -> &'static str {
    match state {
        NetworkState::Reserved => "reserved",
        NetworkState::Free => "free",
        NetworkState::Taken(_) if holder.is_some_and(|holder| !holder.is_slaac) => "routed",
        NetworkState::Taken(_) => "taken",
    }
}

/// The label of a network.
fn label(state: NetworkState, holder: Option<&NetworkHolder>) -> String {
    match (state, holder) {
        (NetworkState::Reserved, _) => "reserved".to_owned(),
        (NetworkState::Free, _) => "free".to_owned(),
        (NetworkState::Taken(_), Some(holder)) => network_instance_name(holder),
        (NetworkState::Taken(_), None) => "in use".to_owned(),
    }
}

/// The element ID of a holder. An interface can have several networks.
pub fn network_element_id(holder: &NetworkHolder) -> String {
    format!("network-{}-{}", holder.interface, group(holder.network))
}

/// The label of an instance, or its ID if the user cannot see the label.
fn network_instance_name(holder: &NetworkHolder) -> String {
    match &holder.instance_label {
        Some(label) => label.clone(),
        None => format!("instance {}", holder.instance),
    }
}

pub fn usage_of_block(block: &NetworkBlock) -> Usage {
    Usage {
        used: block.used,
        all: block.all,
    }
}

fn block_grid(blocks: &[NetworkBlock], zoom_url_prefix: &str, class: &str, width: f64) -> Markup {
    let columns = if width > 500.0 { 16 } else { 8 };
    let cell_width = (width - GAP * (columns - 1) as f64) / columns as f64;
    let cell_height: f64 = 38.0;
    let height = blocks.len().div_ceil(columns) as f64 * (cell_height + GAP) - GAP;
    html! {
        svg .(class).grid viewBox=(format!("0 0 {width} {height}")) role="group" aria-label="Map of IPv6 networks by range" {
            @for (at, block) in blocks.iter().enumerate() {
                @let (x, y) = ((at % columns) as f64 * (cell_width + GAP), (at / columns) as f64 * (cell_height + GAP));
                @let usage = usage_of_block(block);
                a href=(format!("{zoom_url_prefix}{}", block.range)) {
                    title { (block.range) ": " (in_use(usage)) }
                    rect .(format!("block {}", usage_class(usage))) x=(round(x)) y=(round(y)) width=(round(cell_width)) height=(cell_height) rx="4" {}
                    text .cell x=(round(x + cell_width / 2.0)) y=(round(y + 16.0)) text-anchor="middle" { (group(block.range)) }
                    @if usage.used > 0 {
                        text .cell x=(round(x + cell_width / 2.0)) y=(round(y + 30.0)) text-anchor="middle" { (percent(usage)) }
                    }
                }
            }
        }
    }
}
