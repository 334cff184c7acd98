//! The map of a VPC: its private address spaces as rows of blocks.

use maud::{Markup, html};

use super::space_table::space_table;
use super::subnet_map::{Square, bucket_grid, usage_of};
use super::{
    GAP, NARROW_WIDTH, WIDE_WIDTH, block_url, format_range, in_use, legend, round, share, short_number,
    truncate,
};
use crate::console::layout::number;
use crate::console::usage::usage_class;
use crate::model::address_map::{Bucket, Part, PartKind, Space, spaces};
use crate::model::cidr::{Cidr, PRIVATE};
use crate::model::subnet::Subnet;
use crate::rules::addresses::Usage;

/// The width of the compact map.
const COMPACT_WIDTH: f64 = 270.0;
const BLOCK_HEIGHT: f64 = 78.0;
/// A VPC with more subnets has a map of the allocation of its address spaces, and no block for each subnet.
pub const MAX_MAPPED_SUBNETS: i64 = 64;

/// A subnet on the map.
pub struct Block<'a> {
    pub subnet: &'a Subnet,
    pub usage: Usage,
    pub url: String,
}

/// Subnets as blocks, each with the URL of its page.
pub fn blocks<'a>(
    subnets: impl Iterator<Item = (&'a Subnet, Usage)>,
    url: impl Fn(&Subnet) -> String,
) -> Vec<Block<'a>> {
    let block = |(subnet, usage)| Block {
        subnet,
        usage,
        url: url(subnet),
    };
    subnets.map(block).collect()
}

/// Splits the private address spaces into spaces with subnets and spaces without subnets.
fn spaces_by_use(blocks: &[Block], forbidden: &[Cidr]) -> (Vec<Space>, Vec<Space>) {
    let ranges: Vec<Cidr> = blocks.iter().map(|block| block.subnet.ipv4).collect();
    let has_subnets = |space: &Space| {
        let mut parts = space.parts.iter();
        parts.any(|part| matches!(part.kind, PartKind::Subnet(_)))
    };
    spaces(&ranges, forbidden).into_iter().partition(has_subnets)
}

fn space_maps(
    spaces: &[Space],
    blocks: &[Block],
    sizes: &[(&str, f64)],
    new_subnet_url: Option<&str>,
) -> Markup {
    html! {
        @for space in spaces {
            h3 { code { (space.range) } span .quiet { " · " (allocated_percent(space.range, taken(space))) " allocated" } }
            @for (class, width) in sizes { (space_map(space, blocks, class, *width, new_subnet_url)) }
        }
    }
}

/// A compact map of the address spaces that have subnets, for a sidebar.
pub fn compact(blocks: &[Block], forbidden: &[Cidr]) -> Markup {
    let (used, _) = spaces_by_use(blocks, forbidden);
    html! { div .map { (space_maps(&used, blocks, &[("compact", COMPACT_WIDTH)], None)) } }
}

/// The map of a VPC: maps of the address spaces with subnets, a list of the spaces without subnets, and a table of all
/// spaces. With `new_subnet_url`, free blocks are links to the form for a subnet.
pub fn vpc(blocks: &[Block], forbidden: &[Cidr], new_subnet_url: Option<&str>) -> Markup {
    let (used, unused) = spaces_by_use(blocks, forbidden);
    let unused_ranges: Vec<Cidr> = unused.iter().map(|space| space.range).collect();
    let mut unused_parts = unused.iter().flat_map(|space| &space.parts);
    let some_reserved = unused_parts.any(|part| part.kind == PartKind::Forbidden);
    html! {
        div .map {
            (space_maps(&used, blocks, &[("wide", WIDE_WIDTH), ("narrow", NARROW_WIDTH)], new_subnet_url))
            (without_subnets(&unused_ranges, some_reserved))
            (legend(&[("none", "0% in use"), ("some", "under 60%"), ("much", "60% or more"), ("full", "90% or more"), ("free", "free"), ("reserved", "reserved by the provider")]))
            p .hint {
                "In address order. Block widths are on a logarithmic scale."
                @if new_subnet_url.is_some() { " Select a free block to add a subnet there." }
            }
            details {
                summary { "Show as table" }
                (space_table(used.iter().chain(&unused), blocks, new_subnet_url))
            }
        }
    }
}

