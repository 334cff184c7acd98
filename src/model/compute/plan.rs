//! Plans: the sizes an instance can have. On the wire they are called types.

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
}

/// Money, in hundredths of a cent so that it can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Price(pub i64);

impl Price {
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 10_000.0
    }
}

/// The plans a provider has who names none.
pub fn built_in() -> Vec<Plan> {
    let plan = |id: &str, label: &str, class: &str, memory, disk, vcpus, transfer, hourly, monthly| Plan {
        id: id.to_owned(),
        label: label.to_owned(),
        class: class.to_owned(),
        memory,
        disk,
        transfer,
        vcpus,
        gpus: 0,
        network_out: 1000 * vcpus,
        hourly: Price(hourly),
        monthly: Price(monthly),
    };
    vec![
        plan(
            "g6-nanode-1",
            "Nanode 1GB",
            "nanode",
            1024,
            25600,
            1,
            1000,
            75,
            50_000,
        ),
        plan(
            "g6-standard-1",
            "Linode 2GB",
            "standard",
            2048,
            51200,
            1,
            2000,
            180,
            120_000,
        ),
        plan(
            "g6-standard-2",
            "Linode 4GB",
            "standard",
            4096,
            81920,
            2,
            4000,
            360,
            240_000,
        ),
        plan(
            "g6-standard-4",
            "Linode 8GB",
            "standard",
            8192,
            163_840,
            4,
            5000,
            720,
            480_000,
        ),
        plan(
            "g6-standard-6",
            "Linode 16GB",
            "standard",
            16384,
            327_680,
            6,
            8000,
            1440,
            960_000,
        ),
        plan(
            "g6-dedicated-2",
            "Dedicated 4GB",
            "dedicated",
            4096,
            81920,
            2,
            4000,
            540,
            360_000,
        ),
    ]
}
