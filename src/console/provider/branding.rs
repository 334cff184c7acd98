//! The page for the provider's brand: a form with texts and images, and a preview of both themes.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::brand_preview::preview as preview_of;
use super::chosen_images::ChosenImages;
use super::settings_page::{Content, SettingsPage, after_preview, text_input};
use super::tabs::BRANDING;
use crate::console::error_page::{ErrorPage, PageResult};
use crate::console::forms::{self, Field, FormData, FormState, SmallFiles};
use crate::console::layout::{permit_data_images, redirect_with_notice, size};
use crate::console::visit::Visit;
use crate::model::brand_image::{BrandImage, ImageSlot, MAX_IMAGE_BYTES};
use crate::model::branding::{BrandName, Branding, FooterText, LinkLabel, MAX_SUPPORT_LINKS};
use crate::rules::agent::Staff;
use crate::rules::branding::ImageUpload;
use crate::rules::error::Error;
use crate::rules::request::Request;
use crate::rules::{self, branding};
use crate::web::extract::At;
use crate::web::{App, brand};

const URL: &str = BRANDING.1;
const PAGE: SettingsPage = SettingsPage {
    title: BRANDING.0,
    url: URL,
    form_id: "brand",
    has_files: true,
    saved_notice: "branding-saved",
    reset_notice: "branding-reset",
    read_only_text: "Only admins can change the brand.",
    reset_text: "This deletes the name, the color, the footer, the links and the images.",
};
const PREVIEW_URL: &str = "/provider/branding/preview";
const LINKS: &str = "support_links";
const LINK_FIELDS: [&str; 2] = ["label", "url"];

/// A page to render.
struct Shown<'a> {
    form_state: &'a FormState,
    stored: &'a Branding,
    previewed: &'a Branding,
    chosen: &'a ChosenImages,
}

async fn load(app: &App, staff: Staff) -> rules::Result<Branding> {
    app.read(staff, |tx, _| branding::view(tx)).await
}

pub async fn view(State(app): State<App>, visit: Visit, staff: Staff) -> PageResult {
    let stored = load(&app, staff).await?;
    let form_state = prefilled(&stored).with_version_of(&stored);
    let shown = Shown {
        form_state: &form_state,
        stored: &stored,
        previewed: &stored,
        chosen: &ChosenImages::default(),
    };
    Ok(render(&visit, &shown))
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
    let mut object: Vec<_> = names
        .map(|name| (name.to_owned(), text_input(data, name)))
        .to_vec();
    object.push((LINKS.to_owned(), data.list(LINKS, &LINK_FIELDS)));
    data.request(object)
}

/// The brand with the submitted texts, or the errors of texts and images together.
async fn check(app: &App, staff: Staff, request: Request, images: &ChosenImages) -> rules::Result<Branding> {
    let checked = app
        .read(staff, move |tx, _| branding::preview(tx, &request))
        .await;
    let mut errors = match checked {
        Ok(brand) if images.errors.is_empty() => return Ok(brand),
        Ok(_) => Vec::new(),
        Err(Error::Refused(errors)) => errors,
        Err(other) => return Err(other),
    };
    errors.extend_from_slice(&images.errors);
    Err(Error::Refused(errors))
}

/// Shows the submitted values in the preview, without saving them.
pub async fn preview(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    mut data: FormData,
    files: SmallFiles,
) -> PageResult {
    let (request, chosen) = (request(&mut data), ChosenImages::read(&data, &files));
    let stored = load(&app, staff.clone()).await?;
    let previewed = check(&app, staff, request, &chosen).await;
    let (form_state, previewed) = after_preview(data, previewed)?;
    let shown = Shown {
        form_state: &form_state,
        stored: &stored,
        previewed: previewed.as_ref().unwrap_or(&stored),
        chosen: &chosen,
    };
    Ok(render(&visit, &shown))
}

/// Saves the texts and the chosen images, or nothing.
pub async fn update(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    mut data: FormData,
    files: SmallFiles,
) -> PageResult {
    let (request, chosen) = (request(&mut data), ChosenImages::read(&data, &files));
    let form_state = match save(&app, staff.clone(), request, &chosen).await {
        Ok(()) => return Ok(redirect_with_notice(URL, PAGE.saved_notice)),
        Err(error) => forms::from_error(data, error)?,
    };
    let stored = load(&app, staff).await?;
    let form_state = form_state.with_version_of(&stored);
    let shown = Shown {
        form_state: &form_state,
        stored: &stored,
        previewed: &stored,
        chosen: &chosen,
    };
    Ok(render(&visit, &shown))
}

