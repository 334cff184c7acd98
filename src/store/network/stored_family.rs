//! How the addresses of each family are stored, and the statements that differ between the families (decision 0029).

use crate::model::cidr::{Cidr6, Network};
use crate::model::family::{Bits, Family, V4, V6};
use crate::model::id::{SubnetId, VpcId};
use crate::store::error::StoreError;
use crate::store::value::{FromValue, Row, Value};

/// A family whose addresses are stored. A stored address sorts like the address, so that SQL can compare addresses.
/// SQL never computes with addresses of IPv6, because 128 bits do not fit into a number of SQL.
pub trait StoredFamily: Family {
    /// The statement that finds an address of another instance in a span: subnet, instance, first and last address.
    const TAKEN_BY_ANOTHER: &'static str;
    /// The condition for a VPC `v` that has addresses from `{first}` to `{last}`. Only subnets have IPv4
    /// addresses. Subnets of a VPC do not overlap each other, so the condition is about only one of them: the last of the
    /// subnets that begin before the end of the range.
    const VPC_HAS: &'static str;
    /// The statement for the spans of a subnet in use from a first to a last address, ordered by first address.
    const USED_SPANS: &'static str;

    fn to_value(address: Self::Bits) -> Value<'static>;
    fn from_value(value: &Value) -> Option<Self::Bits>;
    /// The free ranges of a subnet.
    fn subnet_space(subnet: SubnetId) -> Space<Self>;
}

/// The first and the last address of a range.
pub type Span<F> = (<F as Family>::Bits, <F as Family>::Bits);

/// An address space whose free ranges are stored.
pub struct Space<F: StoredFamily> {
    pub(super) statements: &'static Statements,
    pub(super) owner: i64,
    family: std::marker::PhantomData<F>,
}

/// The statements on a table of free ranges. The table has an owner, a first address and a last address.
pub(super) struct Statements {
    /// Owner, first and last address.
    pub insert: &'static str,
    /// Owner and first address.
    pub delete: &'static str,
    pub delete_all: &'static str,
    /// Owner, first and last address, and the lowest address of the family.
    pub overlapping: &'static str,
    /// The first range that ends at an address or after it: owner, address, and the lowest address of the family.
    pub next: &'static str,
    /// Like `next`, with up to 64 ranges.
    pub next_64: &'static str,
}

macro_rules! statements {
    ($table:literal, $owner:literal) => {
        &Statements {
            insert: concat!(
                "INSERT INTO ", $table, " (", $owner, ", first_address, last_address) VALUES ($1, $2, $3)"
            ),
            delete: concat!("DELETE FROM ", $table, " WHERE ", $owner, " = $1 AND first_address = $2"),
            delete_all: concat!("DELETE FROM ", $table, " WHERE ", $owner, " = $1"),
            overlapping: concat!(
                "SELECT first_address, last_address FROM ", $table, "
                 WHERE ", $owner, " = $1 AND first_address <= $3 AND last_address >= $2
                   AND first_address >= coalesce((SELECT max(first_address) FROM ", $table, "
                       WHERE ", $owner, " = $1 AND first_address <= $2), $4)
                 ORDER BY first_address"
            ),
            next: statements!(@next $table, $owner, "1"),
            next_64: statements!(@next $table, $owner, "64"),
        }
    };
    (@next $table:literal, $owner:literal, $limit:literal) => {
        concat!(
            "SELECT first_address, last_address FROM ", $table, "
             WHERE ", $owner, " = $1 AND last_address >= $2
               AND first_address >= coalesce((SELECT max(first_address) FROM ", $table, "
                   WHERE ", $owner, " = $1 AND first_address <= $2), $3)
             ORDER BY first_address LIMIT ", $limit
        )
    };
}

impl<F: StoredFamily> Space<F> {
    fn new(statements: &'static Statements, owner: i64) -> Self {
        Self {
            statements,
            owner,
            family: std::marker::PhantomData,
        }
    }
}

impl Space<V6> {
    /// The provider's pool, from which VPCs get their ranges.
    pub fn pool() -> Self {
        Self::new(statements!("pool_free_range6", "pool"), 1)
    }

    /// The range of a VPC, from which subnets get their ranges.
    pub fn vpc(vpc: VpcId) -> Self {
        Self::new(statements!("vpc_free_range6", "vpc"), vpc.0)
    }
}

/// A list for SQL: the first addresses of all networks from /31 to /8 that contain an IPv4 address. Ranges are networks
/// inside a subnet, so a range that contains the address begins at one of them, and an index finds it. A comparison of
/// first and last addresses would read all ranges that begin before the address.
macro_rules! enclosing_starts {
    ($address:literal) => {
        enclosing_starts!(@list $address, "-2" "-4" "-8" "-16" "-32" "-64" "-128" "-256" "-512" "-1024" "-2048" "-4096"
            "-8192" "-16384" "-32768" "-65536" "-131072" "-262144" "-524288" "-1048576" "-2097152" "-4194304" "-8388608"
            "-16777216")
    };
    (@list $address:literal, $($mask:literal)+) => {
        concat!("(", $address, $(", ", $address, " & ", $mask),+, ")")
    };
}
pub(in crate::store) use enclosing_starts;