/// The address spaces without subnets.
fn without_subnets(spaces: &[Cidr], some_reserved: bool) -> Markup {
    html! {
        @if !spaces.is_empty() {
            p .quiet {
                "No subnets in "
                @for (at, space) in spaces.iter().enumerate() { @if at > 0 { " or " } code { (space) } }
                "."
                @if some_reserved { " Some of these addresses are reserved by the provider." }
            }
        }
    }
}

/// The map of a VPC with many subnets, which have these ranges: a square for each part of the address spaces with
/// subnets. `list_url_prefix` followed by a range is the URL of the subnets in that range, if there is such a page.
pub fn dense(ranges: &[Cidr], forbidden: &[Cidr], list_url_prefix: Option<&str>) -> Markup {
    let has_subnets = |space: &Cidr| ranges.iter().any(|range| space.overlaps(*range));
    let (used, unused): (Vec<Cidr>, Vec<Cidr>) = PRIVATE.into_iter().partition(has_subnets);
    let square = |part: &Bucket| allocated_square(part, forbidden, list_url_prefix);
    html! {
        div .map {
            @for space in used {
                @let parts = allocation(space, ranges);
                @let taken = parts.iter().map(|part| part.used).sum();
                h3 { code { (space) } span .quiet { " · " (allocated_percent(space, taken)) " allocated" } }
                @for (class, width) in [("wide", WIDE_WIDTH), ("narrow", NARROW_WIDTH)] { (bucket_grid(&parts, square, class, width)) }
            }
            (without_subnets(&unused, forbidden.iter().any(|range| unused.iter().any(|space| space.overlaps(*range)))))
            (legend(&[("none", "no subnets"), ("some", "under 60% allocated"), ("much", "60% or more"), ("full", "90% or more"), ("reserved", "reserved by the provider")]))
            p .hint { "Each square is a range." @if list_url_prefix.is_some() { " Select one to see its subnets." } }
        }
    }
}

/// A square that shows the addresses of subnets, and leads to them.
fn allocated_square(part: &Bucket, forbidden: &[Cidr], list_url_prefix: Option<&str>) -> Square {
    if part.used == 0 && forbidden.iter().any(|range| range.contains(part.range)) {
        return Square {
            class: "reserved",
            text: "reserved by the provider".to_owned(),
            url: None,
        };
    }
    let usage = usage_of(part);
    Square {
        class: usage_class(usage),
        text: share(usage, "allocated"),
        url: list_url_prefix.map(|prefix| format!("{prefix}{}", part.range)),
    }
}

/// The number of addresses of subnets in each part of an address space.
fn allocation(space: Cidr, ranges: &[Cidr]) -> Vec<Bucket> {
    const SQUARES_BITS: u8 = 6;
    let parts = space.split(space.prefix() + SQUARES_BITS);
    let empty = |range: Cidr| Bucket {
        range,
        used: 0,
        all: size(range),
    };
    let mut parts: Vec<Bucket> = parts.map(empty).collect();
    let shift = 32 - u32::from(space.prefix() + SQUARES_BITS);
    for range in ranges.iter().filter(|range| space.contains(**range)) {
        let part_of = |address: u32| ((address - space.first()) >> shift) as usize;
        for part in &mut parts[part_of(range.first())..=part_of(range.last())] {
            // A subnet that is larger than the part fills it.
            part.used += size(*range).min(part.all);
        }
    }
    parts
}

fn size(range: Cidr) -> u64 {
    u64::from(range.last() - range.first()) + 1
}

