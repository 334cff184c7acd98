//! Images, from which the disks of instances are created.

use crate::model::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    pub id: String,
    pub label: String,
    pub vendor: String,
    pub size: i64,
    pub created: Time,
}

impl Image {
    /// The provider's images are the only ones, so these values are the same for all.
    pub const TYPE: &str = "manual";
    pub const STATUS: &str = "available";
    pub const CREATED_BY: &str = "linode";
}

/// The default images.
pub fn built_in() -> Vec<Image> {
    let image = |id: &str, label: &str, vendor: &str, size, created: &str| Image {
        id: format!("linode/{id}"),
        label: label.to_owned(),
        vendor: vendor.to_owned(),
        size,
        created: Time::parse(created).expect("the built-in times are well written"),
    };
    vec![
        image("alpine3.19", "Alpine 3.19", "Alpine", 300, "2024-01-04T15:27:18"),
        image("alpine3.20", "Alpine 3.20", "Alpine", 300, "2024-05-28T17:05:33"),
        image("debian11", "Debian 11", "Debian", 1500, "2021-08-14T22:44:02"),
        image("debian12", "Debian 12", "Debian", 1500, "2023-06-12T11:54:59"),
        image(
            "ubuntu22.04",
            "Ubuntu 22.04 LTS",
            "Ubuntu",
            3500,
            "2022-04-21T20:11:48",
        ),
        image(
            "ubuntu24.04",
            "Ubuntu 24.04 LTS",
            "Ubuntu",
            3500,
            "2024-04-25T13:09:27",
        ),
    ]
}
