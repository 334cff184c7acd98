//! The brand of the provider (decision 0038).

use crate::model::accent_color::AccentColor;
use crate::model::brand_image::{BrandImage, ImageRef, ImageSlot};
use crate::model::branding::{
    BrandName, Branding, FooterText, LinkLabel, LinkUrl, MAX_SUPPORT_LINKS, SupportLink, SupportLinks,
};
use crate::model::reason::{Code, Reason};
use crate::rules::error::{BodyFault, Error, FieldError, Result};
use crate::rules::form::Form;
use crate::rules::request::{Expected, Request, check_if_match};
use crate::store::{self, ReadTx, WriteTx};

/// An uploaded image, which was checked before the transaction.
#[derive(Debug)]
pub struct ImageUpload {
    pub expected: Option<Expected>,
    pub image: Result<BrandImage, UploadFault>,
}

/// Why an uploaded image is refused.
#[derive(Clone, Debug)]
pub enum UploadFault {
    Body(BodyFault),
    Image(Reason),
}

pub fn view(tx: &mut ReadTx) -> Result<Branding> {
    Ok(store::branding::load(tx)?)
}

/// The content of an image, if it is the current one.
pub fn image(tx: &mut ReadTx, slot: ImageSlot, image: &ImageRef) -> Result<Vec<u8>> {
    store::branding::image(tx, slot, image)?.ok_or(Error::NotFound)
}

/// The brand after a change, without storing it.
pub fn preview(tx: &mut ReadTx, request: &Request) -> Result<Branding> {
    changed(view(tx)?, request)
}

/// Changes the brand. A part that is null gets its default.
pub fn update(tx: &mut WriteTx, request: &Request) -> Result<Branding> {
    let current = view(tx)?;
    request.check_if_match(&current)?;
    let branding = changed(current, request)?;
    let now = tx.now();
    let updated = branding.updated.map_or(now, |updated| tx.now_after(updated));
    store::branding::save(tx, &branding, updated)?;
    view(tx)
}

/// Sets all parts to their defaults.
pub fn reset(tx: &mut WriteTx, request: &Request) -> Result<()> {
    let branding = view(tx)?;
    request.check_if_match(&branding)?;
    request.require_valid_body()?;
    match branding.updated {
        Some(_) => Ok(store::branding::delete(tx)?),
        None => Ok(()),
    }
}

pub fn set_image(tx: &mut WriteTx, slot: ImageSlot, upload: &ImageUpload) -> Result<Branding> {
    check_if_match(upload.expected.as_ref(), &view(tx)?)?;
    let image = upload.image.as_ref().map_err(|fault| match fault {
        UploadFault::Body(fault) => Error::Body(fault.clone()),
        UploadFault::Image(reason) => Error::Refused(vec![FieldError::whole(reason.clone())]),
    })?;
    save_image(tx, slot, Some(image))
}

/// Removes an image, if there is one.
pub fn remove_image(tx: &mut WriteTx, slot: ImageSlot, request: &Request) -> Result<()> {
    let branding = view(tx)?;
    request.check_if_match(&branding)?;
    request.require_valid_body()?;
    match branding.image(slot) {
        Some(_) => save_image(tx, slot, None).map(drop),
        None => Ok(()),
    }
}

fn save_image(tx: &mut WriteTx, slot: ImageSlot, image: Option<&BrandImage>) -> Result<Branding> {
    let updated = view(tx)?.updated;
    let updated = updated.map_or(tx.now(), |updated| tx.now_after(updated));
    store::branding::save_image(tx, slot, image, updated)?;
    view(tx)
}

fn changed(mut branding: Branding, request: &Request) -> Result<Branding> {
    let mut form = request.form()?;
    let name = form.optional("name", BrandName::parse);
    let accent_color = form.optional("accent_color", AccentColor::parse);
    let footer = form.optional("footer", FooterText::parse);
    let links = form.first("support_links", MAX_SUPPORT_LINKS, support_link);
    if form.count("support_links") > MAX_SUPPORT_LINKS {
        let text = format!("Must have at most {MAX_SUPPORT_LINKS} links");
        form.refuse("support_links", Reason::new(Code::OutOfRange, text));
    }
    let is_null = |name: &'static str| form.is_null(name);
    if is_null("name") || name.is_some() {
        branding.name = name;
    }
    if is_null("accent_color") || accent_color.is_some() {
        branding.accent_color = accent_color;
    }
    if is_null("footer") || footer.is_some() {
        branding.footer = footer;
    }
    if is_null("support_links") || form.has("support_links") {
        branding.support_links = SupportLinks(links.into_iter().flatten().flatten().collect());
    }
    form.finish(|| Some(branding))
}

fn support_link(form: &mut Form) -> Option<SupportLink> {
    let label = form.required("label", LinkLabel::parse);
    let url = form.required("url", LinkUrl::parse);
    Some(SupportLink {
        label: label?,
        url: url?,
    })
}
