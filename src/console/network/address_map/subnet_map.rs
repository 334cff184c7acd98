//! The map of a subnet: a square for each address, or for each range of a large subnet.

use std::net::Ipv4Addr;

use maud::{Markup, html};

use super::{GAP, NARROW_WIDTH, WIDE_WIDTH, format_range, in_use, legend, linked, percent, round, truncate};
use crate::console::usage::usage_class;
use crate::model::address_map::{Bucket, Holder, State, View};
use crate::model::cidr::Cidr;
use crate::rules::addresses::Usage;

/// The map of a subnet, or of a part of it. `zoom_url_prefix` followed by a range is the URL of the map of
/// that range. With `attach_url`, free addresses are links to that page.
pub fn subnet(view: &View, holders: &[Holder], zoom_url_prefix: &str, attach_url: Option<&str>) -> Markup {
    match view {
        View::Addresses(cells) => html! {
            div .map {
                @for (class, width) in [("wide", WIDE_WIDTH), ("narrow", NARROW_WIDTH)] { (address_grid(cells, holders, class, width, attach_url)) }
                (legend(&[("taken", "in use"), ("routed", "routed range"), ("gateway", "gateway"), ("reserved", "reserved"), ("free", "free")]))
                @if attach_url.is_some() { p .hint { "Select a free address to attach an instance there, or to create one." } }
            }
        },
        View::Buckets(buckets) => html! {
            div .map {
                @for (class, width) in [("wide", WIDE_WIDTH), ("narrow", NARROW_WIDTH)] { (bucket_grid(buckets, |bucket| square(bucket, zoom_url_prefix), class, width)) }
                (legend(&[("some", "under 60% in use"), ("much", "60% or more"), ("full", "90% or more"), ("none", "empty")]))
                p .hint {
                    "Each square is a range of the subnet" @if let Some(bucket) = buckets.first() { " (/" (bucket.range.prefix()) ")" }
                    ". Select one to zoom in."
                }
            }
        },
    }
}

/// The number of squares per line. If there are few squares, they are larger.
pub(super) fn columns(count: usize, width: f64) -> usize {
    match (count, width > 500.0) {
        (0..=8, true) => 8,
        (_, true) if count <= 16 => 8,
        (_, true) if count <= 128 => 16,
        (_, true) => 32,
        (0..=8, false) => 4,
        (_, false) if count <= 16 => 4,
        (_, false) => 8,
    }
}

fn address_grid(
    cells: &[(u32, State)],
    holders: &[Holder],
    class: &str,
    width: f64,
    attach_url: Option<&str>,
) -> Markup {
    let columns = columns(cells.len(), width);
    let cell_width = (width - GAP * (columns - 1) as f64) / columns as f64;
    let cell_height = if cells.len() <= 16 {
        62.0
    } else {
        (cell_width * 0.8).clamp(24.0, 34.0)
    };
    let lines = cells.len().div_ceil(columns);
    let height = lines as f64 * (cell_height + GAP) - GAP;
    html! {
        svg .(class).grid viewBox=(format!("0 0 {width} {}", round(height))) role="group" aria-label="Address map" {
            @for (at, (address, state)) in cells.iter().enumerate() {
                @let (x, y) = ((at % columns) as f64 * (cell_width + GAP), (at / columns) as f64 * (cell_height + GAP));
                @let holder = match state { State::Taken(at) => holders.get(*at), _ => None };
                @let class = css_class(*state, holder);
                @let label = label(*state, holder);
                @let shape = html! {
                    title { (Ipv4Addr::from_bits(*address)) ": " (label) }
                    rect .(format!("block {class}")) x=(round(x)) y=(round(y)) width=(round(cell_width)) height=(round(cell_height)) rx="4" {}
                    @if cells.len() <= 16 {
                        text .range x=(round(x + 8.0)) y=(round(y + 20.0)) { (truncate(&Ipv4Addr::from_bits(*address).to_string(), cell_width - 12.0, 7.3)) }
                        text .much x=(round(x + 8.0)) y=(round(y + 40.0)) { (truncate(&label, cell_width - 12.0, 7.6)) }
                    } @else {
                        text .cell x=(round(x + cell_width / 2.0)) y=(round(y + cell_height / 2.0 + 4.0)) text-anchor="middle" { (address & 255) }
                    }
                };
                @match (attach_url, state) {
                    // Hundreds of free addresses would be as many stops of the Tab key. The page also has a button.
                    (Some(url), State::Free) => a href=(format!("{url}?address={}", Ipv4Addr::from_bits(*address))) tabindex="-1" { (shape) },
                    _ => (linked(holder.map(|holder| format!("#{}", element_id(holder))), shape)),
                }
            }
        }
    }
}

