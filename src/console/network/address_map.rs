//! Address space as a picture: inline SVG, made from what `model::address_map` says.
//!
//! Nothing here looks anything up. A picture is drawn twice, for wide and for narrow screens, and the
//! style shows one of them; whoever sees neither has the table beside it.

use std::net::Ipv4Addr;

use maud::{Markup, html};

use crate::console::layout::number;
use crate::console::usage::level;
use crate::model::address_map::{Bucket, Holder, Part, PartKind, Space, State, View, spaces};
use crate::model::cidr::Cidr;
use crate::model::subnet::Subnet;
use crate::model::vpc::Vpc;
use crate::rules::addresses::Usage;

/// How wide the two pictures are, in units that are about a pixel.
const WIDE: f64 = 1000.0;
const NARROW: f64 = 344.0;
/// And how wide one that stands beside something else.
const ASIDE: f64 = 270.0;
const GAP: f64 = 4.0;
const BLOCK: f64 = 78.0;

/// A subnet as the picture needs it.
pub struct Block<'a> {
    pub subnet: &'a Subnet,
    pub usage: Usage,
    pub address: String,
}

/// The subnets of a VPC as blocks, each with the address that shows more of it.
pub fn blocks<'a>(vpc: &'a Vpc, used: &[Usage], address: impl Fn(&Subnet) -> String) -> Vec<Block<'a>> {
    let shown = vpc.subnets.iter().zip(used);
    let block = shown.map(|(subnet, usage)| Block {
        subnet,
        usage: *usage,
        address: address(subnet),
    });
    block.collect()
}

/// All private spaces, of which those come first that have subnets in them.
fn around(blocks: &[Block], forbidden: &[Cidr]) -> (Vec<Space>, Vec<Space>) {
    let ranges: Vec<Cidr> = blocks.iter().map(|block| block.subnet.ipv4).collect();
    let has_subnets = |space: &Space| {
        let mut parts = space.parts.iter();
        parts.any(|part| matches!(part.kind, PartKind::Subnet(_)))
    };
    spaces(&ranges, forbidden).into_iter().partition(has_subnets)
}

fn strips(spaces: &[Space], blocks: &[Block], sizes: &[(&str, f64)]) -> Markup {
    html! {
        @for space in spaces {
            h3 { code { (space.range) } span .quiet { " · " (share(space)) " in subnets" } }
            @for (class, width) in sizes { (strip(space, blocks, class, *width)) }
        }
    }
}

/// The spaces of a VPC that have subnets in them, in the narrow room beside something else.
pub fn beside(blocks: &[Block], forbidden: &[Cidr]) -> Markup {
    let (used, _) = around(blocks, forbidden);
    html! { div .map { (strips(&used, blocks, &[("beside", ASIDE)])) } }
}

/// The spaces of a VPC that have subnets in them, with all that is free around them.
pub fn vpc(blocks: &[Block], forbidden: &[Cidr]) -> Markup {
    let (used, unused) = around(blocks, forbidden);
    html! {
        div .map {
            (strips(&used, blocks, &[("wide", WIDE), ("narrow", NARROW)]))
            @if !unused.is_empty() {
                p .quiet {
                    "Wholly free: "
                    @for (at, space) in unused.iter().enumerate() { @if at > 0 { ", " } code { (space.range) } }
                    @if unused.iter().any(|space| space.parts.iter().any(|part| part.kind == PartKind::Forbidden)) {
                        " (but for what the provider keeps)"
                    }
                    "."
                }
            }
            (legend(&[("some", "under 60 % in use"), ("much", "60 % and more"), ("full", "90 % and more"), ("none", "empty"), ("free", "free"), ("kept", "kept by the provider")]))
            p .hint { "In the order of addresses. Blocks grow with the logarithm of their size." }
            details {
                summary { "The same as a table" }
                (spaces_table(used.iter().chain(&unused), blocks))
            }
        }
    }
}

fn share(space: &Space) -> String {
    let of = |part: &&Part| matches!(part.kind, PartKind::Subnet(_));
    let taken: u64 = space.parts.iter().filter(of).map(Part::size).sum();
    let all = u64::from(space.range.last() - space.range.first()) + 1;
    let percent = taken as f64 * 100.0 / all as f64;
    if percent < 1.0 {
        "less than 1 %".to_owned()
    } else {
        format!("{percent:.0} %")
    }
}

