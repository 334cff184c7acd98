//! Problems of a host that belong to no port, and the packets that each of them affects.

/// A problem of a host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostWarning {
    pub code: WarningCode,
    /// The IDs of the affected hosts or subnets. Empty if the code names none, or if all are affected.
    pub ids: Vec<i64>,
    /// The problem and its fix, for operators.
    pub text: String,
}

/// The kind of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WarningCode {
    /// No interface has the underlay address.
    UnderlayAddressMissing,
    /// The MTU of the underlay is smaller than expected.
    UnderlayMtuSmall,
    /// The kernel does not forward IPv4 packets, which 1:1 NAT needs.
    Ipv4ForwardingOff,
    /// The kernel does not forward IPv6 packets, which public IPv6 networks need.
    Ipv6ForwardingOff,
    /// The filter of the host, or another object that all ports need, cannot be applied.
    HostFilterFailed,
    /// A link between the host and a VPC cannot be created.
    UplinkFailed,
    /// An encrypted tunnel cannot be created, or its process has ended.
    EncryptedTunnelFailed,
    /// There is no encrypted session with some hosts.
    NoSession,
    /// There is no encrypted session with any other host.
    NoSessions,
    /// A subnet has no DHCP server.
    DhcpFailed,
    /// A subnet gets no router advertisements.
    RouterAdvertisementsFailed,
    /// The hook of a removed port has failed.
    RemovedPortHookFailed,
    /// Several agents use the credential of the host.
    CredentialShared,
    /// A problem of an agent that sends no codes, or a code of a newer agent.
    Other,
}

/// The packets that a problem affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffectedPackets {
    All,
    BetweenHosts,
    /// Those that leave or enter a VPC.
    Public,
    PublicIpv4,
    PublicIpv6,
    /// IPv4 packets of the instances in the named subnets.
    SubnetIpv4,
    SubnetIpv6,
    None,
}

impl WarningCode {
    pub const ALL: [Self; 14] = [
        Self::UnderlayAddressMissing,
        Self::UnderlayMtuSmall,
        Self::Ipv4ForwardingOff,
        Self::Ipv6ForwardingOff,
        Self::HostFilterFailed,
        Self::UplinkFailed,
        Self::EncryptedTunnelFailed,
        Self::NoSession,
        Self::NoSessions,
        Self::DhcpFailed,
        Self::RouterAdvertisementsFailed,
        Self::RemovedPortHookFailed,
        Self::CredentialShared,
        Self::Other,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            Self::UnderlayAddressMissing => "underlay_address_missing",
            Self::UnderlayMtuSmall => "underlay_mtu_small",
            Self::Ipv4ForwardingOff => "ipv4_forwarding_off",
            Self::Ipv6ForwardingOff => "ipv6_forwarding_off",
            Self::HostFilterFailed => "host_filter_failed",
            Self::UplinkFailed => "uplink_failed",
            Self::EncryptedTunnelFailed => "encrypted_tunnel_failed",
            Self::NoSession => "no_session",
            Self::NoSessions => "no_sessions",
            Self::DhcpFailed => "dhcp_failed",
            Self::RouterAdvertisementsFailed => "router_advertisements_failed",
            Self::RemovedPortHookFailed => "removed_port_hook_failed",
            Self::CredentialShared => "credential_shared",
            Self::Other => "other",
        }
    }

    /// The code with this word; `Other` if there is none.
    pub fn parse(word: &str) -> Self {
        let mut all = Self::ALL.into_iter();
        all.find(|code| code.word() == word).unwrap_or(Self::Other)
    }

    /// The packets that the problem can stop.
    pub const fn affected_packets(self) -> AffectedPackets {
        match self {
            Self::HostFilterFailed | Self::CredentialShared | Self::Other => AffectedPackets::All,
            Self::UnderlayAddressMissing
            | Self::UnderlayMtuSmall
            | Self::EncryptedTunnelFailed
            | Self::NoSession
            | Self::NoSessions => AffectedPackets::BetweenHosts,
            Self::Ipv4ForwardingOff => AffectedPackets::PublicIpv4,
            Self::Ipv6ForwardingOff => AffectedPackets::PublicIpv6,
            Self::UplinkFailed => AffectedPackets::Public,
            Self::DhcpFailed => AffectedPackets::SubnetIpv4,
            Self::RouterAdvertisementsFailed => AffectedPackets::SubnetIpv6,
            Self::RemovedPortHookFailed => AffectedPackets::None,
        }
    }

    /// Whether the host reaches no other host, so that new instances are placed on it only if no other host is usable.
    pub const fn isolates_host(self) -> bool {
        matches!(
            self,
            Self::UnderlayAddressMissing | Self::HostFilterFailed | Self::NoSessions | Self::CredentialShared
        )
    }
}

