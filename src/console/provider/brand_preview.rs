//! The preview of a brand: a header, a link, a button and a footer, in the light and the dark theme.

use maud::{Markup, html};

use crate::model::branding::Branding;
use crate::web::{brand, pages};

/// The preview. Its style sheet has the colors of both themes, so that it needs no script and no inline styles.
pub fn preview(previewed: &Branding) -> Markup {
    html! {
        link rel="stylesheet" href=(brand::preview_style_url(previewed));
        div .brand-previews {
            @for theme in ["light", "dark"] { (in_theme(previewed, theme)) }
        }
    }
}

fn in_theme(previewed: &Branding, theme: &str) -> Markup {
    html! {
        section .brand-preview .(theme) aria-label={ "Preview of the " (theme) " theme" } {
            div .brand-preview-bar {
                span .brand { (brand::logo(previewed).unwrap_or_else(pages::logo)) span { (previewed.name()) } }
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