/// One space as lines of blocks, as text is set: each line is filled from end to end.
fn strip(space: &Space, blocks: &[Block], class: &str, width: f64) -> Markup {
    let natural = |part: &Part| {
        let bits = (part.size() as f64).log2();
        match part.kind {
            PartKind::Subnet(_) => (96.0 + bits * 6.5).min(width),
            PartKind::Free | PartKind::Forbidden => 44.0 + bits * 4.0,
        }
    };
    let mut lines: Vec<Vec<(&Part, f64)>> = vec![Vec::new()];
    let mut used = 0.0;
    for part in &space.parts {
        let wanted = natural(part);
        if used + wanted > width && used > 0.0 {
            lines.push(Vec::new());
            used = 0.0;
        }
        used += wanted + GAP;
        if let Some(line) = lines.last_mut() {
            line.push((part, wanted));
        }
    }
    let height = lines.len() as f64 * (BLOCK + GAP) - GAP;
    html! {
        svg .(class) viewBox=(format!("0 0 {width} {height}")) role="group"
            aria-label=(format!("Map of {}", space.range)) {
            @for (at, line) in lines.iter().enumerate() {
                @for (part, left, wide) in set(line, width) {
                    (block(part, blocks, left, at as f64 * (BLOCK + GAP), wide))
                }
            }
        }
    }
}

/// The blocks of a line with the place and width of each.
fn set<'a>(line: &[(&'a Part, f64)], width: f64) -> Vec<(&'a Part, f64, f64)> {
    let gaps = GAP * (line.len().saturating_sub(1)) as f64;
    let wanted: f64 = line.iter().map(|(_, wanted)| wanted).sum();
    // A line that ends early is not spread over all the room.
    let stretch = ((width - gaps) / wanted).min(1.7);
    let mut left = 0.0;
    line.iter()
        .map(|(part, wanted)| {
            let wide = wanted * stretch;
            let place = (*part, left, wide);
            left += wide + GAP;
            place
        })
        .collect()
}

fn block(part: &Part, blocks: &[Block], x: f64, y: f64, wide: f64) -> Markup {
    let (text, below) = (x + 10.0, y + BLOCK - 10.0);
    let place = |class: &str| {
        html! { rect .(class) x=(round(x)) y=(round(y)) width=(round(wide)) height=(BLOCK) rx="5" {} }
    };
    match part.kind {
        PartKind::Subnet(at) => {
            let Some(Block {
                subnet,
                usage,
                address,
            }) = blocks.get(at)
            else {
                return html! {};
            };
            let title = format!("{} {}: {}", subnet.label.as_str(), subnet.ipv4, in_use(*usage));
            let bar = (wide - 20.0) * usage.percent() / 100.0;
            html! {
                a href=(address) .subnet {
                    title { (title) }
                    (place(&format!("block {}", level(*usage))))
                    text .name x=(round(text)) y=(round(y + 21.0)) { (fit(subnet.label.as_str(), wide - 20.0, 9.6)) }
                    text .range x=(round(text)) y=(round(y + 38.0)) { (fit(&subnet.ipv4.to_string(), wide - 20.0, 7.3)) }
                    text .much x=(round(text)) y=(round(y + 55.0)) {
                        (fit(&format!("{} / {}", number(usage.used), number(usage.all)), wide - 20.0, 6.6))
                    }
                    rect .track x=(round(text)) y=(round(below - 3.0)) width=(round(wide - 20.0)) height="5" rx="2" {}
                    @if usage.used > 0 {
                        rect .(format!("bar {}", level(*usage))) x=(round(text)) y=(round(below - 3.0)) width=(round(bar.max(2.0))) height="5" rx="2" {}
                    }
                }
            }
        }
        PartKind::Free | PartKind::Forbidden => {
            let (class, word) = match part.kind {
                PartKind::Free => ("free", "free"),
                _ => ("kept", "kept"),
            };
            html! {
                g .gap {
                    title { (word) ": " (span(part.first, part.last)) ", " (number(part.size())) " addresses" }
                    (place(&format!("block {class}")))
                    text .much x=(round(text)) y=(round(y + 21.0)) { (word) }
                    text .much x=(round(text)) y=(round(y + 38.0)) { (fit(&short(part.size()), wide - 16.0, 6.6)) }
                }
            }
        }
    }
}

