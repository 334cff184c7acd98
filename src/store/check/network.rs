//! Invariants of subnets, addresses and free ranges.

use super::free_space::{check_spaces, read_spans};
use super::invariant::{Findings, Invariant};
use crate::model::cidr::Cidr;
use crate::model::family::V4;
use crate::store::error::StoreError;
use crate::store::tx::ReadTx;
use crate::store::value::args;

pub const INVARIANTS: &[Invariant] = &[
    Invariant::query(
        "subnets of a VPC do not overlap",
        "SELECT 'subnet ' || id, 'overlaps another subnet of VPC ' || vpc FROM (
             SELECT id, vpc, first_address, max(last_address) OVER (PARTITION BY vpc ORDER BY first_address, id
                 ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS last_before FROM subnet) AS ordered
         WHERE first_address <= last_before ORDER BY id",
    ),
    Invariant::function("stored first and last addresses match the range", check_ranges),
    Invariant::query(
        "VPC interfaces have an address and a subnet of the same VPC",
        "SELECT 'interface ' || f.id, CASE
                 WHEN f.subnet IS NULL OR f.vpc IS NULL OR f.address IS NULL THEN 'has no VPC, subnet or address'
                 ELSE 'has subnet ' || f.subnet || ', which is not in VPC ' || f.vpc END
         FROM interface f LEFT JOIN subnet s ON s.id = f.subnet
         WHERE f.purpose = 'vpc' AND (f.subnet IS NULL OR f.vpc IS NULL OR f.address IS NULL OR s.vpc <> f.vpc)
         ORDER BY f.id",
    ),
    Invariant::query(
        "addresses are usable addresses of their subnet",
        "SELECT 'interface ' || f.id, 'has an address that is not usable in subnet ' || s.id
         FROM interface f JOIN subnet s ON s.id = f.subnet
         WHERE f.address < s.first_address + 2 OR f.address > s.last_address - 2 ORDER BY f.id",
    ),
    Invariant::query(
        "routed ranges are inside their subnet",
        "SELECT 'interface ' || r.interface, 'has the range ' || r.ipv4 || ', which is not inside subnet ' || s.id
         FROM interface_range r JOIN subnet s ON s.id = r.subnet
         WHERE r.first_address < s.first_address OR r.last_address > s.last_address ORDER BY r.interface, r.place",
    ),
    Invariant::function("an address either belongs to one instance or is free", check_assignments),
];

/// Compares the stored first and last addresses of subnets and routed ranges with their CIDR ranges.
fn check_ranges(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let sql = "SELECT 'subnet ' || id, ipv4, first_address, last_address FROM subnet
        UNION ALL SELECT 'interface ' || interface, ipv4, first_address, last_address FROM interface_range";
    tx.for_each(sql, args![], |row| {
        let (object, text): (String, String) = (row.take()?, row.take()?);
        let (first, last): (i64, i64) = (row.take()?, row.take()?);
        let is_same = |cidr: Cidr| (i64::from(cidr.first()), i64::from(cidr.last())) == (first, last);
        match Cidr::parse(&text) {
            Ok(cidr) if is_same(cidr) => {}
            Ok(_) => findings.add(
                object,
                format!("first and last address do not match the range {text}"),
            ),
            Err(_) => findings.add(object, format!("has the range {text}, which is not a network")),
        }
        Ok(())
    })
}

/// Compares the stored free ranges of each subnet with the gaps between the addresses in use.
fn check_assignments(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let spaces = "SELECT id, first_address + 2, last_address - 2, 0 FROM subnet ORDER BY id";
    let used = "SELECT subnet, first, last, instance FROM (
            SELECT subnet, address AS first, address AS last, instance FROM interface WHERE address IS NOT NULL
            UNION ALL SELECT subnet, first_address, last_address, instance FROM interface_range) AS used
        ORDER BY subnet, first, last";
    let free = "SELECT subnet, first_address, last_address, 0 FROM free_range ORDER BY subnet, first_address";
    let spaces = read_spans::<V4>(tx, spaces)?;
    check_spaces(tx, ("subnet", "instances"), &spaces, (used, free), findings)
}