/// The number of addresses of subnets in an address space.
fn taken(space: &Space) -> u64 {
    let is_subnet = |part: &&Part| matches!(part.kind, PartKind::Subnet(_));
    space.parts.iter().filter(is_subnet).map(Part::size).sum()
}

fn allocated_percent(space: Cidr, taken: u64) -> String {
    let percent = taken as f64 * 100.0 / size(space) as f64;
    if percent < 1.0 {
        "less than 1%".to_owned()
    } else {
        format!("{percent:.0}%")
    }
}

/// One address space as lines of blocks. Each line is filled from end to end, like justified text.
fn space_map(
    space: &Space,
    blocks: &[Block],
    class: &str,
    width: f64,
    new_subnet_url: Option<&str>,
) -> Markup {
    let block_width = |part: &Part| {
        let bits = (part.size() as f64).log2();
        match part.kind {
            PartKind::Subnet(_) => (96.0 + bits * 6.5).min(width),
            PartKind::Free | PartKind::Forbidden => 44.0 + bits * 4.0,
        }
    };
    let mut lines: Vec<Vec<(&Part, f64)>> = vec![Vec::new()];
    let mut used = 0.0;
    for part in &space.parts {
        let natural_width = block_width(part);
        if used + natural_width > width && used > 0.0 {
            lines.push(Vec::new());
            used = 0.0;
        }
        used += natural_width + GAP;
        if let Some(line) = lines.last_mut() {
            line.push((part, natural_width));
        }
    }
    let height = lines.len() as f64 * (BLOCK_HEIGHT + GAP) - GAP;
    html! {
        svg .(class) viewBox=(format!("0 0 {width} {height}")) role="group"
            aria-label=(format!("Map of {}", space.range)) {
            @for (at, line) in lines.iter().enumerate() {
                @for (part, left, part_width) in justify(line, width) {
                    @let shape = block(part, blocks, left, at as f64 * (BLOCK_HEIGHT + GAP), part_width);
                    @match new_subnet_url.filter(|_| part.kind == PartKind::Free) {
                        Some(url) => a .gap href=(block_url(url, part.first, part.last)) { (shape) },
                        None => (shape),
                    }
                }
            }
        }
    }
}

/// The blocks of a line, each with its position and width.
fn justify<'a>(line: &[(&'a Part, f64)], width: f64) -> Vec<(&'a Part, f64, f64)> {
    let gaps = GAP * (line.len().saturating_sub(1)) as f64;
    let total: f64 = line.iter().map(|(_, natural_width)| natural_width).sum();
    // A short last line is not stretched over the full width.
    let stretch = ((width - gaps) / total).min(1.7);
    let mut left = 0.0;
    line.iter()
        .map(|(part, natural_width)| {
            let part_width = natural_width * stretch;
            let placed = (*part, left, part_width);
            left += part_width + GAP;
            placed
        })
        .collect()
}

