//! Images, from which the disks of instances are created.

use super::catalog;
use crate::model::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Image {
    pub id: String,
    pub label: String,
    pub vendor: String,
    pub size: i64,
    pub state: ImageState,
    /// What the image supports, such as `cloud-init`.
    pub capabilities: Vec<String>,
    pub created: Time,
    /// The end of support by the vendor; `None` for a rolling release.
    pub eol: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageState {
    Current,
    Deprecated,
    /// Deprecated and not in lists. It can be viewed and deployed, so that older scripts work.
    Withdrawn,
}

impl Image {
    /// Only the provider creates images, so all images have these values.
    pub const TYPE: &str = "manual";
    pub const STATUS: &str = "available";
    pub const CREATED_BY: &str = "linode";

    pub fn is_deprecated(&self) -> bool {
        self.state != ImageState::Current
    }

    pub fn is_listed(&self) -> bool {
        self.state != ImageState::Withdrawn
    }
}

/// The default images.
pub fn built_in() -> Vec<Image> {
    catalog::rows(include_str!("catalog/images.txt"))
        .map(image)
        .collect()
}

fn image([id, label, vendor, size, state, capabilities, created, eol]: [&'static str; 8]) -> Image {
    let time = |text: &str| Time::parse(text).expect("the times of a built-in table are valid");
    let capabilities = catalog::optional(capabilities).unwrap_or_default();
    Image {
        id: format!("linode/{id}"),
        label: label.to_owned(),
        vendor: vendor.to_owned(),
        size: catalog::number(size),
        state: match state {
            "deprecated" => ImageState::Deprecated,
            "withdrawn" => ImageState::Withdrawn,
            _ => ImageState::Current,
        },
        capabilities: capabilities.split_whitespace().map(str::to_owned).collect(),
        created: time(created),
        eol: catalog::optional(eol).map(time),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn built_in_images_have_unique_ids_and_valid_columns() {
        let images = built_in();
        let count = |state| images.iter().filter(|image| image.state == state).count();
        let states = [ImageState::Current, ImageState::Deprecated, ImageState::Withdrawn];
        assert_eq!(states.map(count), [28, 6, 2]);
        let ids: HashSet<_> = images.iter().map(|image| &image.id).collect();
        assert_eq!(ids.len(), images.len());
        for image in &images {
            assert!(image.eol.is_none_or(|eol| eol > image.created), "{}", image.id);
            assert!((400..=11_600).contains(&image.size), "{}", image.id);
            let known = ["cloud-init", "distributed-sites"];
            let mut capabilities = image.capabilities.iter();
            assert!(
                capabilities.all(|name| known.contains(&name.as_str())),
                "{}",
                image.id
            );
        }
    }

    #[test]
    fn the_table_of_images_has_only_known_states() {
        let states: HashSet<_> = catalog::rows::<8>(include_str!("catalog/images.txt"))
            .map(|row| row[4])
            .collect();
        assert_eq!(states, HashSet::from(["current", "deprecated", "withdrawn"]));
    }
}
