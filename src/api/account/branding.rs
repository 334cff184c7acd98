//! JSON view of the provider's brand.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::model::accent_color::AccentColor;
use crate::model::brand_image::ImageSlot;
use crate::model::branding::{BrandName, Branding, FooterText};
use crate::model::time::Time;
use crate::web::{answer, brand};

#[derive(Serialize)]
struct BrandingView<'a> {
    name: Option<&'a str>,
    accent_color: Option<String>,
    footer: Option<&'a str>,
    support_links: Vec<LinkView<'a>>,
    logo_url: Option<String>,
    favicon_url: Option<String>,
    #[serde(serialize_with = "answer::optional_time")]
    updated: Option<Time>,
}

#[derive(Serialize)]
struct LinkView<'a> {
    label: &'a str,
    url: &'a str,
}

pub fn one(branding: &Branding, _: &ViewContext) -> Response {
    let links = branding.support_links.0.iter().map(|link| LinkView {
        label: link.label.as_str(),
        url: link.url.as_str(),
    });
    let view = BrandingView {
        name: branding.name.as_ref().map(BrandName::as_str),
        accent_color: branding.accent_color.map(AccentColor::hex),
        footer: branding.footer.as_ref().map(FooterText::as_str),
        support_links: links.collect(),
        logo_url: brand::image_url(branding, ImageSlot::Logo),
        favicon_url: brand::image_url(branding, ImageSlot::Favicon),
        updated: branding.updated,
    };
    answer::one(branding, &view)
}