async fn save(app: &App, staff: Staff, request: Request, chosen: &ChosenImages) -> rules::Result<()> {
    if !chosen.errors.is_empty() {
        return check(app, staff, request, chosen).await.map(drop);
    }
    let upload = |(slot, image): &(ImageSlot, BrandImage)| {
        let image = ImageUpload {
            expected: None,
            image: Ok(image.clone()),
        };
        (*slot, image)
    };
    let images: Vec<_> = chosen.images().iter().map(upload).collect();
    app.write(staff, move |tx, _| {
        branding::update(tx, &request)?;
        let mut images = images.iter();
        images.try_for_each(|(slot, image)| branding::set_image(tx, *slot, image).map(drop))
    })
    .await
}

pub async fn reset(State(app): State<App>, staff: Staff, data: FormData) -> PageResult {
    PAGE.reset(&app, staff, &data, branding::reset).await
}

type Path = At<Option<ImageSlot>>;

pub async fn remove(State(app): State<App>, staff: Staff, At(slot): Path, data: FormData) -> PageResult {
    let slot = slot.ok_or_else(ErrorPage::not_found)?;
    let request = data.request(Vec::new());
    let removed = app
        .write(staff, move |tx, _| branding::remove_image(tx, slot, &request))
        .await;
    PAGE.redirect(removed, PAGE.saved_notice)
}

fn render(visit: &Visit, shown: &Shown) -> Response {
    let is_saved = shown.previewed == shown.stored && shown.chosen.is_empty();
    let content = Content {
        form_state: shown.form_state,
        can_reset: shown.stored.updated.is_some(),
        lead: html! {
            p .lead { "The console and the log-in page show your name, logo and color to customers and staff." }
        },
        labels: &[],
        preview_title: "Preview",
        preview: html! {
            @if !is_saved { p .warning role="status" { "These values are not saved yet." } }
            (preview_of(shown.previewed, shown.chosen.url(ImageSlot::Logo).as_deref()))
        },
        fields: fields(shown),
        buttons: html! { button type="submit" formaction=(PREVIEW_URL) { "Preview" } },
        other_forms: html! {
            @for slot in ImageSlot::ALL.into_iter().filter(|slot| shown.stored.image(*slot).is_some()) {
                form #(removal_id(slot)) method="post" action={ (URL) "/images/" (slot.word()) "/delete" } { (visit.form_token()) }
            }
        },
    };
    permit_data_images(PAGE.render(visit, &content))
}

/// The ID of the form that removes an image. Its button is in the form with all values.
fn removal_id(slot: ImageSlot) -> String {
    format!("remove-{}", slot.word())
}

fn fields(shown: &Shown) -> Markup {
    let form_state = shown.form_state;
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
        (forms::text_input(form_state, name))
        (forms::text_input(form_state, accent_color))
        (forms::textarea(form_state, footer, 3))
        fieldset .brand-link-rows {
            legend { "Support links" }
            p .hint { "Customers see them in the footer and on the log-in page. A URL begins with https:// or mailto:." }
            @for at in 0..MAX_SUPPORT_LINKS { (link_row(form_state, at)) }
        }
        @for slot in ImageSlot::ALL { (image_field(shown, slot)) }
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

/// The file of an image, with the current image and the button that removes it.
fn image_field(shown: &Shown, slot: ImageSlot) -> Markup {
    let (label, hint) = match slot {
        ImageSlot::Logo => (
            "Logo",
            "Shown next to the name, 28 pixels high, on light and dark backgrounds.",
        ),
        ImageSlot::Favicon => ("Favicon", "Shown in the tabs of browsers. Use a square image."),
    };
    let (word, id) = (slot.word(), forms::element_id(slot.word()));
    let errors = shown.form_state.errors_on(word);
    let described_by = match errors.is_empty() {
        true => format!("{id}-hint"),
        false => format!("{id}-wrong {id}-hint"),
    };
    let max = size(i64::try_from(MAX_IMAGE_BYTES).unwrap_or(i64::MAX));
    html! {
        div .field.brand-image .wrong[!errors.is_empty()] {
            label for=(id) { (label) " " span .optional { "optional" } }
            @if let Some(image) = shown.chosen.url(slot) {
                p { img .brand-logo src=(image) alt={ "The chosen " (word) }; " Chosen, not saved yet." }
                (shown.chosen.hidden_field(slot))
            } @else if let Some(image) = brand::image_url(shown.stored, slot) {
                p { img .brand-logo src=(image) alt={ "The current " (word) }; }
            }
            input #(id) type="file" name=(word) accept=".png,.svg,image/png,image/svg+xml"
                aria-invalid=[(!errors.is_empty()).then_some("true")]
                aria-describedby=(described_by);
            @if !errors.is_empty() { p #{ (id) "-wrong" } .reason { (errors.join(". ")) } }
            p #{ (id) "-hint" } .hint {
                "PNG or SVG, at most " (max) ". " (hint) " Without a file, the current image remains."
            }
            @if shown.stored.image(slot).is_some() {
                button .link type="submit" form=(removal_id(slot)) { "Remove " (word) }
            }
        }
    }
}
