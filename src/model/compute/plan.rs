//! Plans: the sizes of instances, which the API calls types.

use super::catalog;

#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Plan {
    pub id: String,
    pub label: String,
    pub class: String,
    pub memory: i64,
    pub disk: i64,
    pub transfer: i64,
    pub vcpus: i64,
    pub gpus: i64,
    pub network_out: i64,
    pub prices: PriceList,
    /// The prices of backups. Garth makes no backups, but clients show these prices.
    pub backup_prices: PriceList,
    /// The plan that replaces this plan.
    pub successor: Option<String>,
    /// Instances keep a retired plan, but it cannot be chosen.
    pub retired: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PriceList {
    pub hourly: Price,
    pub monthly: Price,
    /// The prices in regions where they differ from `hourly` and `monthly`.
    pub regions: Vec<RegionPrice>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegionPrice {
    pub region: String,
    pub hourly: Price,
    pub monthly: Price,
}

/// An amount of money in hundredths of a cent. As an integer, it can be compared exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Price(pub i64);

impl Price {
    pub const ZERO: Self = Self(0);

    /// An amount in dollars. It is rounded to hundredths of a cent.
    pub fn from_dollars(dollars: f64) -> Self {
        Self((dollars * 10_000.0).round() as i64)
    }

    pub fn dollars(self) -> f64 {
        self.0 as f64 / 10_000.0
    }
}

impl PriceList {
    /// The prices of something free, for the same regions as another list.
    pub fn free_like(other: &Self) -> Self {
        let free = |price: &RegionPrice| RegionPrice {
            region: price.region.clone(),
            hourly: Price::ZERO,
            monthly: Price::ZERO,
        };
        Self {
            hourly: Price::ZERO,
            monthly: Price::ZERO,
            regions: other.regions.iter().map(free).collect(),
        }
    }
}

impl Plan {
    /// The classes of the public service.
    pub const CLASSES: [&str; 7] = [
        "nanode",
        "standard",
        "dedicated",
        "premium",
        "highmem",
        "gpu",
        "accelerated",
    ];
}

/// The default plans.
pub fn built_in() -> Vec<Plan> {
    catalog::rows(include_str!("catalog/plans.txt"))
        .map(plan)
        .collect()
}

/// The regions of the public service with other prices, in the order of the columns of the table.
const REGIONS_WITH_OTHER_PRICES: [&str; 2] = ["id-cgk", "br-gru"];

fn plan(row: [&'static str; 14]) -> Plan {
    let [
        id,
        label,
        sizes @ ..,
        price,
        jakarta,
        sao_paulo,
        backup,
        backup_jakarta,
        backup_sao_paulo,
    ] = row;
    let [memory, disk, vcpus, transfer, network_out, gpus] = sizes.map(catalog::number);
    Plan {
        id: id.to_owned(),
        label: label.to_owned(),
        // The middle part of the ID.
        class: id.split('-').nth(1).unwrap_or_default().to_owned(),
        memory,
        disk,
        transfer,
        vcpus,
        gpus,
        network_out,
        prices: price_list(price, [jakarta, sao_paulo]),
        backup_prices: price_list(backup, [backup_jakarta, backup_sao_paulo]),
        successor: None,
        retired: false,
    }
}

fn price_list(price: &str, in_regions: [&'static str; 2]) -> PriceList {
    let (hourly, monthly) = prices(price);
    let in_region = |(region, price): (&str, &'static str)| {
        let (hourly, monthly) = prices(catalog::optional(price)?);
        Some(RegionPrice {
            region: region.to_owned(),
            hourly,
            monthly,
        })
    };
    let regions = REGIONS_WITH_OTHER_PRICES.into_iter().zip(in_regions);
    PriceList {
        hourly,
        monthly,
        regions: regions.filter_map(in_region).collect(),
    }
}

/// The hourly and the monthly price in a column such as `0.0075/5`.
fn prices(column: &str) -> (Price, Price) {
    let dollars = |text: &str| text.parse().ok().map(Price::from_dollars);
    let (hourly, monthly) = column.split_once('/').unwrap_or_default();
    dollars(hourly)
        .zip(dollars(monthly))
        .expect("the prices of a built-in table are valid")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn built_in_plans_have_unique_ids_and_prices_that_grow_with_the_size() {
        let plans = built_in();
        assert_eq!(plans.len(), 37);
        let ids: HashSet<_> = plans.iter().map(|plan| &plan.id).collect();
        assert_eq!(ids.len(), plans.len());
        for pair in plans.windows(2).filter(|pair| pair[0].class == pair[1].class) {
            let [smaller, larger] = pair else { unreachable!() };
            let sizes = |plan: &Plan| (plan.memory, plan.prices.hourly, plan.prices.monthly);
            assert!(sizes(smaller) < sizes(larger), "{}", larger.id);
            assert!(smaller.prices.monthly < larger.prices.monthly, "{}", larger.id);
            assert!(smaller.disk < larger.disk, "{}", larger.id);
            assert!(smaller.vcpus <= larger.vcpus, "{}", larger.id);
        }
    }

    #[test]
    fn regional_prices_of_built_in_plans_are_higher_than_the_usual_price() {
        for plan in built_in() {
            for list in [&plan.prices, &plan.backup_prices] {
                // A month has at most 744 hours, and the monthly price is the maximum.
                assert!(list.monthly.0 > 600 * list.hourly.0, "{}", plan.id);
                let regions: Vec<_> = list.regions.iter().map(|price| price.region.as_str()).collect();
                match plan.class.as_str() {
                    "gpu" => assert!(regions.is_empty(), "{}", plan.id),
                    _ => assert_eq!(regions, REGIONS_WITH_OTHER_PRICES, "{}", plan.id),
                }
                let mut previous = (list.hourly, list.monthly);
                for price in &list.regions {
                    assert!(
                        previous.0 < price.hourly && previous.1 < price.monthly,
                        "{}",
                        plan.id
                    );
                    previous = (price.hourly, price.monthly);
                }
            }
        }
    }
}
