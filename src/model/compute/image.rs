//! Images, from which the disks of instances are created.

use crate::model::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    pub id: String,
    pub label: String,
    pub vendor: String,
    pub size: i64,
    pub created: Time,
    /// The end of support by the vendor; `None` for a rolling release.
    pub eol: Option<Time>,
}

impl Image {
    /// Only the provider creates images, so all images have these values.
    pub const TYPE: &str = "manual";
    pub const STATUS: &str = "available";
    pub const CREATED_BY: &str = "linode";
}

/// An image with its ID, label, vendor, size in MB, day of creation and last day of support.
type BuiltIn = (
    &'static str,
    &'static str,
    &'static str,
    i64,
    &'static str,
    &'static str,
);

/// The default images. Arch Linux has no end of support.
const BUILT_IN: [BuiltIn; 11] = [
    (
        "alpine3.19",
        "Alpine 3.19",
        "Alpine",
        300,
        "2024-01-04",
        "2025-11-01",
    ),
    (
        "alpine3.20",
        "Alpine 3.20",
        "Alpine",
        300,
        "2024-05-28",
        "2026-04-01",
    ),
    (
        "alpine3.21",
        "Alpine 3.21",
        "Alpine",
        300,
        "2024-12-05",
        "2026-11-01",
    ),
    (
        "alpine3.22",
        "Alpine 3.22",
        "Alpine",
        300,
        "2025-06-02",
        "2027-05-01",
    ),
    (
        "alpine3.23",
        "Alpine 3.23",
        "Alpine",
        300,
        "2025-12-08",
        "2027-11-01",
    ),
    ("arch", "Arch Linux", "Arch", 3000, "2016-06-13", ""),
    (
        "debian11",
        "Debian 11",
        "Debian",
        1500,
        "2021-08-14",
        "2026-08-31",
    ),
    (
        "debian12",
        "Debian 12",
        "Debian",
        1500,
        "2023-06-12",
        "2028-06-30",
    ),
    (
        "debian13",
        "Debian 13",
        "Debian",
        1500,
        "2025-08-14",
        "2030-06-30",
    ),
    (
        "ubuntu22.04",
        "Ubuntu 22.04 LTS",
        "Ubuntu",
        3500,
        "2022-04-21",
        "2027-04-01",
    ),
    (
        "ubuntu24.04",
        "Ubuntu 24.04 LTS",
        "Ubuntu",
        3500,
        "2024-04-25",
        "2029-05-31",
    ),
];

pub fn built_in() -> Vec<Image> {
    let day = |day: &str| Time::parse(&format!("{day}T00:00:00"));
    let image = |(id, label, vendor, size, created, eol): BuiltIn| Image {
        id: format!("linode/{id}"),
        label: label.to_owned(),
        vendor: vendor.to_owned(),
        size,
        created: day(created).expect("the built-in dates are valid"),
        eol: day(eol),
    };
    BUILT_IN.into_iter().map(image).collect()
}
