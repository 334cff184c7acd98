//! The preview of a brand: a header, a link, a button and a footer, in the light and the dark theme.

use maud::{Markup, html};

use crate::model::branding::Branding;
use crate::web::{brand, pages};

/// The preview. Its style sheet has the colors of both themes, so that it needs no script and no inline styles.
/// `chosen_logo` is the URL of a logo that is not saved yet.
pub fn preview(previewed: &Branding, chosen_logo: Option<&str>) -> Markup {
    let logo = match chosen_logo {
        Some(url) => html! { img .brand-logo src=(url) alt=""; },
        None => brand::logo(previewed).unwrap_or_else(pages::logo),
    };
    html! {
        link rel="stylesheet" href=(brand::preview_style_url(previewed));
        div .brand-previews {
            @for theme in ["light", "dark"] { (in_theme(previewed, &logo, theme)) }
        }
    }
}

fn in_theme(previewed: &Branding, logo: &Markup, theme: &str) -> Markup {
    html! {
        section .brand-preview .(theme) aria-label={ "Preview of the " (theme) " theme" } {
            div .brand-preview-bar {
                span .brand { (logo) span { (previewed.name()) } }
                span .brand-preview-current { "VPCs" }
            }
            div .brand-preview-body {
                p { "Text with " a href="#preview" { "a link" } " and " span .tag.new { "a label" } }
                p { span .button.main { "A button" } }
            }
            div .brand-preview-footer {
                span { "API reference" }
                @if let Some(footer) = brand::footer(previewed) { (footer) }
            }
        }
    }
}
