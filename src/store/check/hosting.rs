//! Invariants of hosts, placements and ports.

use super::invariant::Invariant;

pub const INVARIANTS: &[Invariant] = &[
    Invariant::query(
        "instances are on hosts of their region",
        "SELECT 'instance ' || i.id, 'is in region ' || i.region || ', but its host is in region ' || h.region
         FROM placement l JOIN instance i ON i.id = l.instance JOIN host h ON h.id = l.host
         WHERE i.region <> h.region ORDER BY i.id",
    ),
    Invariant::query(
        "only instances that run or boot are on a host",
        "SELECT 'instance ' || i.id, 'is on host ' || l.host || ', but its status is ' || i.status
         FROM placement l JOIN instance i ON i.id = l.instance
         WHERE i.status NOT IN ('running', 'booting', 'rebooting') ORDER BY i.id",
    ),
    Invariant::query(
        "ports are on the host of their instance",
        "SELECT 'interface ' || p.interface, 'has a port on host ' || p.host || ', but its instance is not there'
         FROM port p WHERE NOT EXISTS
             (SELECT 1 FROM placement l WHERE l.instance = p.instance AND l.host = p.host)
         ORDER BY p.interface",
    ),
    Invariant::query(
        "ports belong to the instance and the VPC of their interface",
        "SELECT 'interface ' || f.id, 'has a port of another instance or VPC'
         FROM port p JOIN interface f ON f.id = p.interface
         WHERE p.instance <> f.instance OR p.vpc IS DISTINCT FROM f.vpc ORDER BY f.id",
    ),
    Invariant::query(
        "active VPC interfaces of instances on hosts have ports",
        "SELECT 'interface ' || f.id, 'is active on host ' || l.host || ', but has no port'
         FROM interface f JOIN placement l ON l.instance = f.instance
         WHERE f.active = 1 AND f.vpc IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM port p WHERE p.interface = f.id)
         ORDER BY f.id",
    ),
    Invariant::query(
        "hosts have a revision for each VPC with ports, and no other",
        "SELECT 'host ' || p.host, 'has ports in VPC ' || p.vpc || ', but no revision of it'
         FROM (SELECT DISTINCT host, vpc FROM port) p WHERE NOT EXISTS
             (SELECT 1 FROM host_vpc v WHERE v.host = p.host AND v.vpc = p.vpc)
         UNION ALL
         SELECT 'host ' || v.host, 'has a revision of VPC ' || v.vpc || ', but no ports in it'
         FROM host_vpc v WHERE NOT EXISTS (SELECT 1 FROM port p WHERE p.host = v.host AND p.vpc = v.vpc)",
    ),
    Invariant::query(
        "the revision of a host is not behind its VPCs and ports",
        "SELECT 'host ' || h.id, 'has a VPC or a port with a later revision, or no revision'
         FROM host h LEFT JOIN host_revision r ON r.host = h.id
         WHERE r.revision IS NULL
             OR EXISTS (SELECT 1 FROM host_vpc v WHERE v.host = h.id AND v.revision > r.revision)
             OR EXISTS (SELECT 1 FROM port p WHERE p.host = h.id AND p.revision > r.revision)
         ORDER BY h.id",
    ),
    Invariant::query(
        "every subnet of a VPC with ports has a tunnel",
        "SELECT 'subnet ' || s.id, 'has no tunnel, but its VPC has ports' FROM subnet s
         WHERE EXISTS (SELECT 1 FROM port p WHERE p.vpc = s.vpc)
             AND NOT EXISTS (SELECT 1 FROM tunnel t WHERE t.subnet = s.id)
         ORDER BY s.id",
    ),
    Invariant::query(
        "the traffic of instances is not negative",
        "SELECT 'instance ' || t.instance, 'has negative traffic in month ' || t.month FROM instance_traffic t
         WHERE t.received_bytes < 0 OR t.received_packets < 0 OR t.sent_bytes < 0 OR t.sent_packets < 0
             OR t.dropped_packets < 0
         ORDER BY t.instance",
    ),
    Invariant::query(
        "hosts have keys only of the generations of their region",
        "SELECT 'host ' || k.host, 'has a key of generation ' || k.generation || ', which its region does not use'
         FROM host_key k JOIN host h ON h.id = k.host WHERE NOT EXISTS
             (SELECT 1 FROM region_encryption e WHERE e.region = h.region AND e.is_enabled = 1
                 AND k.generation BETWEEN e.oldest_generation AND e.generation)
         ORDER BY k.host, k.generation",
    ),
    Invariant::query(
        "secrets of hosts are stored as hashes",
        "SELECT 'host ' || s.host, 'has a secret that is not a hash'
         FROM (SELECT host, hash FROM host_credential UNION ALL SELECT host, hash FROM host_join_token) s
         WHERE length(s.hash) <> 64 ORDER BY s.host",
    ),
];
