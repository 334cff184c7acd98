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
    description: &'a str,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::time")]
    updated: Time,
    size: i64,
    created_by: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    is_public: bool,
    deprecated: bool,
    vendor: &'a str,
    expiry: Option<&'a str>,
    #[serde(serialize_with = "answer::optional_time")]
    eol: Option<Time>,
    status: &'a str,
    capabilities: [&'a str; 0],
    tags: [&'a str; 0],
    /// The regions to which a user has copied the image. It is empty, because public images are in all
    /// regions.
    regions: [&'a str; 0],
}

impl<'a> ImageView<'a> {
    fn new(image: &'a Image) -> Self {
        Self {
            id: &image.id,
            label: &image.label,
            description: "",
            created: image.created,
            updated: image.created,
            size: image.size,
            created_by: Image::CREATED_BY,
            kind: Image::TYPE,
            is_public: true,
            deprecated: false,
            vendor: &image.vendor,
            expiry: None,
            eol: image.eol,
            status: Image::STATUS,
            capabilities: [],
            tags: [],
            regions: [],
        }
    }
}

pub fn one(image: &Image, _: &ViewContext) -> Response {
    answer::one(image, &ImageView::new(image))
}

pub fn page(images: &Paged<Image>, _: &ViewContext) -> Response {
    answer::page(images, ImageView::new)
}