fn block(part: &Part, blocks: &[Block], x: f64, y: f64, part_width: f64) -> Markup {
    let (text_x, bottom) = (x + 10.0, y + BLOCK_HEIGHT - 10.0);
    let background = |class: &str| {
        html! { rect .(class) x=(round(x)) y=(round(y)) width=(round(part_width)) height=(BLOCK_HEIGHT) rx="5" {} }
    };
    match part.kind {
        PartKind::Subnet(at) => {
            let Some(Block { subnet, usage, url }) = blocks.get(at) else {
                return html! {};
            };
            let title = format!("{} {}: {}", subnet.label.as_str(), subnet.ipv4, in_use(*usage));
            let bar = (part_width - 20.0) * usage.percent() / 100.0;
            html! {
                a href=(url) .subnet {
                    title { (title) }
                    (background(&format!("block {}", usage_class(*usage))))
                    text .name x=(round(text_x)) y=(round(y + 21.0)) { (truncate(subnet.label.as_str(), part_width - 20.0, 9.6)) }
                    text .range x=(round(text_x)) y=(round(y + 38.0)) { (truncate(&subnet.ipv4.to_string(), part_width - 20.0, 7.3)) }
                    text .much x=(round(text_x)) y=(round(y + 55.0)) {
                        (truncate(&format!("{} / {}", number(usage.used), number(usage.all)), part_width - 20.0, 6.6))
                    }
                    rect .track x=(round(text_x)) y=(round(bottom - 3.0)) width=(round(part_width - 20.0)) height="5" rx="2" {}
                    @if usage.used > 0 {
                        rect .(format!("bar {}", usage_class(*usage))) x=(round(text_x)) y=(round(bottom - 3.0)) width=(round(bar.max(2.0))) height="5" rx="2" {}
                    }
                }
            }
        }
        PartKind::Free | PartKind::Forbidden => {
            let (class, word) = match part.kind {
                PartKind::Free => ("free", "free"),
                _ => ("reserved", "reserved"),
            };
            html! {
                g .gap {
                    title { (word) ": " (format_range(part.first, part.last)) ", " (number(part.size())) " addresses" }
                    (background(&format!("block {class}")))
                    text .much x=(round(text_x)) y=(round(y + 21.0)) { (word) }
                    text .much x=(round(text_x)) y=(round(y + 38.0)) { (truncate(&short_number(part.size()), part_width - 16.0, 6.6)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::{SubnetId, VpcId};
    use crate::model::label::Label;
    use crate::model::time::Time;

    fn cidr(text: &str) -> Cidr {
        Cidr::parse(text).unwrap()
    }

    fn rendered(ranges: &[&str]) -> String {
        let subnets: Vec<Subnet> = ranges
            .iter()
            .enumerate()
            .map(|(at, range)| Subnet {
                id: SubnetId(at as i64 + 1),
                vpc: VpcId(1),
                label: Label::parse(&format!("net-{at}")).unwrap(),
                ipv4: cidr(range),
                ipv6: None,
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
                url: format!("/vpcs/1/subnets/{}", subnet.id),
            })
            .collect();
        vpc(&blocks, &[cidr("192.168.128.0/17")], Some("/new")).into_string()
    }

    #[test]
    fn each_subnet_is_a_block_with_title_color_and_link() {
        let svg = rendered(&["10.0.0.0/29", "10.64.0.0/10", "192.168.0.0/24"]);
        for at in 0..3 {
            let title = format!("<title>net-{at} ");
            assert_eq!(svg.matches(&title).count(), 2, "once wide, once narrow: {svg}");
            assert!(svg.contains(&format!("href=\"/vpcs/1/subnets/{}\"", at + 1)));
        }
        assert!(svg.contains("block much") && svg.contains("block free") && svg.contains("block reserved"));
        assert!(svg.contains("3 of 4 in use (75%)"));
        // A free block is a link in both maps and in the table, and a reserved block is not.
        let free = "href=\"/new?free=10.0.0.8-10.63.255.255\"";
        assert_eq!(svg.matches(free).count(), 3, "{svg}");
        assert!(!svg.contains("free=192.168.128.0"), "{svg}");
        assert!(svg.contains("No subnets in <code>172.16.0.0/12</code>"));
        assert!(!svg.contains("style=") && !svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn all_blocks_are_inside_the_map() {
        let many: Vec<String> = (0..200)
            .map(|at| format!("10.{at}.0.0/{}", 16 + at % 14))
            .collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        for ranges in [&["10.0.0.0/8"][..], &["192.168.0.8/29"], &many] {
            let svg = rendered(ranges);
            for map in svg
                .split("<svg class=\"")
                .skip(1)
                .filter(|svg| !svg.starts_with("viewBox"))
            {
                let Some(width) = map.split("viewBox=\"0 0 ").nth(1) else {
                    continue;
                };
                let width: f64 = width.split(' ').next().unwrap().parse().unwrap();
                let map = map.split("</svg>").next().unwrap();
                for rect in map.split("<rect ").skip(1) {
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
}
