//! The images that a user has chosen in the form of the brand, and that are not saved yet.
//!
//! A browser does not select a file again on the next page. Therefore the page that follows a preview or an error has
//! the checked images in hidden fields, and the form saves these.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{Markup, html};

use crate::console::forms::{FormData, SmallFiles};
use crate::model::brand_image::{BrandImage, ImageSlot};
use crate::model::reason::Reason;
use crate::rules::error::FieldError;

#[derive(Default)]
pub struct ChosenImages {
    images: Vec<(ImageSlot, BrandImage)>,
    /// The errors of refused files.
    pub errors: Vec<FieldError>,
}

impl ChosenImages {
    /// Checks the selected files and the images in hidden fields. A file replaces the image in a hidden field.
    pub fn read(data: &FormData, files: &SmallFiles) -> Self {
        let mut chosen = Self::default();
        for slot in ImageSlot::ALL {
            let image = match files.content(slot.word()) {
                Some(file) => Some(BrandImage::parse(file)),
                None => hidden_image(data, slot),
            };
            match image {
                None => {}
                Some(Ok(image)) => chosen.images.push((slot, image)),
                Some(Err(reason)) => chosen.errors.push(FieldError::on(slot.word(), reason)),
            }
        }
        chosen
    }

    pub fn is_empty(&self) -> bool {
        self.images.is_empty()
    }

    pub fn images(&self) -> &[(ImageSlot, BrandImage)] {
        &self.images
    }

    /// The URL of a chosen image, which contains the image.
    pub fn url(&self, slot: ImageSlot) -> Option<String> {
        let image = self.image(slot)?;
        let content = BASE64_STANDARD.encode(&image.content);
        Some(format!("data:{};base64,{content}", image.format.media_type()))
    }

    /// The hidden field with a chosen image.
    pub fn hidden_field(&self, slot: ImageSlot) -> Markup {
        html! {
            @if let Some(image) = self.image(slot) {
                input type="hidden" name=(field(slot)) value=(BASE64_STANDARD.encode(&image.content));
            }
        }
    }

    fn image(&self, slot: ImageSlot) -> Option<&BrandImage> {
        let found = self.images.iter().find(|(other, _)| *other == slot);
        found.map(|(_, image)| image)
    }
}

fn field(slot: ImageSlot) -> String {
    format!("chosen_{}", slot.word())
}

fn hidden_image(data: &FormData, slot: ImageSlot) -> Option<Result<BrandImage, Reason>> {
    let content = BASE64_STANDARD.decode(data.text(&field(slot))).ok()?;
    (!content.is_empty()).then(|| BrandImage::parse(&content))
}