fn spaces_table<'a>(spaces: impl Iterator<Item = &'a Space>, blocks: &[Block]) -> Markup {
    html! {
        table .list {
            thead { tr { th scope="col" { "Addresses" } th scope="col" { "What" } th scope="col" .number { "Size" } th scope="col" { "In use" } } }
            tbody {
                @for part in spaces.flat_map(|space| &space.parts) {
                    tr {
                        th scope="row" { code { (span(part.first, part.last)) } }
                        @match part.kind {
                            PartKind::Subnet(at) => @if let Some(block) = blocks.get(at) {
                                td data-label="What" { a href=(block.address) { (block.subnet.label.as_str()) } }
                                td .number data-label="Size" { (number(part.size())) }
                                td data-label="In use" { (in_use(block.usage)) }
                            },
                            PartKind::Free => { td data-label="What" { "free" } td .number data-label="Size" { (number(part.size())) } td {} }
                            PartKind::Forbidden => { td data-label="What" { "kept by the provider" } td .number data-label="Size" { (number(part.size())) } td {} }
                        }
                    }
                }
            }
        }
    }
}

/// A part of a subnet. `open` is the address that shows a smaller part, but for the range itself.
pub fn subnet(view: &View, holders: &[Holder], open: &str) -> Markup {
    match view {
        View::Addresses(cells) => html! {
            div .map {
                @for (class, width) in [("wide", WIDE), ("narrow", NARROW)] { (address_grid(cells, holders, class, width)) }
                (legend(&[("taken", "in use"), ("routed", "routed range"), ("gateway", "gateway"), ("kept", "reserved"), ("free", "free")]))
            }
        },
        View::Buckets(buckets) => html! {
            div .map {
                @for (class, width) in [("wide", WIDE), ("narrow", NARROW)] { (bucket_grid(buckets, open, class, width)) }
                (legend(&[("some", "under 60 % in use"), ("much", "60 % and more"), ("full", "90 % and more"), ("none", "empty")]))
                p .hint {
                    "Each square is a part of the subnet" @if let Some(part) = buckets.first() { ", a /" (part.range.prefix()) }
                    "; open one to look closer."
                }
            }
        },
    }
}

/// How many squares stand in a line: few and large ones for few.
fn columns(count: usize, width: f64) -> usize {
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

fn address_grid(cells: &[(u32, State)], holders: &[Holder], class: &str, width: f64) -> Markup {
    let columns = columns(cells.len(), width);
    let wide = (width - GAP * (columns - 1) as f64) / columns as f64;
    let high = if cells.len() <= 16 {
        62.0
    } else {
        (wide * 0.8).clamp(24.0, 34.0)
    };
    let lines = cells.len().div_ceil(columns);
    let height = lines as f64 * (high + GAP) - GAP;
    html! {
        svg .(class).grid viewBox=(format!("0 0 {width} {}", round(height))) role="group" aria-label="Map of the addresses" {
            @for (at, (address, state)) in cells.iter().enumerate() {
                @let (x, y) = ((at % columns) as f64 * (wide + GAP), (at / columns) as f64 * (high + GAP));
                @let holder = match state { State::Taken(at) => holders.get(*at), _ => None };
                @let kind = kind(*state, holder);
                @let who = who(*state, holder);
                (linked(holder.map(|holder| format!("#{}", anchor(holder))), html! {
                    title { (Ipv4Addr::from_bits(*address)) ": " (who) }
                    rect .(format!("block {kind}")) x=(round(x)) y=(round(y)) width=(round(wide)) height=(round(high)) rx="4" {}
                    @if cells.len() <= 16 {
                        text .range x=(round(x + 8.0)) y=(round(y + 20.0)) { (fit(&Ipv4Addr::from_bits(*address).to_string(), wide - 12.0, 7.3)) }
                        text .much x=(round(x + 8.0)) y=(round(y + 40.0)) { (fit(&who, wide - 12.0, 7.6)) }
                    } @else {
                        text .cell x=(round(x + wide / 2.0)) y=(round(y + high / 2.0 + 4.0)) text-anchor="middle" { (address & 255) }
                    }
                }))
            }
        }
    }
}

fn kind(state: State, holder: Option<&Holder>) -> &'static str {
    match state {
        State::Network | State::Reserved | State::Broadcast => "kept",
        State::Gateway => "gateway",
        State::Free => "free",
        State::Taken(_) if holder.is_some_and(|holder| holder.is_range) => "routed",
        State::Taken(_) => "taken",
    }
}

