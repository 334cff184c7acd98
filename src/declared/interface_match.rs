//! Whether the current ranges and interfaces are those that a document describes.

use super::document::{Interface, InterfaceIpv4, InterfaceIpv6, Range, is_same};
use crate::model::cidr::Cidr6;

/// Whether a range of an object is the described one. `auto` is any range, and `/52` any range with this prefix length.
pub fn is_range(wanted: &Range, current: &Range) -> bool {
    match wanted.range.as_str() {
        "auto" => true,
        prefix if prefix.starts_with('/') => current.range.ends_with(prefix),
        range => match (Cidr6::parse(range), Cidr6::parse(&current.range)) {
            (Ok(wanted), Ok(current)) => wanted == current,
            _ => range == current.range,
        },
    }
}

/// Whether all ranges of an object are the described ones. A missing list is any.
pub fn are_ranges(wanted: Option<&[Range]>, current: &[Range]) -> bool {
    wanted.is_none_or(|wanted| {
        wanted.len() == current.len()
            && wanted
                .iter()
                .zip(current)
                .all(|(wanted, current)| is_range(wanted, current))
    })
}

pub fn are_interfaces(wanted: &[Interface], current: &[Interface]) -> bool {
    wanted.len() == current.len()
        && wanted
            .iter()
            .zip(current)
            .all(|(wanted, current)| is_interface(wanted, current))
}

fn is_interface(wanted: &Interface, current: &Interface) -> bool {
    let is_same_label = |wanted: &Option<String>, current: &Option<String>| match (wanted, current) {
        (Some(wanted), Some(current)) => is_same(wanted, current),
        (None, None) => true,
        _ => false,
    };
    wanted.purpose == current.purpose
        && wanted.primary == current.primary
        && text(&wanted.label) == text(&current.label)
        && text(&wanted.ipam_address) == text(&current.ipam_address)
        && is_same_label(&wanted.vpc, &current.vpc)
        && is_same_label(&wanted.subnet, &current.subnet)
        && is_ipv4(wanted.ipv4.as_ref(), current.ipv4.as_ref())
        && wanted.ip_ranges == current.ip_ranges
        && is_ipv6(wanted.ipv6.as_ref(), current.ipv6.as_ref())
}

fn text(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or_default()
}

fn is_ipv4(wanted: Option<&InterfaceIpv4>, current: Option<&InterfaceIpv4>) -> bool {
    let field = |ipv4: Option<&InterfaceIpv4>, of: fn(&InterfaceIpv4) -> &Option<String>| {
        ipv4.map_or(String::new(), |ipv4| text(of(ipv4)).to_owned())
    };
    let address = |ipv4| field(ipv4, |ipv4| &ipv4.vpc);
    let nat = |ipv4| field(ipv4, |ipv4| &ipv4.nat_1_1);
    let is_address = address(wanted).is_empty() || address(wanted) == address(current);
    let is_nat = match nat(wanted).as_str() {
        "any" => !nat(current).is_empty(),
        wanted => wanted == nat(current),
    };
    is_address && is_nat
}

fn is_ipv6(wanted: Option<&InterfaceIpv6>, current: Option<&InterfaceIpv6>) -> bool {
    let Some(wanted) = wanted else { return true };
    let none = InterfaceIpv6::default();
    let current = current.unwrap_or(&none);
    let all = |ranges: &Option<Vec<Range>>| ranges.clone().unwrap_or_default();
    are_ranges(wanted.slaac.as_deref(), &all(&current.slaac))
        && are_ranges(wanted.ranges.as_deref(), &all(&current.ranges))
        && wanted
            .is_public
            .is_none_or(|is_public| is_public == current.is_public.unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(range: &str) -> Range {
        Range {
            range: range.to_owned(),
        }
    }

    #[test]
    fn a_range_is_described_by_word_length_or_network() {
        let current = range("fd00:0:0:1000::/52");
        for (wanted, expected) in [
            ("auto", true),
            ("/52", true),
            ("/48", false),
            ("FD00:0:0:1000:0::/52", true),
            ("fd00:0:0:2000::/52", false),
            ("words", false),
        ] {
            assert_eq!(is_range(&range(wanted), &current), expected, "{wanted}");
        }
        assert!(are_ranges(None, std::slice::from_ref(&current)) && !are_ranges(Some(&[]), &[current]));
    }

    fn interface(address: Option<&str>, nat: Option<&str>) -> Interface {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Interface {
            purpose: "vpc".to_owned(),
            vpc: owned(Some("core")),
            subnet: owned(Some("web")),
            ipv4: Some(InterfaceIpv4 {
                vpc: owned(address),
                nat_1_1: owned(nat),
            }),
            ..Interface::default()
        }
    }

    #[test]
    fn a_missing_address_is_any_but_a_missing_nat_is_none() {
        let current = interface(Some("10.0.0.2"), Some("203.0.113.9"));
        for (wanted, expected) in [
            (interface(None, Some("any")), true),
            (interface(Some("10.0.0.2"), Some("203.0.113.9")), true),
            (interface(Some("10.0.0.3"), Some("any")), false),
            (interface(None, Some("203.0.113.8")), false),
            (interface(None, None), false),
        ] {
            assert_eq!(is_interface(&wanted, &current), expected, "{wanted:?}");
        }
        let without_nat = interface(Some("10.0.0.2"), None);
        assert!(!is_interface(&interface(None, Some("any")), &without_nat));
        assert!(is_interface(&interface(None, Some("")), &without_nat));
    }

    #[test]
    fn ipv6_networks_are_compared_only_if_they_are_described() {
        let current = InterfaceIpv6 {
            slaac: Some(vec![range("fd00::/64")]),
            ranges: Some(Vec::new()),
            is_public: Some(false),
        };
        let wanted = |slaac: Option<Vec<Range>>, is_public| InterfaceIpv6 {
            slaac,
            ranges: None,
            is_public,
        };
        assert!(is_ipv6(None, Some(&current)));
        assert!(is_ipv6(Some(&wanted(None, Some(false))), Some(&current)));
        assert!(is_ipv6(
            Some(&wanted(Some(vec![range("auto")]), None)),
            Some(&current)
        ));
        assert!(!is_ipv6(Some(&wanted(Some(Vec::new()), None)), Some(&current)));
        assert!(!is_ipv6(Some(&wanted(None, Some(true))), Some(&current)));
        assert!(!is_ipv6(Some(&wanted(Some(vec![range("auto")]), None)), None));
    }
}
