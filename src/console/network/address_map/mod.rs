//! The address map: inline SVG for the data of `model::address_map`.
//!
//! Each map is rendered twice, for wide and for narrow screens, and the style sheet shows one of them. The
//! pages also show the same data as a table.

mod network_map;
mod space_table;
mod subnet_map;
mod vpc_map;

pub use network_map::{network_element_id, networks, usage_of_block};
pub use subnet_map::{element_id, subnet, usage_of};
pub use vpc_map::{Block, MAX_MAPPED_SUBNETS, blocks, compact, dense, vpc};

use std::net::Ipv4Addr;

use maud::{Markup, html};

use crate::console::instances;
use crate::console::layout::number;
use crate::model::cidr::Cidr;
use crate::model::id::InstanceId;
use crate::rules::addresses::Usage;

/// The widths of the two maps, in units of about a pixel.
const WIDE_WIDTH: f64 = 1000.0;
const NARROW_WIDTH: f64 = 344.0;
const GAP: f64 = 4.0;

fn percent(usage: Usage) -> String {
    match usage.percent() {
        percent if percent < 1.0 => "<1%".to_owned(),
        percent => format!("{percent:.0}%"),
    }
}

/// A usage as text, such as "12 of 252 in use (5%)".
pub fn in_use(usage: Usage) -> String {
    share(usage, "in use")
}

fn share(usage: Usage, what: &str) -> String {
    let all = number(usage.all);
    match usage.used {
        0 => format!("0 of {all} {what}"),
        used => format!("{} of {all} {what} ({})", number(used), percent(usage)),
    }
}

/// The label and the ID of an instance. The label is a link for tenants. Without a label, the user cannot see the
/// instance.
pub fn instance_link(id: InstanceId, label: Option<&str>, is_tenant: bool) -> Markup {
    html! {
        @match label {
            Some(label) if is_tenant => a href=(instances::url(id)) { (label) },
            Some(label) => (label),
            None => "Instance",
        }
        " " span .id { (id) }
    }
}

fn linked(url: Option<String>, shape: Markup) -> Markup {
    match url {
        Some(url) => html! { a href=(url) { (shape) } },
        None => html! { g { (shape) } },
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

/// A block of free addresses in a URL, such as `10.0.1.0-10.0.3.255`.
pub fn parse_block(raw: &str) -> Option<(u32, u32)> {
    let (first, last) = raw.split_once('-')?;
    let address = |raw: &str| Some(raw.parse::<Ipv4Addr>().ok()?.to_bits());
    Some((address(first)?, address(last)?)).filter(|(first, last)| first <= last)
}

/// The URL of the form for a subnet in a free block. `parse_block` reads the block.
pub fn block_url(new_subnet_url: &str, first: u32, last: u32) -> String {
    let (first, last) = (Ipv4Addr::from_bits(first), Ipv4Addr::from_bits(last));
    format!("{new_subnet_url}?free={first}-{last}")
}

/// A range of addresses, in CIDR notation if possible.
pub fn format_range(first: u32, last: u32) -> String {
    let size = u64::from(last - first) + 1;
    let prefix = 32 - size.trailing_zeros().min(32);
    let text = format!("{}/{prefix}", Ipv4Addr::from_bits(first));
    match Cidr::parse(&text) {
        Ok(range) if size.is_power_of_two() && range.last() == last => text,
        _ => format!("{} – {}", Ipv4Addr::from_bits(first), Ipv4Addr::from_bits(last)),
    }
}

/// A number in short form: 1,024 is unchanged, 16,711,680 becomes 16.7 M.
fn short_number(size: u64) -> String {
    match size {
        0..100_000 => number(size),
        100_000..1_000_000 => format!("{} k", size / 1000),
        _ => format!("{:.1} M", size as f64 / 1e6),
    }
}

/// Truncates a text to a width, given the approximate width of a character.
fn truncate(text: &str, width: f64, char_width: f64) -> String {
    let max_chars = (width / char_width).floor().max(1.0) as usize;
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    let start: String = text.chars().take(max_chars.saturating_sub(1)).collect();
    format!("{start}…")
}

/// A coordinate, which is not negative, with at most one decimal place.
fn round(number: f64) -> String {
    // Formatting floating-point numbers took 15% of the time of a page with a map.
    let tenths = (number * 10.0).round() as u64;
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        digit => format!("{}.{digit}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_have_at_most_one_decimal_place() {
        let written = [0.0, 0.04, 0.06, 7.96, 12.0, 12.34, 648.5].map(round);
        assert_eq!(written, ["0", "0", "0.1", "8", "12", "12.3", "648.5"]);
    }

    #[test]
    fn a_range_is_in_cidr_notation_if_possible() {
        let range = |first: &str, last: &str| {
            let bits = |text: &str| text.parse::<Ipv4Addr>().unwrap().to_bits();
            format_range(bits(first), bits(last))
        };
        assert_eq!(range("10.0.0.0", "10.255.255.255"), "10.0.0.0/8");
        assert_eq!(range("10.0.1.0", "10.0.2.255"), "10.0.1.0 – 10.0.2.255");
        assert_eq!(range("10.0.0.8", "10.255.255.255"), "10.0.0.8 – 10.255.255.255");
    }
}
