//! Plans: the sizes of instances, which the API calls types.

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
    pub hourly: Price,
    pub monthly: Price,
    /// The prices in regions where they differ from `hourly` and `monthly`.
    pub region_prices: Vec<RegionPrice>,
    /// The plan that replaces this plan.
    pub successor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegionPrice {
    pub region: String,
    pub hourly: Price,
    pub monthly: Price,
}

/// An amount of money in hundredths of a cent. As an integer, it can be compared exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Price(pub i64);

impl Price {
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 10_000.0
    }
}

/// Regions of the public service with higher prices. The number is the price as a percentage of the usual
/// price.
const EXPENSIVE_REGIONS: [(&str, i64); 2] = [("br-gru", 140), ("id-cgk", 120)];

/// The default plans.
pub fn built_in() -> Vec<Plan> {
    let mut previous_generation = plan("g5-nanode-1", "Nanode 1GB G5", [1024, 20_480, 1, 1000, 1000], 5);
    previous_generation.successor = Some("g6-nanode-1".to_owned());
    vec![
        plan("g6-nanode-1", "Nanode 1GB", [1024, 25_600, 1, 1000, 1000], 5),
        plan("g6-standard-1", "Linode 2GB", [2048, 51_200, 1, 2000, 2000], 12),
        plan("g6-standard-2", "Linode 4GB", [4096, 81_920, 2, 4000, 4000], 24),
        plan("g6-standard-4", "Linode 8GB", [8192, 163_840, 4, 5000, 5000], 48),
        plan(
            "g6-standard-6",
            "Linode 16GB",
            [16_384, 327_680, 6, 8000, 6000],
            96,
        ),
        plan(
            "g6-dedicated-2",
            "Dedicated 4GB",
            [4096, 81_920, 2, 4000, 4000],
            36,
        ),
        plan(
            "g6-dedicated-4",
            "Dedicated 8GB",
            [8192, 163_840, 4, 5000, 5000],
            72,
        ),
        plan(
            "g6-dedicated-8",
            "Dedicated 16GB",
            [16_384, 327_680, 8, 6000, 6000],
            144,
        ),
        previous_generation,
    ]
}

/// A plan with its memory and disk in MiB, virtual CPUs, transfer in GiB, outbound bandwidth in Mbit/s, and
/// monthly price in dollars.
fn plan(id: &str, label: &str, [memory, disk, vcpus, transfer, network_out]: [i64; 5], dollars: i64) -> Plan {
    let region_prices = EXPENSIVE_REGIONS.map(|(region, percent)| RegionPrice {
        region: region.to_owned(),
        hourly: Price(dollars * HOURLY_PER_DOLLAR * percent / 100),
        monthly: Price(dollars * 100 * percent),
    });
    Plan {
        id: id.to_owned(),
        label: label.to_owned(),
        // The middle part of the ID.
        class: id.split('-').nth(1).unwrap_or_default().to_owned(),
        memory,
        disk,
        transfer,
        vcpus,
        gpus: 0,
        network_out,
        hourly: Price(dollars * HOURLY_PER_DOLLAR),
        monthly: Price(dollars * 10_000),
        region_prices: region_prices.to_vec(),
        successor: None,
    }
}

/// The hourly price in hundredths of a cent, for each dollar of the monthly price. A plan for 100 dollars a
/// month costs 15 cents an hour.
const HOURLY_PER_DOLLAR: i64 = 15;
