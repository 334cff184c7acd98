//! JSON views of images.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::image::Image;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::web::answer;

#[derive(Serialize)]
struct ImageView<'a> {
    id: &'a str,
    label: &'a str,
    deprecated: bool,
    size: i64,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::time")]
    updated: Time,
    description: &'a str,
    created_by: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    tags: [&'a str; 0],
    is_public: bool,
    is_shared: bool,
    vendor: &'a str,
    expiry: Option<()>,
    #[serde(serialize_with = "answer::optional_time")]
    eol: Option<Time>,
    /// The regions to which a user has copied the image. Public images are in all regions.
    regions: Option<()>,
    status: &'a str,
    capabilities: &'a [String],
    image_sharing: Option<()>,
}

impl<'a> ImageView<'a> {
    fn new(image: &'a Image) -> Self {
        Self {
            id: &image.id,
            label: &image.label,
            deprecated: image.is_deprecated(),
            size: image.size,
            created: image.created,
            updated: image.created,
            description: "",
            created_by: Image::CREATED_BY,
            kind: Image::TYPE,
            tags: [],
            is_public: true,
            is_shared: false,
            vendor: &image.vendor,
            expiry: None,
            eol: image.eol,
            regions: None,
            status: Image::STATUS,
            capabilities: &image.capabilities,
            image_sharing: None,
        }
    }
}

pub fn one(image: &Image, _: &ViewContext) -> Response {
    answer::one(image, &ImageView::new(image))
}

pub fn page(images: &Paged<Image>, _: &ViewContext) -> Response {
    answer::page(images, ImageView::new)
}