/// What an address is, in words.
pub fn who(state: State, holder: Option<&Holder>) -> String {
    match (state, holder) {
        (State::Network, _) => "network".to_owned(),
        (State::Gateway, _) => "gateway".to_owned(),
        (State::Reserved, _) => "reserved".to_owned(),
        (State::Broadcast, _) => "broadcast".to_owned(),
        (State::Taken(_), Some(holder)) => instance(holder),
        (State::Taken(_), None) => "in use".to_owned(),
        (State::Free, _) => "free".to_owned(),
    }
}

/// What a holder is called in the page's own links: an interface with ranges is there several times.
pub fn anchor(holder: &Holder) -> String {
    if holder.is_range {
        format!(
            "interface-{}-{}",
            holder.interface,
            span(holder.first, holder.last).replace(['.', '/'], "-")
        )
    } else {
        format!("interface-{}", holder.interface)
    }
}

/// An instance by its name, if the reader may know it.
pub fn instance(holder: &Holder) -> String {
    match &holder.instance_label {
        Some(label) => label.clone(),
        None => format!("instance {}", holder.instance),
    }
}

fn bucket_grid(buckets: &[Bucket], open: &str, class: &str, width: f64) -> Markup {
    let wide = |columns: usize| (width - GAP * (columns - 1) as f64) / columns as f64;
    // On a narrow page as few in a row as it takes to tell them apart.
    let columns = match width > 500.0 {
        true => 16,
        false if names(buckets, wide(8)).is_some() => 8,
        false => 4,
    };
    let wide = wide(columns);
    let high: f64 = 38.0;
    let names = names(buckets, wide).unwrap_or_else(|| {
        let last = |bucket: &Bucket| format!(".{}", octets_of(bucket.range, 3));
        buckets.iter().map(last).collect()
    });
    let height = buckets.len().div_ceil(columns) as f64 * (high + GAP) - GAP;
    html! {
        svg .(class).grid viewBox=(format!("0 0 {width} {height}")) role="group" aria-label="Map of the subnet's parts" {
            @for (at, (bucket, name)) in buckets.iter().zip(&names).enumerate() {
                @let (x, y) = ((at % columns) as f64 * (wide + GAP), (at / columns) as f64 * (high + GAP));
                @let usage = usage(bucket);
                a href=(format!("{open}{}", bucket.range)) {
                    title { (bucket.range) ": " (in_use(usage)) }
                    rect .(format!("block {}", level(usage))) x=(round(x)) y=(round(y)) width=(round(wide)) height=(high) rx="4" {}
                    text .cell x=(round(x + wide / 2.0)) y=(round(y + 16.0)) text-anchor="middle" { (name) }
                    @if usage.used > 0 {
                        text .cell x=(round(x + wide / 2.0)) y=(round(y + 30.0)) text-anchor="middle" { (percent(usage)) }
                    }
                }
            }
        }
    }
}

pub fn usage(bucket: &Bucket) -> Usage {
    Usage {
        used: bucket.used,
        all: bucket.all,
    }
}

/// What the buckets are called: their ranges, or the end of them in which they differ, if there is room in all.
fn names(buckets: &[Bucket], wide: f64) -> Option<Vec<String>> {
    let shared = shared(buckets);
    let written = |how: &dyn Fn(Cidr) -> String| buckets.iter().map(|bucket| how(bucket.range)).collect();
    let fits = |names: &Vec<String>| names.iter().all(|name| name.len() as f64 * 6.3 <= wide);
    let ways: [&dyn Fn(Cidr) -> String; 3] = [
        &|range| format!("{}/{}", octets_of(range, 0), range.prefix()),
        &|range| format!(".{}/{}", octets_of(range, shared), range.prefix()),
        &|range| format!(".{}", octets_of(range, shared)),
    ];
    ways.into_iter().map(written).find(fits)
}

/// The octets of a range that can differ from its neighbours', but for the first ones, if they are `shared`.
fn octets_of(range: Cidr, shared: usize) -> String {
    let octets = Ipv4Addr::from_bits(range.first()).octets();
    let last = usize::from(range.prefix().saturating_sub(1) / 8);
    let own: Vec<String> = octets[shared.min(last)..=last]
        .iter()
        .map(u8::to_string)
        .collect();
    own.join(".")
}

