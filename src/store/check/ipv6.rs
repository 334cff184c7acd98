//! Invariants of the IPv6 ranges of VPCs, subnets and interfaces (decision 0029).

use super::free_space::{Span, check_spaces, compare_spaces, read_spans};
use super::invariant::{Findings, Invariant};
use crate::model::cidr::Cidr6;
use crate::model::family::V6;
use crate::store::error::StoreError;
use crate::store::stored_family::read_network;
use crate::store::tx::ReadTx;
use crate::store::value::{FromValue, Value, args};

pub const INVARIANTS: &[Invariant] = &[
    Invariant::query(
        "IPv6 ranges of VPCs do not overlap",
        "SELECT 'range ' || first_address, 'overlaps another range' FROM (
             SELECT first_address, max(last_address) OVER (ORDER BY first_address
                 ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_before FROM ipv6_prefix) AS ordered
         WHERE first_address <= last_before ORDER BY first_address",
    ),
    Invariant::function("VPCs have the IPv6 ranges that are reserved for them", check_prefixes),
    Invariant::query(
        "an IPv6 range either has a VPC of its account or a time of release",
        "SELECT 'range ' || p.first_address, 'has a VPC of another account, or a VPC and a time of release, or neither'
         FROM ipv6_prefix p LEFT JOIN vpc v ON v.id = p.vpc
         WHERE (p.vpc IS NULL) = (p.released IS NULL) OR v.account <> p.account ORDER BY p.first_address",
    ),
    Invariant::function("IPv6 ranges of subnets are inside the range of their VPC", check_subnets),
    Invariant::function("IPv6 networks of interfaces are usable /64s of their subnet", check_networks),
    Invariant::query(
        "IPv6 networks belong to the subnet and the instance of their interface",
        "SELECT 'interface ' || r.interface, 'has an IPv6 network of another subnet or instance, or no IPv6 settings'
         FROM interface_range6 r JOIN interface f ON f.id = r.interface
         WHERE f.subnet IS DISTINCT FROM r.subnet OR f.instance <> r.instance OR f.ipv6_is_public IS NULL
         ORDER BY r.interface",
    ),
    Invariant::query(
        "VPC interfaces have IPv6 settings exactly if their subnet has an IPv6 range",
        "SELECT 'interface ' || f.id, 'has IPv6 settings without an IPv6 range, or a range without settings'
         FROM interface f LEFT JOIN subnet s ON s.id = f.subnet
         WHERE (f.ipv6_is_public IS NULL) <> (s.ipv6 IS NULL) ORDER BY f.id",
    ),
    Invariant::function("an IPv6 range of the pool either has a VPC or is free", check_pool),
    Invariant::function("an IPv6 range of a VPC either has a subnet or is free", check_vpc_space),
    Invariant::function("an IPv6 network of a subnet either has an instance or is free", check_subnet_space),
];

/// Compares the ranges of VPCs with the reserved ranges.
fn check_prefixes(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let sql = "SELECT v.id, v.ipv6, p.first_address, p.last_address FROM vpc v
        LEFT JOIN ipv6_prefix p ON p.vpc = v.id WHERE v.ipv6 IS NOT NULL OR p.vpc IS NOT NULL ORDER BY v.id";
    tx.for_each(sql, args![], |row| {
        let (vpc, range): (i64, Option<String>) = (row.take()?, row.take()?);
        let range = range.and_then(|range| Cidr6::from_value(Value::from(range)));
        let reserved: Option<Cidr6> = read_network(row).ok();
        if range.is_none() || range != reserved {
            let text = |range: Option<Cidr6>| range.map_or("none".to_owned(), |range| range.to_string());
            let problem = format!(
                "has the IPv6 range {}, but the reserved range is {}",
                text(range),
                text(reserved)
            );
            findings.add(format!("vpc {vpc}"), problem);
        }
        Ok(())
    })
}

fn check_subnets(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let sql = "SELECT s.id, s.ipv6, v.ipv6 FROM subnet s JOIN vpc v ON v.id = s.vpc
        WHERE s.ipv6 IS NOT NULL ORDER BY s.id";
    tx.for_each(sql, args![], |row| {
        let subnet: i64 = row.take()?;
        let (range, vpc): (Option<Cidr6>, Option<Cidr6>) = (row.take().ok(), row.take().ok());
        let is_inside = range.zip(vpc).is_some_and(|(range, vpc)| vpc.contains(range));
        if !is_inside {
            findings.add(
                format!("subnet {subnet}"),
                "has an IPv6 range that is not inside the range of its VPC",
            );
        }
        Ok(())
    })
}

