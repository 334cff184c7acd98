//! The dimensions in the header of an image, without decoding the image.

use crate::model::attachment::FileKind;

/// The width and the height of an image in pixels; `None` if the header is damaged, or if browsers do not show this
/// kind of file.
pub fn of(kind: FileKind, content: &[u8]) -> Option<(u32, u32)> {
    match kind {
        // The chunk IHDR is always the first one.
        FileKind::Png => Some((big_endian_u32(content, 16)?, big_endian_u32(content, 20)?)),
        FileKind::Gif => Some((little_endian_u16(content, 6)?, little_endian_u16(content, 8)?)),
        FileKind::Jpeg => jpeg_size(content),
        FileKind::Tiff | FileKind::Pdf | FileKind::Text => None,
    }
}

/// The dimensions in the first frame header of a JPEG image.
fn jpeg_size(content: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let marker = *content.get(at + 1)?;
        if content[at] != 0xff {
            return None;
        }
        match marker {
            // A fill byte before the marker.
            0xff => at += 1,
            // Huffman tables, extensions and arithmetic conditions have codes among those of frames.
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Some((big_endian_u16(content, at + 7)?, big_endian_u16(content, at + 5)?));
            }
            // The image data begins, or the image ends, without a frame.
            0xda | 0xd9 => return None,
            _ => {
                // A segment with its length, which includes the two bytes of the length.
                at += 2 + big_endian_u16(content, at + 2)?.max(2) as usize;
            }
        }
    }
}

fn big_endian_u32(content: &[u8], at: usize) -> Option<u32> {
    let bytes = content.get(at..at + 4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

fn big_endian_u16(content: &[u8], at: usize) -> Option<u32> {
    let bytes = content.get(at..at + 2)?;
    Some(u32::from(u16::from_be_bytes(bytes.try_into().ok()?)))
}

fn little_endian_u16(content: &[u8], at: usize) -> Option<u32> {
    let bytes = content.get(at..at + 2)?;
    Some(u32::from(u16::from_le_bytes(bytes.try_into().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_read_from_the_header() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\x01\0\x02\0\0\0\x07";
        assert_eq!(of(FileKind::Png, png), Some((65538, 7)));
        assert_eq!(of(FileKind::Gif, b"GIF89a\x05\x01\x04\0"), Some((261, 4)));
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc4\0\x03x\xff\xc2\0\x0b\x08\x01\x02\x03\x04";
        assert_eq!(of(FileKind::Jpeg, jpeg), Some((0x304, 0x102)));
    }

    #[test]
    fn damaged_headers_have_no_dimensions() {
        let jpegs: [&[u8]; 5] = [
            b"\xff\xd8",
            b"\xff\xd8\xff\xe0\xff\xff",
            b"\xff\xd8\xff\xe0\0\0\xff\xda\0\x04",
            b"\xff\xd8ab",
            b"\xff\xd8\xff\xc0\0\x0b\x08\x01",
        ];
        for jpeg in jpegs {
            assert_eq!(of(FileKind::Jpeg, jpeg), None, "{jpeg:?}");
        }
        assert_eq!(of(FileKind::Png, b"\x89PNG\r\n\x1a\n"), None);
        assert_eq!(of(FileKind::Gif, b"GIF89a\x05"), None);
        assert_eq!(of(FileKind::Text, b"words"), None);
    }
}
