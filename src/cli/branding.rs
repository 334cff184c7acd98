//! `garth branding …`: the name, the logo and the colors of the provider.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::output::Output;
use super::store_args::{OpenStore, StoreArgs};
use crate::model::brand_image::{BrandImage, ImageSlot};
use crate::model::branding::{BrandName, Branding, FooterText};
use crate::model::input::Input;
use crate::rules::branding::{self, ImageUpload, UploadFault};
use crate::rules::request::Request;

#[derive(Subcommand)]
pub enum Command {
    /// Show the brand
    Show,
    /// Set the name, the accent color, the footer and the support links
    ///
    /// Options that are not given leave their value unchanged. An empty value restores the default.
    Set(Set),
    /// Set the logo, which is shown next to the name
    Logo(Image),
    /// Set the favicon, which browsers show in their tabs
    Favicon(Image),
    /// Restore all defaults
    Reset,
}

#[derive(Args)]
pub struct Set {
    /// Name of the service in headers and titles
    #[arg(long)]
    name: Option<String>,
    /// Accent color, such as #1757c2
    #[arg(long, value_name = "COLOR")]
    accent_color: Option<String>,
    /// Text of the footer
    #[arg(long)]
    footer: Option<String>,
    /// Link of the footer, as LABEL=URL; can be repeated, and replaces all links
    #[arg(long = "support-link", value_name = "LABEL=URL")]
    support_links: Option<Vec<String>>,
}

#[derive(Args)]
pub struct Image {
    /// PNG or SVG file
    #[arg(required_unless_present = "remove")]
    file: Option<PathBuf>,
    /// Remove the image
    #[arg(long, conflicts_with = "file")]
    remove: bool,
}

#[derive(Serialize)]
struct BrandingView {
    name: Option<String>,
    accent_color: Option<String>,
    footer: Option<String>,
    support_links: Vec<LinkView>,
    logo: Option<String>,
    favicon: Option<String>,
}

#[derive(Serialize)]
struct LinkView {
    label: String,
    url: String,
}

impl From<&Branding> for BrandingView {
    fn from(branding: &Branding) -> Self {
        let links = branding.support_links.0.iter().map(|link| LinkView {
            label: link.label.as_str().to_owned(),
            url: link.url.as_str().to_owned(),
        });
        let file = |slot: ImageSlot| branding.image(slot).map(|image| image.file_name(slot));
        Self {
            name: branding.name.as_ref().map(BrandName::as_str).map(str::to_owned),
            accent_color: branding.accent_color.map(|color| color.hex()),
            footer: branding
                .footer
                .as_ref()
                .map(FooterText::as_str)
                .map(str::to_owned),
            support_links: links.collect(),
            logo: file(ImageSlot::Logo),
            favicon: file(ImageSlot::Favicon),
        }
    }
}

impl BrandingView {
    fn text(&self) -> String {
        let or_default = |value: &Option<String>| value.clone().unwrap_or_else(|| "default".to_owned());
        let links = self
            .support_links
            .iter()
            .map(|link| format!("\nsupport link: {} ({})", link.label, link.url));
        format!(
            "name: {}\naccent color: {}\nfooter: {}\nlogo: {}\nfavicon: {}{}",
            or_default(&self.name),
            or_default(&self.accent_color),
            or_default(&self.footer),
            or_default(&self.logo),
            or_default(&self.favicon),
            links.collect::<String>()
        )
    }
}

pub async fn run(store: &StoreArgs, output: Output, command: Command) -> anyhow::Result<()> {
    let store = store.open()?;
    match command {
        Command::Show => {}
        Command::Set(options) => set(&store, options).await?,
        Command::Logo(image) => set_image(&store, ImageSlot::Logo, image).await?,
        Command::Favicon(image) => set_image(&store, ImageSlot::Favicon, image).await?,
        Command::Reset => {
            let request = Request::empty();
            store.write(move |tx| branding::reset(tx, &request)).await?;
        }
    }
    let shown = store.read(branding::view).await?;
    let view = BrandingView::from(&shown);
    output.one(&view, &view.text())
}

async fn set(store: &OpenStore, options: Set) -> anyhow::Result<()> {
    let fields = [
        ("name", options.name),
        ("accent_color", options.accent_color),
        ("footer", options.footer),
    ];
    let mut object: Vec<_> = fields
        .into_iter()
        .filter_map(|(name, value)| {
            let value = match value? {
                value if value.is_empty() => Input::Null,
                value => Input::Text(value),
            };
            Some((name.to_owned(), value))
        })
        .collect();
    if let Some(links) = options.support_links {
        let links = links
            .iter()
            .filter(|link| !link.is_empty())
            .map(|link| parse_link(link));
        let links = links.collect::<anyhow::Result<_>>()?;
        object.push(("support_links".to_owned(), Input::List(links)));
    }
    if object.is_empty() {
        bail!("use at least one of --name, --accent-color, --footer and --support-link");
    }
    let request = Request::with_fields(object);
    store.write(move |tx| branding::update(tx, &request)).await?;
    Ok(())
}

fn parse_link(raw: &str) -> anyhow::Result<Input> {
    let Some((label, url)) = raw.split_once('=') else {
        bail!("a support link must be LABEL=URL, not {raw:?}");
    };
    let field = |name: &str, value: &str| (name.to_owned(), Input::Text(value.to_owned()));
    Ok(Input::Object(vec![field("label", label), field("url", url)]))
}

async fn set_image(store: &OpenStore, slot: ImageSlot, image: Image) -> anyhow::Result<()> {
    let Some(file) = image.file else {
        let request = Request::empty();
        store
            .write(move |tx| branding::remove_image(tx, slot, &request))
            .await?;
        return Ok(());
    };
    let upload = ImageUpload {
        expected: None,
        image: BrandImage::parse(&content(&file)?).map_err(UploadFault::Image),
    };
    let stored = store
        .write(move |tx| branding::set_image(tx, slot, &upload))
        .await;
    stored.with_context(|| file.display().to_string())?;
    Ok(())
}

fn content(file: &Path) -> anyhow::Result<Vec<u8>> {
    std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}