fn check_networks(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let sql = "SELECT r.interface, s.ipv6, r.first_address, r.last_address FROM interface_range6 r
        LEFT JOIN subnet s ON s.id = r.subnet ORDER BY r.interface, r.place";
    tx.for_each(sql, args![], |row| {
        let interface: i64 = row.take()?;
        let subnet: Option<Cidr6> = row.take().ok();
        let network: Option<Cidr6> = read_network(row).ok();
        let is_usable = |(network, subnet): (Cidr6, Cidr6)| {
            let usable = subnet.assignable();
            network.prefix() == 64 && usable.contains(&network.first()) && usable.contains(&network.last())
        };
        if !network.zip(subnet).is_some_and(is_usable) {
            let problem = "has an IPv6 network that is not a usable /64 of its subnet";
            findings.add(format!("interface {interface}"), problem);
        }
        Ok(())
    })
}

/// The address spaces of the ranges that a query returns: the owner and the range. `usable` returns the first and the
/// last usable address.
fn spaces_of(
    tx: &mut ReadTx,
    sql: &str,
    usable: impl Fn(Cidr6) -> (u128, u128),
) -> Result<Vec<Span<V6>>, StoreError> {
    let mut spaces = Vec::new();
    tx.for_each(sql, args![], |row| {
        let (owner, range) = (row.take()?, row.take::<Cidr6>());
        if let Ok(range) = range {
            let (first, last) = usable(range);
            spaces.push(Span {
                owner,
                first,
                last,
                holder: 0,
            });
        }
        Ok(())
    })?;
    Ok(spaces)
}

fn whole(range: Cidr6) -> (u128, u128) {
    (range.first(), range.last())
}

/// Ranges outside of the current pool are not part of it: the provider can change the pool.
fn check_pool(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let spaces = spaces_of(tx, "SELECT id, ipv6 FROM ipv6_pool ORDER BY id", whole)?;
    let Some(pool) = spaces.first() else { return Ok(()) };
    let used =
        "SELECT 1, first_address, last_address, COALESCE(vpc, 0) FROM ipv6_prefix ORDER BY first_address";
    let mut used: Vec<Span<V6>> = read_spans(tx, used)?;
    used.retain(|span| span.first <= pool.last && span.last >= pool.first);
    for span in &mut used {
        (span.first, span.last) = (span.first.max(pool.first), span.last.min(pool.last));
    }
    let free =
        "SELECT pool, first_address, last_address, 0 FROM pool_free_range6 ORDER BY pool, first_address";
    let free = read_spans(tx, free)?;
    compare_spaces(("pool", "VPCs"), &spaces, (used, free), findings);
    Ok(())
}

fn check_vpc_space(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let spaces = spaces_of(
        tx,
        "SELECT id, ipv6 FROM vpc WHERE ipv6 IS NOT NULL ORDER BY id",
        whole,
    )?;
    let mut used = Vec::new();
    let sql = "SELECT vpc, ipv6, id FROM subnet WHERE ipv6 IS NOT NULL ORDER BY vpc, ipv6";
    tx.for_each(sql, args![], |row| {
        let (owner, range, holder) = (row.take()?, row.take::<Cidr6>(), row.take()?);
        used.extend(range.ok().map(|range| Span {
            owner,
            first: range.first(),
            last: range.last(),
            holder,
        }));
        Ok(())
    })?;
    let free = "SELECT vpc, first_address, last_address, 0 FROM vpc_free_range6 ORDER BY vpc, first_address";
    let free = read_spans(tx, free)?;
    compare_spaces(("vpc", "subnets"), &spaces, (used, free), findings);
    Ok(())
}

fn check_subnet_space(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let assignable = |range: Cidr6| range.assignable().into_inner();
    let spaces = spaces_of(
        tx,
        "SELECT id, ipv6 FROM subnet WHERE ipv6 IS NOT NULL ORDER BY id",
        assignable,
    )?;
    let used = "SELECT subnet, first_address, last_address, instance FROM interface_range6
        ORDER BY subnet, first_address, last_address";
    let free =
        "SELECT subnet, first_address, last_address, 0 FROM free_range6 ORDER BY subnet, first_address";
    check_spaces(tx, ("subnet", "instances"), &spaces, (used, free), findings)
}