impl HostWarning {
    pub fn new(code: WarningCode, text: impl Into<String>) -> Self {
        Self {
            code,
            ids: Vec::new(),
            text: text.into(),
        }
    }

    /// Whether the problem can stop the packets of a path through the host.
    pub fn affects(&self, path: &PathUse) -> bool {
        let names = |id: i64| self.ids.is_empty() || self.ids.contains(&id);
        let in_subnet = |is_ipv4: bool| {
            let subnets = if path.is_ipv4 == is_ipv4 {
                &path.subnets[..]
            } else {
                &[]
            };
            subnets.iter().any(|subnet| names(*subnet))
        };
        match self.code.affected_packets() {
            AffectedPackets::All => true,
            AffectedPackets::BetweenHosts => path.other_host.is_some_and(names),
            AffectedPackets::Public => path.is_public,
            AffectedPackets::PublicIpv4 => path.is_public && path.is_ipv4,
            AffectedPackets::PublicIpv6 => path.is_public && !path.is_ipv4,
            AffectedPackets::SubnetIpv4 => in_subnet(true),
            AffectedPackets::SubnetIpv6 => in_subnet(false),
            AffectedPackets::None => false,
        }
    }
}

/// The parts of a host that the packets of a path use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathUse {
    pub is_ipv4: bool,
    /// The other host, if the path crosses the underlay.
    pub other_host: Option<i64>,
    /// Whether the path leaves the VPC through this host.
    pub is_public: bool,
    /// The subnets of the instances on the path that this host serves.
    pub subnets: Vec<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_has_one_word() {
        for code in WarningCode::ALL {
            assert_eq!(WarningCode::parse(code.word()), code);
        }
        assert_eq!(WarningCode::parse("of a newer agent"), WarningCode::Other);
    }

    #[test]
    fn a_warning_affects_only_the_paths_that_need_its_part_of_the_host() {
        use WarningCode::*;
        let on_host = |is_ipv4| PathUse {
            is_ipv4,
            subnets: vec![10],
            ..PathUse::default()
        };
        let to_host_5 = PathUse {
            other_host: Some(5),
            ..on_host(true)
        };
        let public = |is_ipv4| PathUse {
            is_public: true,
            ..on_host(is_ipv4)
        };
        let paths = [
            on_host(true),
            on_host(false),
            to_host_5,
            public(true),
            public(false),
        ];
        let table = [
            (UnderlayAddressMissing, vec![], [0, 0, 1, 0, 0]),
            (UnderlayMtuSmall, vec![], [0, 0, 1, 0, 0]),
            (EncryptedTunnelFailed, vec![], [0, 0, 1, 0, 0]),
            (NoSessions, vec![], [0, 0, 1, 0, 0]),
            (NoSession, vec![5, 6], [0, 0, 1, 0, 0]),
            (NoSession, vec![6], [0, 0, 0, 0, 0]),
            (Ipv4ForwardingOff, vec![], [0, 0, 0, 1, 0]),
            (Ipv6ForwardingOff, vec![], [0, 0, 0, 0, 1]),
            (UplinkFailed, vec![], [0, 0, 0, 1, 1]),
            (DhcpFailed, vec![10], [1, 0, 1, 1, 0]),
            (DhcpFailed, vec![11], [0, 0, 0, 0, 0]),
            (RouterAdvertisementsFailed, vec![10], [0, 1, 0, 0, 1]),
            (RemovedPortHookFailed, vec![], [0, 0, 0, 0, 0]),
            (HostFilterFailed, vec![], [1, 1, 1, 1, 1]),
            (CredentialShared, vec![], [1, 1, 1, 1, 1]),
            (Other, vec![], [1, 1, 1, 1, 1]),
        ];
        for (code, ids, expected) in table {
            let warning = HostWarning {
                code,
                ids,
                text: String::new(),
            };
            let found = paths.each_ref().map(|path| i32::from(warning.affects(path)));
            assert_eq!(found, expected, "{warning:?}");
        }
    }
}
