//! Attachments of tickets: valid names and content.
//!
//! Names are only displayed and never become paths.

use crate::model::id::{AttachmentId, TicketId};
use crate::model::image_size;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::time::Time;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Attachment {
    pub id: AttachmentId,
    pub ticket: TicketId,
    pub name: FileName,
    pub size: i64,
    /// 64 hexadecimal digits.
    pub sha256: String,
    /// The storage key of the file.
    pub key: String,
    pub created: Time,
    pub created_by: String,
    /// Files of staff do not count toward the limits of the account.
    pub from_staff: bool,
}

/// The size of the largest file that pages show as an image.
const MAX_IMAGE_BYTES: i64 = 2 * 1024 * 1024;
/// The number of pixels of the largest image that pages show. A small file can have many pixels, which a browser keeps
/// in memory.
const MAX_IMAGE_PIXELS: u64 = 40_000_000;

impl Attachment {
    /// Whether pages can show the file as an image, according to its name and size.
    pub fn is_image(&self) -> bool {
        let is_shown = matches!(self.name.kind(), FileKind::Gif | FileKind::Jpeg | FileKind::Png);
        is_shown && self.size <= MAX_IMAGE_BYTES
    }

    /// Whether the content has the header of an image that is not too large to be shown.
    pub fn is_displayable(&self, content: &[u8]) -> bool {
        let size = image_size::of(self.name.kind(), content);
        self.is_image()
            && size.is_some_and(|(width, height)| u64::from(width) * u64::from(height) <= MAX_IMAGE_PIXELS)
    }
}

/// Whether a text can be the storage key of a file. Keys become file names, so they must not name another folder.
pub fn is_storage_key(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=128).contains(&text.len()) && text.bytes().all(is_plain)
}

/// A stored file, before it becomes an attachment.
#[derive(Clone, Debug)]
pub struct NewAttachment {
    pub name: FileName,
    pub size: i64,
    pub sha256: String,
    pub key: String,
}

/// The accepted extensions (interface §4.3), case-insensitive.
pub const EXTENSIONS: [&str; 10] = [
    ".gif", ".jpg", ".jpeg", ".pjpg", ".pjpeg", ".tif", ".tiff", ".png", ".pdf", ".txt",
];

/// The extensions of text files to which the console adds `.txt`, as in `trace.log.txt`. The API refuses such files.
pub const TEXT_EXTENSIONS: [&str; 8] = [".log", ".csv", ".json", ".conf", ".cfg", ".ini", ".yaml", ".yml"];

/// The name with which the console attaches a file.
pub fn with_text_extension(name: String) -> String {
    let lower = name.to_ascii_lowercase();
    match TEXT_EXTENSIONS.iter().any(|extension| lower.ends_with(extension)) {
        true => format!("{name}.txt"),
        false => name,
    }
}

/// The kind of a file, by its extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    Gif,
    Jpeg,
    Tiff,
    Png,
    Pdf,
    Text,
}

impl FileKind {
    pub const fn media_type(self) -> &'static str {
        match self {
            FileKind::Gif => "image/gif",
            FileKind::Jpeg => "image/jpeg",
            FileKind::Tiff => "image/tiff",
            FileKind::Png => "image/png",
            FileKind::Pdf => "application/pdf",
            FileKind::Text => "text/plain",
        }
    }

    fn of_extension(extension: &str) -> Option<Self> {
        Some(match extension {
            "gif" => FileKind::Gif,
            "jpg" | "jpeg" | "pjpg" | "pjpeg" => FileKind::Jpeg,
            "tif" | "tiff" => FileKind::Tiff,
            "png" => FileKind::Png,
            "pdf" => FileKind::Pdf,
            "txt" => FileKind::Text,
            _ => return None,
        })
    }

    /// Refuses content that does not match the extension.
    pub fn check(self, content: &Content) -> Result<(), Reason> {
        let head = content.head.as_slice();
        let starts_with_any = |signatures: &[&[u8]]| signatures.iter().any(|magic| head.starts_with(magic));
        let (is_match, expected) = match self {
            FileKind::Gif => (starts_with_any(&[b"GIF87a", b"GIF89a"]), "a GIF image"),
            FileKind::Jpeg => (starts_with_any(&[b"\xff\xd8\xff"]), "a JPEG image"),
            FileKind::Tiff => {
                let magics: [&[u8]; 4] = [b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"];
                (starts_with_any(&magics), "a TIFF image")
            }
            FileKind::Png => (starts_with_any(&[b"\x89PNG\r\n\x1a\n"]), "a PNG image"),
            // PDF readers accept the signature anywhere near the start.
            FileKind::Pdf => (head.windows(5).any(|part| part == b"%PDF-"), "a PDF document"),
            FileKind::Text => {
                let is_utf16 = starts_with_any(&[b"\xff\xfe", b"\xfe\xff"]);
                (is_utf16 || !content.has_nul, "plain text")
            }
        };
        match is_match {
            true => Ok(()),
            false => Err(Reason::new(
                Code::FileContent,
                format!("The content does not match the extension: expected {expected}"),
            )),
        }
    }
}

