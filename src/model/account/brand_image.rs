//! The images of the provider's brand: the logo and the favicon.

use sha2::{Digest, Sha256};

use super::{png, svg};
use crate::model::reason::{Code, Reason};
use crate::model::token::hex;

/// The maximum size of an uploaded image.
pub const MAX_IMAGE_BYTES: usize = 256 * 1024;
/// The number of digits of a hash in a URL.
const HASH_DIGITS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageSlot {
    Logo,
    Favicon,
}

impl ImageSlot {
    pub const ALL: [ImageSlot; 2] = [ImageSlot::Logo, ImageSlot::Favicon];

    pub const fn word(self) -> &'static str {
        match self {
            ImageSlot::Logo => "logo",
            ImageSlot::Favicon => "favicon",
        }
    }

    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|slot| slot.word() == word)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageFormat {
    Png,
    Svg,
}

impl ImageFormat {
    const ALL: [ImageFormat; 2] = [ImageFormat::Png, ImageFormat::Svg];

    /// The word for the format, which is also the extension of its files.
    pub const fn word(self) -> &'static str {
        match self {
            ImageFormat::Png => "png",
            ImageFormat::Svg => "svg",
        }
    }

    pub const fn media_type(self) -> &'static str {
        match self {
            ImageFormat::Png => "image/png",
            ImageFormat::Svg => "image/svg+xml",
        }
    }

    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.word() == word)
    }
}

/// An image without its content: enough for its URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageRef {
    pub format: ImageFormat,
    /// The first digits of the SHA-256 of the content.
    pub hash: String,
}

impl ImageRef {
    /// The name of the file in its URL. It changes with the content, so browsers never need to reload it.
    pub fn file_name(&self, slot: ImageSlot) -> String {
        format!("{}-{}.{}", slot.word(), self.hash, self.format.word())
    }

    /// Parses the hash and the extension of a file name.
    pub fn parse(name: &str) -> Option<Self> {
        let (hash, format) = name.split_once('.')?;
        Some(Self {
            format: ImageFormat::find(format)?,
            hash: hash.to_owned(),
        })
    }
}

/// An image that was checked and written again, so that it has only known parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrandImage {
    pub format: ImageFormat,
    pub content: Vec<u8>,
}

impl BrandImage {
    /// Checks an uploaded file. Its content decides the format.
    pub fn parse(file: &[u8]) -> Result<Self, Reason> {
        if file.len() > MAX_IMAGE_BYTES {
            let text = format!("The file must be at most {MAX_IMAGE_BYTES} bytes");
            return Err(Reason::new(Code::FileTooLarge, text));
        }
        let (format, cleaned) = match file.starts_with(png::SIGNATURE) {
            true => (ImageFormat::Png, png::clean(file)),
            false => (ImageFormat::Svg, svg::clean(file)),
        };
        match cleaned {
            Ok(content) => Ok(Self { format, content }),
            Err(problem) => Err(Reason::new(Code::BrandImageInvalid, problem)),
        }
    }

    pub fn reference(&self) -> ImageRef {
        let mut hash = hex(&Sha256::digest(&self.content));
        hash.truncate(HASH_DIGITS);
        ImageRef {
            format: self.format,
            hash,
        }
    }
}
