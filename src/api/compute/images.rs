//! Images on the wire.

use axum::extract::State;
use axum::response::Response;
use serde::Serialize;

use crate::model::image::Image;
use crate::model::time::Time;
use crate::rules::lists::ListRequest;
use crate::rules::{self, Result};
use crate::web::extract::At;
use crate::web::{App, answer};

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
    eol: Option<&'a str>,
    status: &'a str,
    capabilities: [&'a str; 0],
    tags: [&'a str; 0],
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
            created_by: "linode",
            kind: "manual",
            is_public: true,
            deprecated: false,
            vendor: &image.vendor,
            expiry: None,
            eol: None,
            status: "available",
            capabilities: [],
            tags: [],
        }
    }
}

pub async fn list(State(app): State<App>, list: ListRequest) -> Result<Response> {
    let images = rules::images::list(&app.store().world().policy, &list)?;
    Ok(answer::page(&images, ImageView::new))
}

pub async fn view(State(app): State<App>, At(id): At<String>) -> Result<Response> {
    let image = rules::images::view(&app.store().world().policy, &id)?;
    Ok(answer::one(&image, &ImageView::new(&image)))
}
