//! The brand of the provider on pages.
//!
//! Pages are rendered in many places, also without a session and for errors. Therefore the brand is set for the task of
//! the request, before the request is handled.

use std::sync::Arc;

use maud::{Markup, html};

use crate::model::accent_color::{AccentColor, Shades};
use crate::model::brand_image::ImageSlot;
use crate::model::branding::Branding;

/// The folder of the brand's images and style sheets.
pub const FOLDER: &str = "/assets/brand";
/// The colors of the default brand.
const BASE_STYLE: &str = include_str!("base.css");
/// Paths that render no branded pages.
const OTHER_PATHS: [&str; 7] = [
    "/v4",
    "/console/",
    "/assets/",
    "/docs",
    "/openapi.json",
    "/healthz",
    "/readyz",
];

tokio::task_local! {
    static CURRENT: Arc<Branding>;
}

/// The brand for the current request.
pub fn current() -> Arc<Branding> {
    CURRENT.try_with(Arc::clone).unwrap_or_default()
}

/// Handles a request with the brand of the provider.
pub async fn with_brand<T>(brand: Arc<Branding>, request: impl Future<Output = T>) -> T {
    CURRENT.scope(brand, request).await
}

/// Whether the response to a request for this path can be a page with the brand.
pub fn appears_on(path: &str) -> bool {
    !OTHER_PATHS.iter().any(|other| path.starts_with(other))
}

/// The path of an image, if it is set.
pub fn image_url(brand: &Branding, slot: ImageSlot) -> Option<String> {
    let image = brand.image(slot)?;
    Some(format!("{FOLDER}/{}", image.file_name(slot)))
}

/// The style sheet with the accent color, and the icon. Empty for the default brand.
pub fn head(brand: &Branding) -> Markup {
    html! {
        @if let Some(color) = brand.accent_color {
            link rel="stylesheet" href={ (FOLDER) "/accent-" (digits(color)) ".css" };
        }
        @if let Some((url, image)) = image_url(brand, ImageSlot::Favicon).zip(brand.favicon.as_ref()) {
            link rel="icon" href=(url) type=(image.format.media_type());
        }
    }
}

/// The logo. The name is next to it, so it has no alternative text.
pub fn logo(brand: &Branding) -> Option<Markup> {
    let url = image_url(brand, ImageSlot::Logo)?;
    Some(html! { img .brand-logo src=(url) alt=""; })
}

/// The links with which users reach the provider.
pub fn support_links(brand: &Branding) -> Markup {
    let links = &brand.support_links.0;
    html! {
        @if !links.is_empty() {
            ul .brand-links { @for link in links { li { a href=(link.url.as_str()) rel="noopener" { (link.label.as_str()) } } } }
        }
    }
}

/// The support links and the text of the footer; `None` if there are none.
pub fn footer(brand: &Branding) -> Option<Markup> {
    if brand.support_links.0.is_empty() && brand.footer.is_none() {
        return None;
    }
    Some(html! {
        (support_links(brand))
        @if let Some(text) = &brand.footer { p .brand-footer { (text.as_str()) } }
    })
}

/// The digits of a color, for a URL.
fn digits(color: AccentColor) -> String {
    color.hex().trim_start_matches('#').to_owned()
}

/// The URL of the style sheet of a preview.
pub fn preview_style_url(brand: &Branding) -> String {
    let color = brand.accent_color.map_or_else(|| "default".to_owned(), digits);
    format!("{FOLDER}/preview-{color}.css")
}

/// The style sheet with this file name. It depends only on the color in the name.
pub fn style_sheet(file: &str) -> Option<String> {
    let name = file.strip_suffix(".css")?;
    match name.split_once('-')? {
        ("accent", color) => Some(accent_style(parse_digits(color)?)),
        ("preview", "default") => Some(preview_style(None)),
        ("preview", color) => Some(preview_style(Some(parse_digits(color)?))),
        _ => None,
    }
}

fn parse_digits(digits: &str) -> Option<AccentColor> {
    let color = AccentColor::checked(&format!("#{digits}"))?;
    // Each color has one URL.
    (color.hex().trim_start_matches('#') == digits).then_some(color)
}

fn accent_style(color: AccentColor) -> String {
    let (light, dark) = (variables(&color.light()), variables(&color.dark()));
    format!(
        ":root {{ {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n.mark rect {{ fill: {}; }}\n",
        color.hex()
    )
}

/// The colors of both themes, each for the part of a page with the class of the theme.
fn preview_style(color: Option<AccentColor>) -> String {
    let mut themes = BASE_STYLE
        .split(":root {")
        .skip(1)
        .map(|theme| theme.split('}').next().unwrap_or_default().trim());
    let (light, dark) = (
        themes.next().unwrap_or_default(),
        themes.next().unwrap_or_default(),
    );
    let (light_accent, dark_accent) = match color {
        Some(color) => (variables(&color.light()), variables(&color.dark())),
        None => Default::default(),
    };
    let mark = color.map_or(String::new(), |color| {
        format!(".brand-preview .mark rect {{ fill: {}; }}\n", color.hex())
    });
    format!(
        ".brand-preview.light {{ {light} {light_accent} color-scheme: light; }}\n\
         .brand-preview.dark {{ {dark} {dark_accent} color-scheme: dark; }}\n{mark}"
    )
}

fn variables(shades: &Shades) -> String {
    let Shades {
        accent,
        hover,
        on_accent,
        ground,
    } = shades;
    format!(
        "--accent: {accent}; --accent-dark: {hover}; --on-accent: {on_accent}; --accent-ground: {ground};"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_style_sheet_has_the_color_of_its_name() {
        let style = style_sheet("accent-0b6e4f.css").unwrap();
        assert!(style.contains("--accent: #0b6e4f;"), "{style}");
        for unknown in [
            "accent-0B6E4F.css",
            "accent-ffffff.css",
            "accent-default.css",
            "accent-0b6e4f",
            "accent-.css",
            "other-0b6e4f.css",
        ] {
            assert_eq!(style_sheet(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn a_preview_has_the_backgrounds_of_both_themes() {
        let style = style_sheet("preview-default.css").unwrap();
        let (light, dark) = style.split_once(".brand-preview.dark").unwrap();
        assert!(
            light.contains("--ground: #f5f6f8;") && light.contains("--accent: #1757c2;"),
            "{style}"
        );
        assert!(
            dark.contains("--ground: #101318;") && dark.contains("--accent: #86b4ff;"),
            "{style}"
        );
    }
}