fn css_class(state: State, holder: Option<&Holder>) -> &'static str {
    match state {
        State::Network | State::Reserved | State::Broadcast => "reserved",
        State::Gateway => "gateway",
        State::Free => "free",
        State::Taken(_) if holder.is_some_and(|holder| holder.is_range) => "routed",
        State::Taken(_) => "taken",
    }
}

/// The label of an address.
fn label(state: State, holder: Option<&Holder>) -> String {
    match (state, holder) {
        (State::Network, _) => "network".to_owned(),
        (State::Gateway, _) => "gateway".to_owned(),
        (State::Reserved, _) => "reserved".to_owned(),
        (State::Broadcast, _) => "broadcast".to_owned(),
        (State::Taken(_), Some(holder)) => instance_name(holder),
        (State::Taken(_), None) => "in use".to_owned(),
        (State::Free, _) => "free".to_owned(),
    }
}

/// The element ID of a holder. An interface with routed ranges has several holders.
pub fn element_id(holder: &Holder) -> String {
    if holder.is_range {
        format!(
            "interface-{}-{}",
            holder.interface,
            format_range(holder.first, holder.last).replace(['.', '/'], "-")
        )
    } else {
        format!("interface-{}", holder.interface)
    }
}

/// The label of an instance, or its ID if the user cannot see the label.
fn instance_name(holder: &Holder) -> String {
    match &holder.instance_label {
        Some(label) => label.clone(),
        None => format!("instance {}", holder.instance),
    }
}

/// How a map shows a range: the CSS class of its square, the text of the tooltip, and the URL of a link.
pub(super) struct Square {
    pub class: &'static str,
    pub text: String,
    pub url: Option<String>,
}

/// A square that shows the addresses in use, and zooms in.
fn square(bucket: &Bucket, zoom_url_prefix: &str) -> Square {
    let usage = usage_of(bucket);
    Square {
        class: usage_class(usage),
        text: in_use(usage),
        url: Some(format!("{zoom_url_prefix}{}", bucket.range)),
    }
}

/// A square for each bucket.
pub(super) fn bucket_grid(
    buckets: &[Bucket],
    square: impl Fn(&Bucket) -> Square,
    class: &str,
    width: f64,
) -> Markup {
    let cell_width_for = |columns: usize| (width - GAP * (columns - 1) as f64) / columns as f64;
    // A narrow page has fewer squares per line if their names need the space.
    let columns = match width > 500.0 {
        true => 16,
        false if bucket_names(buckets, cell_width_for(8)).is_some() => 8,
        false => 4,
    };
    let cell_width = cell_width_for(columns);
    let cell_height: f64 = 38.0;
    let names = bucket_names(buckets, cell_width).unwrap_or_else(|| {
        let last_octet = |bucket: &Bucket| format!(".{}", network_octets(bucket.range, 3));
        buckets.iter().map(last_octet).collect()
    });
    let height = buckets.len().div_ceil(columns) as f64 * (cell_height + GAP) - GAP;
    html! {
        svg .(class).grid viewBox=(format!("0 0 {width} {height}")) role="group" aria-label="Address map by range" {
            @for (at, (bucket, name)) in buckets.iter().zip(&names).enumerate() {
                @let (x, y) = ((at % columns) as f64 * (cell_width + GAP), (at / columns) as f64 * (cell_height + GAP));
                @let square = square(bucket);
                (linked(square.url, html! {
                    title { (bucket.range) ": " (square.text) }
                    rect .(format!("block {}", square.class)) x=(round(x)) y=(round(y)) width=(round(cell_width)) height=(cell_height) rx="4" {}
                    text .cell x=(round(x + cell_width / 2.0)) y=(round(y + 16.0)) text-anchor="middle" { (name) }
                    @if bucket.used > 0 {
                        text .cell x=(round(x + cell_width / 2.0)) y=(round(y + 30.0)) text-anchor="middle" { (percent(usage_of(bucket))) }
                    }
                }))
            }
        }
    }
}

pub fn usage_of(bucket: &Bucket) -> Usage {
    Usage {
        used: bucket.used,
        all: bucket.all,
    }
}

/// The names of the buckets: their ranges, or only the octets in which they differ. `None` if a name does not
/// fit.
fn bucket_names(buckets: &[Bucket], cell_width: f64) -> Option<Vec<String>> {
    let shared = shared_octets(buckets);
    let names = |format: &dyn Fn(Cidr) -> String| buckets.iter().map(|bucket| format(bucket.range)).collect();
    let fits = |names: &Vec<String>| names.iter().all(|name| name.len() as f64 * 6.3 <= cell_width);
    let formats: [&dyn Fn(Cidr) -> String; 3] = [
        &|range| format!("{}/{}", network_octets(range, 0), range.prefix()),
        &|range| format!(".{}/{}", network_octets(range, shared), range.prefix()),
        &|range| format!(".{}", network_octets(range, shared)),
    ];
    formats.into_iter().map(names).find(fits)
}