/// How many octets all buckets begin with.
fn shared(buckets: &[Bucket]) -> usize {
    let octets = |bucket: &Bucket| Ipv4Addr::from_bits(bucket.range.first()).octets();
    match (buckets.first().map(octets), buckets.last().map(octets)) {
        (Some(first), Some(last)) => first.iter().zip(&last).take_while(|(a, b)| a == b).count(),
        _ => 0,
    }
}

fn percent(usage: Usage) -> String {
    match usage.percent() {
        percent if percent < 1.0 => "<1 %".to_owned(),
        percent => format!("{percent:.0} %"),
    }
}

/// "12 of 252 in use (5 %)".
pub fn in_use(usage: Usage) -> String {
    match usage.used {
        0 => format!("0 of {} in use", number(usage.all)),
        used => format!(
            "{} of {} in use ({})",
            number(used),
            number(usage.all),
            percent(usage)
        ),
    }
}

fn linked(address: Option<String>, drawn: Markup) -> Markup {
    match address {
        Some(address) => html! { a href=(address) { (drawn) } },
        None => html! { g { (drawn) } },
    }
}

fn legend(entries: &[(&str, &str)]) -> Markup {
    html! {
        ul .legend aria-hidden="true" {
            @for (class, text) in entries {
                li { svg viewBox="0 0 12 12" { rect .(format!("block {class}")) x="0.5" y="0.5" width="11" height="11" rx="3" {} } (text) }
            }
        }
    }
}

/// From one address to another, as a network where it is one.
pub fn span(first: u32, last: u32) -> String {
    let size = u64::from(last - first) + 1;
    let prefix = 32 - size.trailing_zeros().min(32);
    let text = format!("{}/{prefix}", Ipv4Addr::from_bits(first));
    match Cidr::parse(&text) {
        Ok(whole) if size.is_power_of_two() && whole.last() == last => text,
        _ => format!("{} – {}", Ipv4Addr::from_bits(first), Ipv4Addr::from_bits(last)),
    }
}

/// 1,024 as it is, 16,711,680 as 16.7 M.
fn short(size: u64) -> String {
    match size {
        0..100_000 => number(size),
        100_000..1_000_000 => format!("{} k", size / 1000),
        _ => format!("{:.1} M", size as f64 / 1e6),
    }
}

