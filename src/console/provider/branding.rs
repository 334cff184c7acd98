//! The page for the provider's brand: a form, a preview of both themes, and the images.

use axum::extract::{Request as HttpRequest, State};
use axum::response::Response;
use maud::{Markup, html};

use super::account_summary::refused;
use super::brand_preview::preview as preview_of;
use super::tabs::{BRANDING, tabs};
use crate::console::error_page::{ErrorPage, PageResult};
use crate::console::forms::{self, Field, FormData, FormState};
use crate::console::layout::{redirect_with_error, redirect_with_notice, size};
use crate::console::threads::confirmation;
use crate::console::visit::Visit;
use crate::model::brand_image::{BrandImage, ImageSlot, MAX_IMAGE_BYTES};
use crate::model::branding::{BrandName, Branding, FooterText, LinkLabel, MAX_SUPPORT_LINKS};
use crate::model::input::Input;
use crate::model::staff_role::StaffRole;
use crate::rules::agent::Staff;
use crate::rules::branding::{ImageUpload, UploadFault};
use crate::rules::error::{BodyFault, Error};
use crate::rules::request::Request;
use crate::rules::{self, branding};
use crate::web::extract::At;
use crate::web::{App, brand, fields};

const URL: &str = BRANDING.1;
const PREVIEW_URL: &str = "/provider/branding/preview";
const LINKS: &str = "support_links";
const LINK_FIELDS: [&str; 2] = ["label", "url"];

async fn load(app: &App, staff: Staff) -> rules::Result<Branding> {
    app.read(staff, |tx, _| branding::view(tx)).await
}

pub async fn view(State(app): State<App>, visit: Visit, staff: Staff) -> PageResult {
    let stored = load(&app, staff).await?;
    let form_state = prefilled(&stored).with_version_of(&stored);
    Ok(render(&visit, &form_state, &stored, &stored))
}

fn prefilled(stored: &Branding) -> FormState {
    let mut form_state = FormState::default();
    let mut set = |name: &str, value: &str| form_state.data.set(name, value);
    set("name", stored.name.as_ref().map_or("", BrandName::as_str));
    let color = stored.accent_color.map(|color| color.hex());
    set("accent_color", &color.unwrap_or_default());
    set("footer", stored.footer.as_ref().map_or("", FooterText::as_str));
    for (at, link) in stored.support_links.0.iter().enumerate() {
        set(&format!("{LINKS}[{at}].label"), link.label.as_str());
        set(&format!("{LINKS}[{at}].url"), link.url.as_str());
    }
    form_state
}

/// The request of the form. An empty field means the default.
fn request(data: &mut FormData) -> Request {
    data.remove_rows(LINKS, &LINK_FIELDS, None);
    let names = ["name", "accent_color", "footer"];
    let field = |name: &&str| {
        let value = data.text(name).trim().replace("\r\n", "\n");
        let value = match value.is_empty() {
            true => Input::Null,
            false => Input::Text(value),
        };
        ((*name).to_owned(), value)
    };
    let mut object: Vec<_> = names.iter().map(field).collect();
    object.push((LINKS.to_owned(), data.list(LINKS, &LINK_FIELDS)));
    data.request(object)
}

/// Shows the submitted values in the preview, without saving them.
pub async fn preview(State(app): State<App>, visit: Visit, staff: Staff, mut data: FormData) -> PageResult {
    let request = request(&mut data);
    let stored = load(&app, staff.clone()).await?;
    let previewed = app
        .read(staff, move |tx, _| branding::preview(tx, &request))
        .await;
    let (form_state, previewed) = match previewed {
        Ok(previewed) => (FormState::with_errors(data, Vec::new()), previewed),
        Err(error) => (forms::from_error(data, error)?, stored.clone()),
    };
    Ok(render(&visit, &form_state, &stored, &previewed))
}