/// The octets of the network part of a range, without the first `shared` octets.
fn network_octets(range: Cidr, shared: usize) -> String {
    let octets = Ipv4Addr::from_bits(range.first()).octets();
    let last = usize::from(range.prefix().saturating_sub(1) / 8);
    let remaining: Vec<String> = octets[shared.min(last)..=last]
        .iter()
        .map(u8::to_string)
        .collect();
    remaining.join(".")
}

/// The number of leading octets that all buckets have in common.
fn shared_octets(buckets: &[Bucket]) -> usize {
    let octets = |bucket: &Bucket| Ipv4Addr::from_bits(bucket.range.first()).octets();
    match (buckets.first().map(octets), buckets.last().map(octets)) {
        (Some(first), Some(last)) => first.iter().zip(&last).take_while(|(a, b)| a == b).count(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::address_map::{self, addresses, buckets};
    use crate::model::id::{ConfigId, InstanceId, InterfaceId};

    fn cidr(text: &str) -> Cidr {
        Cidr::parse(text).unwrap()
    }

    #[test]
    fn every_address_of_a_small_subnet_and_every_range_of_a_large_one_has_a_title() {
        let small = cidr("10.0.0.0/29");
        let holder = Holder {
            first: small.first() + 2,
            last: small.first() + 2,
            is_range: false,
            instance: InstanceId(7),
            instance_label: Some("web<1>".to_owned()),
            config: ConfigId(1),
            interface: InterfaceId(9),
            active: true,
        };
        let view = addresses(small, small, std::slice::from_ref(&holder));
        let svg = subnet(&view, &[holder], "?in=", Some("/attach")).into_string();
        for title in [
            "10.0.0.0: network",
            "10.0.0.1: gateway",
            "10.0.0.2: web&lt;1&gt;",
            "10.0.0.3: free",
            "10.0.0.6: reserved",
            "10.0.0.7: broadcast",
        ] {
            assert!(svg.contains(&format!("<title>{title}</title>")), "{title}: {svg}");
        }
        assert!(svg.contains("href=\"#interface-9\""));
        // Of 8 addresses, one is in use and four are reserved.
        assert_eq!(
            svg.matches("href=\"/attach?address=10.0.0.").count(),
            2 * 3,
            "{svg}"
        );

        let large = cidr("10.0.0.0/8");
        let prefix = address_map::bucket_prefix(large).unwrap();
        let svg = subnet(
            &buckets(large, large, prefix, &[(3, 65536)], &[]),
            &[],
            "/x?in=",
            None,
        )
        .into_string();
        assert_eq!(svg.matches("<title>").count(), 2 * 256);
        assert!(svg.contains("<title>10.3.0.0/16: 65,536 of 65,536 in use (100%)</title>"));
        assert!(svg.contains("href=\"/x?in=10.3.0.0/16\""));
    }

    #[test]
    fn the_name_of_a_range_is_shortened_to_fit() {
        let parts = |window: &str, prefix: u8| {
            let View::Buckets(parts) = buckets(cidr("10.0.0.0/8"), cidr(window), prefix, &[], &[]) else {
                panic!("not buckets");
            };
            parts
        };
        let names_of = |window: &str, prefix: u8, wide: f64| {
            let names = bucket_names(&parts(window, prefix), wide).expect("the names fit");
            [names[0].clone(), names[1].clone(), names[names.len() - 1].clone()]
        };
        let (wide, narrow) = (58.0, 39.0);
        assert_eq!(
            names_of("10.0.0.0/8", 16, wide),
            ["10.0/16", "10.1/16", "10.255/16"]
        );
        assert_eq!(names_of("10.0.0.0/8", 16, narrow), [".0", ".1", ".255"]);
        assert_eq!(names_of("10.64.0.0/16", 24, wide), [".0/24", ".1/24", ".255/24"]);
        assert_eq!(names_of("10.64.0.0/12", 20, wide), [".64.0", ".64.16", ".79.240"]);
        // If no name fits, a narrow page has fewer squares per line.
        let many = parts("10.64.0.0/12", 20);
        assert_eq!(bucket_names(&many, narrow), None);
        let svg = bucket_grid(&many, |bucket| square(bucket, "/x?in="), "narrow", NARROW_WIDTH).into_string();
        assert!(svg.contains(">10.64.16/20<") && svg.contains(">10.79.240/20<"));
        assert_eq!(
            names_of("10.3.0.0/23", 28, wide),
            [".0.0/28", ".0.16/28", ".1.240/28"]
        );
    }
}