/// As much of a text as fits, with letters of about this width.
fn fit(text: &str, room: f64, letter: f64) -> String {
    let most = (room / letter).floor().max(1.0) as usize;
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// One digit after the point is plenty.
fn round(number: f64) -> String {
    let text = format!("{number:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::address_map::{self, addresses, buckets};
    use crate::model::id::{ConfigId, InstanceId, InterfaceId, SubnetId, VpcId};
    use crate::model::label::Label;
    use crate::model::time::Time;

    fn cidr(text: &str) -> Cidr {
        Cidr::parse(text).unwrap()
    }

    fn drawn(ranges: &[&str]) -> String {
        let subnets: Vec<Subnet> = ranges
            .iter()
            .enumerate()
            .map(|(at, range)| Subnet {
                id: SubnetId(at as i64 + 1),
                vpc: VpcId(1),
                label: Label::parse(&format!("net-{at}")).unwrap(),
                ipv4: cidr(range),
                uses: Vec::new(),
                created: Time::from_seconds(0),
                updated: Time::from_seconds(0),
            })
            .collect();
        let blocks: Vec<Block> = subnets
            .iter()
            .map(|subnet| Block {
                subnet,
                usage: Usage { used: 3, all: 4 },
                address: format!("/vpcs/1/subnets/{}", subnet.id),
            })
            .collect();
        vpc(&blocks, &[cidr("192.168.128.0/17")]).into_string()
    }

    #[test]
    fn each_subnet_is_a_block_with_a_title_its_colour_and_a_way_in() {
        let svg = drawn(&["10.0.0.0/29", "10.64.0.0/10", "192.168.0.0/24"]);
        for at in 0..3 {
            let title = format!("<title>net-{at} ");
            assert_eq!(svg.matches(&title).count(), 2, "once wide, once narrow: {svg}");
            assert!(svg.contains(&format!("href=\"/vpcs/1/subnets/{}\"", at + 1)));
        }
        assert!(svg.contains("block much") && svg.contains("block free") && svg.contains("block kept"));
        assert!(svg.contains("3 of 4 in use (75 %)"));
        assert!(svg.contains("Wholly free: <code>172.16.0.0/12</code>"));
        assert!(!svg.contains("style=") && !svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn no_block_leaves_the_picture_however_many_there_are() {
        let many: Vec<String> = (0..200)
            .map(|at| format!("10.{at}.0.0/{}", 16 + at % 14))
            .collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for ranges in [&["10.0.0.0/8"][..], &["192.168.0.8/29"], &many] {
            let svg = drawn(ranges);
            for picture in svg
                .split("<svg class=\"")
                .skip(1)
                .filter(|one| !one.starts_with("viewBox"))
            {
                let Some(width) = picture.split("viewBox=\"0 0 ").nth(1) else {
                    continue;
                };
                let width: f64 = width.split(' ').next().unwrap().parse().unwrap();
                let picture = picture.split("</svg>").next().unwrap();
                for rect in picture.split("<rect ").skip(1) {
                    let value = |name: &str| -> f64 {
                        let rest = rect.split(&format!(" {name}=\"")).nth(1).unwrap();
                        rest.split('"').next().unwrap().parse().unwrap()
                    };
                    assert!(
                        value("x") >= 0.0 && value("x") + value("width") <= width + 0.2,
                        "{rect}"
                    );
                    assert!(value("width") > 0.0, "{rect}");
                }
            }
        }
    }

    #[test]
    fn every_address_of_a_small_subnet_and_every_part_of_a_large_one_has_its_title() {
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
        let svg = subnet(&view, &[holder], "?in=").into_string();
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

        let large = cidr("10.0.0.0/8");
        let prefix = address_map::bucket_prefix(large).unwrap();
        let svg = subnet(&buckets(large, large, prefix, &[(3, 65536)], &[]), &[], "/x?in=").into_string();
        assert_eq!(svg.matches("<title>").count(), 2 * 256);
        assert!(svg.contains("<title>10.3.0.0/16: 65,536 of 65,536 in use (100 %)</title>"));
        assert!(svg.contains("href=\"/x?in=10.3.0.0/16\""));
    }

    #[test]
    fn a_part_is_named_by_its_range_as_far_as_there_is_room() {
        let parts = |window: &str, prefix: u8| {
            let View::Buckets(parts) = buckets(cidr("10.0.0.0/8"), cidr(window), prefix, &[], &[]) else {
                panic!("not buckets");
            };
            parts
        };
        let called = |window: &str, prefix: u8, wide: f64| {
            let names = names(&parts(window, prefix), wide).expect("room");
            [names[0].clone(), names[1].clone(), names[names.len() - 1].clone()]
        };
        let (wide, narrow) = (58.0, 39.0);
        assert_eq!(
            called("10.0.0.0/8", 16, wide),
            ["10.0/16", "10.1/16", "10.255/16"]
        );
        assert_eq!(called("10.0.0.0/8", 16, narrow), [".0", ".1", ".255"]);
        assert_eq!(called("10.64.0.0/16", 24, wide), [".0/24", ".1/24", ".255/24"]);
        assert_eq!(called("10.64.0.0/12", 20, wide), [".64.0", ".64.16", ".79.240"]);
        // Where there is none in a narrow page's usual row, fewer stand in it, and each can be told from the others.
        let many = parts("10.64.0.0/12", 20);
        assert_eq!(names(&many, narrow), None);
        let drawn = bucket_grid(&many, "/x?in=", "narrow", NARROW).into_string();
        assert!(drawn.contains(">10.64.16/20<") && drawn.contains(">10.79.240/20<"));
        assert_eq!(
            called("10.3.0.0/23", 28, wide),
            [".0.0/28", ".0.16/28", ".1.240/28"]
        );
    }

    #[test]
    fn spans_are_networks_where_they_can_be() {
        let of = |first: &str, last: &str| {
            let bits = |text: &str| text.parse::<Ipv4Addr>().unwrap().to_bits();
            span(bits(first), bits(last))
        };
        assert_eq!(of("10.0.0.0", "10.255.255.255"), "10.0.0.0/8");
        assert_eq!(of("10.0.1.0", "10.0.2.255"), "10.0.1.0 – 10.0.2.255");
        assert_eq!(of("10.0.0.8", "10.255.255.255"), "10.0.0.8 – 10.255.255.255");
    }
}