pub async fn update(State(app): State<App>, visit: Visit, staff: Staff, mut data: FormData) -> PageResult {
    let request = request(&mut data);
    let changed = app
        .write(staff.clone(), move |tx, _| branding::update(tx, &request))
        .await;
    let form_state = match changed {
        Ok(_) => return Ok(redirect_with_notice(URL, "branding-saved")),
        Err(error) => forms::from_error(data, error)?,
    };
    let stored = load(&app, staff).await?;
    let form_state = form_state.with_version_of(&stored);
    Ok(render(&visit, &form_state, &stored, &stored))
}

pub async fn reset(State(app): State<App>, staff: Staff, data: FormData) -> PageResult {
    let request = data.request(Vec::new());
    let deleted = app.write(staff, move |tx, _| branding::reset(tx, &request)).await;
    match deleted {
        Ok(()) => Ok(redirect_with_notice(URL, "branding-reset")),
        Err(error) => refused(URL, error),
    }
}

type Path = At<Option<ImageSlot>>;

pub async fn upload(
    State(app): State<App>,
    staff: Staff,
    At(slot): Path,
    request: HttpRequest,
) -> PageResult {
    let slot = slot.ok_or_else(ErrorPage::not_found)?;
    let file = match fields::file(&app, request, MAX_IMAGE_BYTES).await {
        Ok(file) if file.is_empty() => return Ok(redirect_with_error(URL, "Choose a PNG or SVG file")),
        Ok(file) => file,
        Err(BodyFault::TooLarge { .. }) => {
            let text = format!("The file must be at most {MAX_IMAGE_BYTES} bytes");
            return Ok(redirect_with_error(URL, &text));
        }
        Err(fault) => return Err(Error::Body(fault).into()),
    };
    let upload = ImageUpload {
        expected: None,
        image: BrandImage::parse(&file).map_err(UploadFault::Image),
    };
    let stored = app
        .write(staff, move |tx, _| branding::set_image(tx, slot, &upload))
        .await;
    match stored {
        Ok(_) => Ok(redirect_with_notice(URL, "branding-saved")),
        Err(error) => refused(URL, error),
    }
}

pub async fn remove(State(app): State<App>, staff: Staff, At(slot): Path, data: FormData) -> PageResult {
    let slot = slot.ok_or_else(ErrorPage::not_found)?;
    let request = data.request(Vec::new());
    let removed = app
        .write(staff, move |tx, _| branding::remove_image(tx, slot, &request))
        .await;
    match removed {
        Ok(()) => Ok(redirect_with_notice(URL, "branding-saved")),
        Err(error) => refused(URL, error),
    }
}

fn render(visit: &Visit, form_state: &FormState, stored: &Branding, previewed: &Branding) -> Response {
    let can_change = visit.has_role(StaffRole::Admin);
    let body = html! {
        (tabs(visit, URL))
        div .title {
            h1 { "Branding" }
            @if can_change && stored.updated.is_some() { div .actions { (reset_form(visit)) } }
        }
        p .lead { "The console and the log-in page show your name, logo and color to customers and staff." }
        @if let Some(text) = &visit.refused { p .alert role="alert" { (text) } }
        section aria-labelledby="preview" {
            h2 #preview { "Preview" }
            @if previewed != stored { p .warning role="status" { "These values are not saved yet." } }
            (preview_of(previewed))
        }
        @if can_change {
            (form(visit, form_state))
            @for slot in ImageSlot::ALL { (image_forms(visit, stored, slot)) }
        } @else {
            p .quiet { "Only admins can change the brand." }
        }
    };
    visit.form_page(form_state, "Branding", &[], &body)
}

fn reset_form(visit: &Visit) -> Markup {
    confirmation(
        "Reset to defaults",
        (true, None),
        &html! {
            p { "This deletes the name, the color, the footer, the links and the images." }
            form method="post" action={ (URL) "/reset" } {
                (visit.form_token())
                button .danger type="submit" { "Reset to defaults" }
            }
        },
    )
}