/// The properties of a file that the content check uses. They are collected while the file arrives.
#[derive(Clone, Debug, Default)]
pub struct Content {
    /// The first bytes, at most `HEAD_BYTES`.
    pub head: Vec<u8>,
    pub has_nul: bool,
}

impl Content {
    const HEAD_BYTES: usize = 1024;

    pub fn update(&mut self, bytes: &[u8]) {
        let missing = Self::HEAD_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..missing]);
        self.has_nul |= bytes.contains(&0);
    }
}

/// A file name for display: one line, no path, no invisible or direction-changing characters, at most 255
/// bytes, with an accepted extension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileName(String);

impl FileName {
    const MAX: usize = 255;

    /// Removes the path and invisible characters. Refuses an empty name and an unsupported extension.
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let last = raw.rsplit(['/', '\\']).next().unwrap_or_default();
        let shown: String = last.chars().filter(|c| !is_invisible(*c)).collect();
        let shown = shown.trim();
        if shown.is_empty() {
            let text = "The file must have a name, such as notes.txt";
            return Err(vec![Reason::new(Code::FileName, text)]);
        }
        let (stem, extension) = shown.rsplit_once('.').unwrap_or((shown, ""));
        if FileKind::of_extension(&extension.to_ascii_lowercase()).is_none() {
            let text = format!("The file extension must be one of {}", EXTENSIONS.join(" "));
            return Err(vec![Reason::new(Code::FileExtension, text)]);
        }
        let stem = match stem.trim().trim_start_matches('.') {
            "" => "file",
            stem => stem,
        };
        let mut end = stem.len().min(Self::MAX - 1 - extension.len());
        while !stem.is_char_boundary(end) {
            end -= 1;
        }
        Ok(Self(format!("{}.{extension}", &stem[..end])))
    }

    /// The name from a database row, if it is valid. If an earlier build stored a name that is invalid today,
    /// the name is cleaned again.
    pub fn checked(raw: String) -> Option<Self> {
        let is_refused = |c: char| matches!(c, '/' | '\\') || is_invisible(c);
        let (_, extension) = raw.rsplit_once('.')?;
        let is_known = FileKind::of_extension(&extension.to_ascii_lowercase()).is_some();
        match is_known && raw.len() <= Self::MAX && !raw.contains(is_refused) {
            true => Some(Self(raw)),
            false => Self::parse(&raw).ok(),
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn kind(&self) -> FileKind {
        let extension = self.0.rsplit('.').next().unwrap_or_default();
        FileKind::of_extension(&extension.to_ascii_lowercase()).unwrap_or(FileKind::Text)
    }
}

/// Whether a character is a control character, changes the text direction or has no width. A name with such
/// characters could look like another name.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{61c}' | '\u{ad}')
        || matches!(c, '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_only_visible_characters() {
        for (raw, name) in [
            ("notes.txt", "notes.txt"),
            ("../../etc/passwd.txt", "passwd.txt"),
            (r"C:\Users\ada\shot.PNG", "shot.PNG"),
            ("a\u{202e}gnp.txt", "agnp.txt"),
            ("a\r\nb\0.pdf", "ab.pdf"),
            (".png", "file.png"),
            ("...png", "file.png"),
            ("  spaced .txt ", "spaced.txt"),
            ("Grüße 你好.txt", "Grüße 你好.txt"),
            ("<script>.txt", "<script>.txt"),
        ] {
            assert_eq!(FileName::parse(raw).unwrap().as_str(), name, "{raw:?}");
        }
        let long = FileName::parse(&format!("{}.jpeg", "ä".repeat(10_000))).unwrap();
        assert!(long.as_str().len() <= 255 && long.as_str().ends_with("ä.jpeg"));
    }

    #[test]
    fn only_the_last_extension_counts_and_ten_extensions_are_accepted() {
        for bad in [
            "x.png.html",
            "x",
            "x.",
            "x.exe",
            "png",
            "x.txt/",
            "x.txt.",
            "x.svg",
        ] {
            assert!(FileName::parse(bad).is_err(), "{bad}");
        }
        for extension in EXTENSIONS {
            assert!(FileName::parse(&format!("x{}", extension.to_uppercase())).is_ok());
        }
    }

    #[test]
    fn content_must_match_the_extension() {
        let content_of = |bytes: &[u8]| {
            let mut content = Content::default();
            content.update(bytes);
            content
        };
        let png = content_of(b"\x89PNG\r\n\x1a\n\0\0");
        assert!(FileKind::Png.check(&png).is_ok());
        for other in [
            FileKind::Gif,
            FileKind::Jpeg,
            FileKind::Tiff,
            FileKind::Pdf,
            FileKind::Text,
        ] {
            assert!(other.check(&png).is_err(), "{other:?}");
        }
        assert!(FileKind::Text.check(&content_of(b"<html>")).is_ok());
        assert!(FileKind::Text.check(&content_of(b"\xff\xfeh\0i\0")).is_ok());
        assert!(FileKind::Pdf.check(&content_of(b"junk\n%PDF-1.7")).is_ok());
        assert!(FileKind::Png.check(&content_of(b"<html>")).is_err());
    }
}
