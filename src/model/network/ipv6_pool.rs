//! The provider's pool: the range from which VPCs get their IPv6 ranges (decision 0029).

use std::ops::RangeInclusive;

use crate::model::cidr::Cidr6;
use crate::model::range_request::OF_VPCS;
use crate::model::reason::{Code, Reason, Reasons};

/// The prefix lengths that the pool can have. The smallest pool has room for one VPC.
const PREFIX_LENGTHS: RangeInclusive<u8> = 8..=OF_VPCS.default;

/// Ranges whose addresses cannot be assigned to interfaces of a VPC.
const UNUSABLE: [(&str, &str); 4] = [
    ("::/8", "loopback, IPv4-mapped and other special addresses"),
    ("fe80::/10", "link-local addresses"),
    ("fec0::/10", "site-local addresses"),
    ("ff00::/8", "multicast addresses"),
];

/// The ranges that are for networks like those of VPCs.
const USABLE: [&str; 2] = ["fd00::/8", "2000::/3"];

pub fn parse(raw: &str) -> Result<Cidr6, Reasons> {
    let pool = Cidr6::parse(raw)?;
    for (range, addresses) in UNUSABLE {
        if Cidr6::parse(range)?.overlaps(pool) {
            let text = format!(
                "Must not overlap {range} ({addresses}). Use a part of fd00::/8, or global addresses of your network"
            );
            return Err(vec![Reason::new(Code::CidrForbidden, text)]);
        }
    }
    if !PREFIX_LENGTHS.contains(&pool.prefix()) {
        let (shortest, longest) = (PREFIX_LENGTHS.start(), PREFIX_LENGTHS.end());
        let text = format!("Must have a prefix length from {shortest} to {longest}");
        return Err(vec![Reason::new(Code::CidrPrefix, text)]);
    }
    let is_inside = |range: &str| Cidr6::parse(range).is_ok_and(|range| range.contains(pool));
    match USABLE.into_iter().any(is_inside) {
        true => Ok(pool),
        false => {
            let text =
                "Must be a part of fd00::/8 (unique local addresses) or of 2000::/3 (global addresses)";
            Err(vec![Reason::new(Code::CidrForbidden, text)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_has_usable_addresses_and_room_for_a_vpc() {
        for pool in [
            "fd67:6172::/32",
            "fd00::/8",
            "fd00::/52",
            "2001:db8::/32",
            "2600:3c00::/24",
        ] {
            assert_eq!(parse(pool).unwrap().to_string(), pool);
        }
        for (pool, code) in [
            ("::/0", Code::CidrForbidden),
            ("::/8", Code::CidrForbidden),
            ("::1/128", Code::CidrForbidden),
            ("::ffff:0:0/96", Code::CidrForbidden),
            ("::ffff:10.0.0.0/104", Code::CidrForbidden),
            ("64:ff9b::/32", Code::CidrForbidden),
            ("fe80::/10", Code::CidrForbidden),
            ("fe80::/32", Code::CidrForbidden),
            ("fec0::/32", Code::CidrForbidden),
            ("ff00::/8", Code::CidrForbidden),
            ("ff02::/32", Code::CidrForbidden),
            ("fe00::/8", Code::CidrForbidden),
            ("fc00::/8", Code::CidrForbidden),
            ("100::/52", Code::CidrForbidden),
            ("f000::/8", Code::CidrForbidden),
            ("fd00::/53", Code::CidrPrefix),
            ("2000::/3", Code::CidrPrefix),
            ("fd00::", Code::CidrInvalid),
            ("10.0.0.0/8", Code::CidrInvalid),
            ("fd00::1/32", Code::CidrHostBits),
        ] {
            assert_eq!(parse(pool).unwrap_err()[0].code, code, "{pool}");
        }
    }
}
