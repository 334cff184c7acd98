//! Requests for IPv6 ranges: a prefix length, `auto`, or a certain range.

use crate::model::cidr::Cidr6;
use crate::model::reason::{Code, Reason, Reasons};

/// A requested IPv6 range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeRequest {
    /// The lowest free range with this prefix length.
    Lowest(u8),
    This(Cidr6),
}

/// The prefix lengths that a kind of range can have.
pub struct PrefixLengths {
    /// The prefix length of `auto`.
    pub default: u8,
    /// At least one.
    pub allowed: &'static [u8],
    /// The networks that can be requested, for an error text.
    pub networks: &'static str,
}

/// The prefix lengths of VPCs, in descending order.
pub const OF_VPCS: PrefixLengths = PrefixLengths {
    default: 52,
    allowed: &[52, 48, 44],
    networks: "a range that your account has recently released",
};

/// The prefix lengths of subnets.
pub const OF_SUBNETS: PrefixLengths = PrefixLengths {
    default: 56,
    allowed: &[52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62],
    networks: "a range of the VPC with such a prefix length",
};

/// The prefix length of the networks of interfaces.
pub const OF_INTERFACES: PrefixLengths = PrefixLengths {
    default: 64,
    allowed: &[64],
    networks: "a /64 of the subnet",
};

impl PrefixLengths {
    /// The error for a value that is not accepted.
    pub fn reason(&self, code: Code) -> Reason {
        let lengths = match self.allowed {
            [.., last] if self.allowed.len() > 3 => {
                format!("a prefix length from /{} to /{last}", self.allowed[0])
            }
            [first @ .., last] if !first.is_empty() => {
                let first: Vec<_> = first.iter().map(|length| format!("/{length}")).collect();
                format!("{} or /{last}", first.join(", "))
            }
            _ => format!("/{}", self.default),
        };
        Reason::new(code, format!("Must be auto, {lengths}, or {}", self.networks))
    }
}

impl RangeRequest {
    /// Parses `auto`, a prefix length such as `/52`, or a network.
    pub fn parse(raw: &str, lengths: &PrefixLengths) -> Result<Self, Reasons> {
        let request = match raw.strip_prefix('/') {
            None if raw == "auto" => return Ok(Self::Lowest(lengths.default)),
            None => Self::This(Cidr6::parse(raw).map_err(|reasons| match reasons[..] {
                [
                    Reason {
                        code: Code::CidrInvalid,
                        ..
                    },
                ] => vec![lengths.reason(Code::CidrInvalid)],
                _ => reasons,
            })?),
            Some(prefix) => match prefix.parse::<u8>() {
                Ok(length) if length.to_string() == prefix => Self::Lowest(length),
                _ => return Err(vec![lengths.reason(Code::CidrPrefix)]),
            },
        };
        match lengths.allowed.contains(&request.prefix()) {
            true => Ok(request),
            false => Err(vec![lengths.reason(Code::CidrPrefix)]),
        }
    }

    pub fn prefix(self) -> u8 {
        match self {
            Self::Lowest(prefix) => prefix,
            Self::This(range) => range.prefix(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_requested_by_word_length_or_network() {
        let vpc = |raw: &str| RangeRequest::parse(raw, &OF_VPCS).ok();
        assert_eq!(vpc("auto"), Some(RangeRequest::Lowest(52)));
        assert_eq!(vpc("/48"), Some(RangeRequest::Lowest(48)));
        let range = Cidr6::parse("fd00::/52").unwrap();
        assert_eq!(vpc("FD00:0::/52"), Some(RangeRequest::This(range)));
        for bad in [
            "",
            "/",
            "52",
            "/056",
            "/56",
            "/+52",
            "/200",
            "/999",
            "fd00::",
            "fd00::/56",
            "fd00::1/52",
            "Auto",
        ] {
            assert_eq!(vpc(bad), None, "{bad}");
        }
    }
}