impl StoredFamily for V4 {
    const TAKEN_BY_ANOTHER: &'static str = concat!(
        "SELECT 1 FROM interface WHERE subnet = $1 AND instance IS DISTINCT FROM $2 AND address BETWEEN $3 AND $4
         UNION ALL
         SELECT 1 FROM interface_range
         WHERE subnet = $1 AND instance IS DISTINCT FROM $2 AND first_address BETWEEN $3 AND $4
         UNION ALL
         SELECT 1 FROM interface_range
         WHERE subnet = $1 AND instance IS DISTINCT FROM $2 AND last_address >= $3
           AND first_address IN ",
        enclosing_starts!("CAST($3 AS BIGINT)"),
        " LIMIT 1"
    );
    const VPC_HAS: &'static str =
        "(SELECT s.last_address FROM subnet s WHERE s.vpc = v.id AND s.first_address <= {last}
            ORDER BY s.first_address DESC LIMIT 1) >= {first}";
    const USED_SPANS: &'static str = concat!(
        "SELECT address AS a, address FROM interface WHERE subnet = $1 AND address BETWEEN $2 AND $3
         UNION ALL
         SELECT first_address AS a, last_address FROM interface_range
         WHERE subnet = $1 AND first_address BETWEEN $2 AND $3
         UNION ALL
         SELECT first_address AS a, last_address FROM interface_range
         WHERE subnet = $1 AND last_address >= $2 AND first_address < $2 AND first_address IN ",
        enclosing_starts!("CAST($2 AS BIGINT)"),
        " ORDER BY a"
    );

    fn to_value(address: u32) -> Value<'static> {
        address.into()
    }

    fn from_value(value: &Value) -> Option<u32> {
        u32::from_value(value.borrowed())
    }

    fn subnet_space(subnet: SubnetId) -> Space<V4> {
        Space::new(statements!("free_range", "subnet"), subnet.0)
    }
}

/// All networks of interfaces have the same prefix length. A network that overlaps a requested one therefore begins in it.
impl StoredFamily for V6 {
    const TAKEN_BY_ANOTHER: &'static str = "SELECT 1 FROM interface_range6
         WHERE subnet = $1 AND instance IS DISTINCT FROM $2 AND first_address BETWEEN $3 AND $4
         LIMIT 1";
    const VPC_HAS: &'static str = "EXISTS (SELECT 1 FROM ipv6_prefix p
            WHERE p.vpc = v.id AND p.first_address <= {last} AND p.last_address >= {first})";
    const USED_SPANS: &'static str = "SELECT first_address, last_address FROM interface_range6
         WHERE subnet = $1 AND first_address BETWEEN $2 AND $3 ORDER BY first_address";

    /// 32 hexadecimal digits.
    fn to_value(address: u128) -> Value<'static> {
        format!("{address:032x}").into()
    }

    fn from_value(value: &Value) -> Option<u128> {
        let text = value.as_text().filter(|text| text.len() == 32)?;
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_hex = text.bytes().all(is_digit);
        is_hex.then(|| u128::from_str_radix(text, 16).ok()).flatten()
    }

    fn subnet_space(subnet: SubnetId) -> Space<V6> {
        Space::new(statements!("free_range6", "subnet"), subnet.0)
    }
}

/// A column with an address of a family.
pub struct Stored<F: StoredFamily>(pub F::Bits);

impl<F: StoredFamily> FromValue for Stored<F> {
    fn from_value(value: Value) -> Option<Self> {
        F::from_value(&value).map(Self)
    }
}

/// Reads a network from its first and last address.
pub fn read_network<F: StoredFamily>(row: &mut Row) -> Result<Network<F>, StoreError> {
    let (Stored(first), Stored(last)): (Stored<F>, Stored<F>) = (row.take()?, row.take()?);
    let unexpected = || StoreError::Unexpected(format!("{first:?} to {last:?} is not a network"));
    Network::spanning(first, last).ok_or_else(unexpected)
}

/// A stored IPv6 range: the first address, and the prefix length in three digits.
impl From<Cidr6> for Value<'_> {
    fn from(range: Cidr6) -> Self {
        format!("{:032x}/{:03}", range.first(), range.prefix()).into()
    }
}

impl FromValue for Cidr6 {
    fn from_value(value: Value) -> Option<Self> {
        let (address, prefix) = value.as_text()?.split_once('/')?;
        let address = <V6 as StoredFamily>::from_value(&Value::from(address))?;
        let range = Cidr6::around(address, prefix.parse().ok()?);
        (Value::from(range) == value).then_some(range)
    }
}

/// The lowest address of a family, as it is stored.
pub(super) fn lowest<F: StoredFamily>() -> Value<'static> {
    F::to_value(F::Bits::ZERO)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn stored_addresses_sort_like_addresses(a: u128, b: u128, shift in 0u32..128) {
            let (a, b) = (a >> shift, b >> shift);
            prop_assert_eq!(V6::to_value(a).cmp(&V6::to_value(b)), a.cmp(&b));
            prop_assert_eq!(<V6 as StoredFamily>::from_value(&V6::to_value(a)), Some(a));
        }
    }

    #[test]
    fn only_the_stored_form_is_an_address() {
        for text in [
            "",
            "0",
            "0000000000000000000000000000000G",
            "+000000000000000000000000000000f",
        ] {
            assert_eq!(
                <V6 as StoredFamily>::from_value(&Value::from(text)),
                None,
                "{text}"
            );
        }
        assert_eq!(<V6 as StoredFamily>::from_value(&Value::Int(0)), None);
    }
}
