//! The regions and plans that staff have added or changed.

use super::plan::Plan;
use super::region::Region;
use crate::model::cidr::Cidr6;
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason, Reasons};

/// The stored regions and plans. The parts that staff cannot change are not stored: the name servers and the limits of
/// placement groups of a region, and the successor and the prices of backups of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredCatalog {
    pub regions: Vec<Region>,
    pub plans: Vec<Plan>,
}

/// The ID of a new region or plan: 1 to 32 lowercase letters, digits, dashes and dots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CatalogId(String);

impl CatalogId {
    pub const MAX: usize = 32;
    /// Words that have another meaning in a URL at the place of an ID.
    const RESERVED: [&str; 3] = ["availability", "new", "vpc-availability"];

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let is_inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, b'-' | b'.');
        let is_outer = |c: Option<&u8>| c.is_some_and(u8::is_ascii_alphanumeric);
        let bytes = raw.as_bytes();
        let is_valid = bytes.len() <= Self::MAX
            && bytes.iter().copied().all(is_inner)
            && is_outer(bytes.first())
            && is_outer(bytes.last());
        if !is_valid {
            let text = format!(
                "Must be 1 to {} lowercase letters, digits, dashes and dots, with a letter or digit at both ends",
                Self::MAX
            );
            return Err(vec![Reason::new(Code::IdInvalid, text)]);
        }
        if Self::RESERVED.contains(&raw) {
            let text = format!("Must not be {}", Self::RESERVED.join(", "));
            return Err(vec![Reason::new(Code::IdInvalid, text)]);
        }
        Ok(Self(raw.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }
}

impl Policy {
    /// The policy with the stored regions and plans. They replace those with the same IDs, except for the parts that
    /// are not stored. The others are appended.
    pub fn with_stored(&self, stored: &StoredCatalog) -> Self {
        let mut policy = self.clone();
        let pool = policy.ipv6.pool.map(Cidr6::prefix);
        for stored in &stored.regions {
            let mut region = stored.clone();
            region.limit_to_pool(pool);
            match policy.regions.iter_mut().find(|known| known.id == stored.id) {
                None => policy.regions.push(region),
                Some(known) => {
                    region.resolvers_ipv4.clone_from(&known.resolvers_ipv4);
                    region.resolvers_ipv6.clone_from(&known.resolvers_ipv6);
                    region.placement_group_limits = known.placement_group_limits;
                    *known = region;
                }
            }
        }
        for stored in &stored.plans {
            let mut plan = stored.clone();
            match policy.plans.iter_mut().find(|known| known.id == stored.id) {
                None => policy.plans.push(plan),
                Some(known) => {
                    plan.successor.clone_from(&known.successor);
                    plan.backup_prices.clone_from(&known.backup_prices);
                    *known = plan;
                }
            }
        }
        policy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_short_lowercase_and_not_a_word_of_a_path() {
        for valid in ["eu-north", "g1-small", "a", "zone.1", &"a".repeat(32)] {
            assert_eq!(CatalogId::parse(valid).unwrap().as_str(), valid);
        }
        for invalid in [
            "",
            "EU",
            "a b",
            "-a",
            "a-",
            "a/b",
            ".",
            "é",
            "new",
            "availability",
            &"a".repeat(33),
        ] {
            let reasons = CatalogId::parse(invalid).unwrap_err();
            assert_eq!(reasons[0].code, Code::IdInvalid, "{invalid}");
        }
    }
}