fn form(visit: &Visit, form_state: &FormState) -> Markup {
    let name = Field {
        name: "name",
        label: "Name",
        hint: "Replaces Garth in headers and titles.",
        optional: true,
        max_chars: Some(BrandName::MAX),
        ..Field::default()
    };
    let accent_color = Field {
        name: "accent_color",
        label: "Accent color",
        hint: "In the form #rrggbb. The dark theme has a lighter shade of it.",
        optional: true,
        code: true,
        ..Field::default()
    };
    let footer = Field {
        name: "footer",
        label: "Footer",
        hint: "Plain text, for example your company and its address.",
        optional: true,
        max_chars: Some(FooterText::MAX),
        ..Field::default()
    };
    html! {
        (form_state.alert())
        form .card.wide method="post" novalidate action=(URL) {
            (visit.form_token())
            (form_state.version_field())
            (forms::text_input(form_state, name))
            (forms::text_input(form_state, accent_color))
            (forms::textarea(form_state, footer, 3))
            fieldset .brand-link-rows {
                legend { "Support links" }
                p .hint { "Customers see them in the footer and on the log-in page. A URL begins with https:// or mailto:." }
                @for at in 0..MAX_SUPPORT_LINKS { (link_row(form_state, at)) }
            }
            div .actions {
                button .main type="submit" { "Save" }
                button type="submit" formaction=(PREVIEW_URL) { "Preview" }
                a .button href=(URL) { "Cancel" }
            }
        }
    }
}

fn link_row(form_state: &FormState, at: usize) -> Markup {
    let names = LINK_FIELDS.map(|field| format!("{LINKS}[{at}].{field}"));
    let (label, url) = (
        format!("Label of link {}", at + 1),
        format!("URL of link {}", at + 1),
    );
    let label = Field {
        name: &names[0],
        label: &label,
        optional: true,
        max_chars: Some(LinkLabel::MAX),
        ..Field::default()
    };
    let url = Field {
        name: &names[1],
        label: &url,
        optional: true,
        code: true,
        ..Field::default()
    };
    html! {
        div .brand-link-row { (forms::text_input(form_state, label)) (forms::text_input(form_state, url)) }
    }
}

/// The current image, and the forms that replace and remove it.
fn image_forms(visit: &Visit, stored: &Branding, slot: ImageSlot) -> Markup {
    let (title, hint) = match slot {
        ImageSlot::Logo => (
            "Logo",
            "Shown next to the name, 28 pixels high, on light and dark backgrounds.",
        ),
        ImageSlot::Favicon => ("Favicon", "Shown in the tabs of browsers. Use a square image."),
    };
    let (url, id) = (
        format!("{URL}/images/{}", slot.word()),
        format!("f-{}", slot.word()),
    );
    let upload_url = format!("{url}?form_token={}", visit.csrf_token);
    html! {
        section .card.brand-image aria-label=(title) {
            h2 { (title) }
            @match brand::image_url(stored, slot) {
                Some(image) => p { img .brand-logo src=(image) alt={ "The current " (slot.word()) }; },
                None => p .quiet { "Not set." },
            }
            form method="post" novalidate action=(upload_url) enctype="multipart/form-data" {
                div .field {
                    label for=(id) { "File" }
                    input #(id) type="file" name="file" required accept=".png,.svg,image/png,image/svg+xml" aria-describedby={ (id) "-hint" };
                    p #{ (id) "-hint" } .hint { "PNG or SVG, at most " (size(MAX_IMAGE_BYTES as i64)) ". " (hint) }
                }
                div .actions { button type="submit" { "Upload " (slot.word()) } }
            }
            @if stored.image(slot).is_some() {
                form method="post" action={ (url) "/delete" } {
                    (visit.form_token())
                    button .link type="submit" { "Remove " (slot.word()) }
                }
            }
        }
    }
}
