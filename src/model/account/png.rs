//! Checks a PNG image, and writes it again with only the chunks that define its pixels.
//!
//! The pixels are not decompressed. Comments, location data, animations and bytes after the image are removed.

pub const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
const MAX_PIXELS_PER_SIDE: u32 = 2048;
/// The chunks that remain (PNG specification, 11).
const ALLOWED_CHUNKS: [&[u8; 4]; 10] = [
    b"IHDR", b"PLTE", b"tRNS", b"cHRM", b"gAMA", b"sRGB", b"sBIT", b"bKGD", b"IDAT", b"IEND",
];

/// Returns the cleaned image. The error is a message for the user.
pub fn clean(file: &[u8]) -> Result<Vec<u8>, String> {
    let damaged = || "The PNG image is damaged".to_owned();
    let mut rest = file.strip_prefix(SIGNATURE).ok_or_else(damaged)?;
    let mut cleaned = SIGNATURE.to_vec();
    let mut kinds: Vec<[u8; 4]> = Vec::new();
    while kinds.last() != Some(b"IEND") {
        let (length, after) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
        let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| damaged())?;
        let kind = *after.first_chunk::<4>().ok_or_else(damaged)?;
        // The checksum covers the kind and the data.
        let covered = after.get(..length.saturating_add(4)).ok_or_else(damaged)?;
        let after = after.get(covered.len()..).ok_or_else(damaged)?;
        let (checksum, after) = after.split_first_chunk::<4>().ok_or_else(damaged)?;
        if u32::from_be_bytes(*checksum) != crc32(covered) {
            return Err(damaged());
        }
        if kinds.is_empty() {
            check_header(kind, covered.get(4..).unwrap_or_default())?;
        } else if &kind == b"IHDR" {
            return Err(damaged());
        }
        let is_critical = kind[0].is_ascii_uppercase();
        match ALLOWED_CHUNKS.contains(&&kind) {
            true => cleaned.extend_from_slice(&rest[..covered.len() + 8]),
            false if is_critical => return Err(damaged()),
            false => {}
        }
        kinds.push(kind);
        rest = after;
    }
    match kinds.contains(b"IDAT") {
        true => Ok(cleaned),
        false => Err(damaged()),
    }
}

/// Checks the first chunk: width, height, bit depth, color type, compression, filter and interlace.
fn check_header(kind: [u8; 4], data: &[u8]) -> Result<(), String> {
    let damaged = || "The PNG image is damaged".to_owned();
    let (width, rest) = data.split_first_chunk::<4>().ok_or_else(damaged)?;
    let (height, rest) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
    let is_valid = &kind == b"IHDR"
        && matches!(
            rest,
            [1 | 2 | 4 | 8 | 16, 0, 0, 0, 0 | 1]
                | [8 | 16, 2 | 4 | 6, 0, 0, 0 | 1]
                | [1 | 2 | 4 | 8, 3, 0, 0, 0 | 1]
        );
    if !is_valid {
        return Err(damaged());
    }
    let sides = [u32::from_be_bytes(*width), u32::from_be_bytes(*height)];
    match sides.iter().all(|side| (1..=MAX_PIXELS_PER_SIDE).contains(side)) {
        true => Ok(()),
        false => Err(format!(
            "The image has {} x {} pixels; each side must have 1 to {MAX_PIXELS_PER_SIDE}",
            sides[0], sides[1]
        )),
    }
}

/// The checksum of a chunk (PNG specification, annex D).
fn crc32(bytes: &[u8]) -> u32 {
    const POLYNOMIAL: u32 = 0xedb8_8320;
    let step = |crc: u32| (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg());
    let update = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc));
    !bytes.iter().fold(u32::MAX, update)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let covered = [kind.as_slice(), data].concat();
        let length = u32::try_from(data.len()).unwrap().to_be_bytes();
        [&length, covered.as_slice(), &crc32(&covered).to_be_bytes()].concat()
    }

    fn header(width: u32, height: u32, rest: [u8; 5]) -> Vec<u8> {
        let data = [&width.to_be_bytes()[..], &height.to_be_bytes(), &rest].concat();
        chunk(b"IHDR", &data)
    }

    fn image(chunks: &[Vec<u8>]) -> Vec<u8> {
        [SIGNATURE, &chunks.concat()].concat()
    }

    #[test]
    fn only_the_chunks_of_the_pixels_remain() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        let (first, pixels, end) = (
            header(2, 3, [8, 6, 0, 0, 0]),
            chunk(b"IDAT", b"x"),
            chunk(b"IEND", b""),
        );
        let comment = chunk(b"tEXt", b"Comment\0<script>");
        let file = image(&[first.clone(), comment, pixels.clone(), end.clone()]);
        let trailing = [file.as_slice(), b"<html>"].concat();
        assert_eq!(clean(&trailing).unwrap(), image(&[first, pixels, end]));
    }

    #[test]
    fn damaged_and_large_images_are_refused() {
        let first = || header(2, 3, [8, 6, 0, 0, 0]);
        let (pixels, end) = (|| chunk(b"IDAT", b"x"), || chunk(b"IEND", b""));
        let mut wrong_checksum = image(&[first(), pixels(), end()]);
        wrong_checksum[20] ^= 1;
        let mut long_chunk = image(&[first()]);
        long_chunk.extend([0xff; 12]);
        for damaged in [
            SIGNATURE.to_vec(),
            image(&[first(), end()]),
            image(&[first(), pixels()]),
            image(&[pixels(), first(), end()]),
            image(&[first(), first(), pixels(), end()]),
            image(&[header(2, 3, [8, 7, 0, 0, 0]), pixels(), end()]),
            image(&[header(2, 3, [16, 3, 0, 0, 0]), pixels(), end()]),
            image(&[first(), chunk(b"EVIL", b""), pixels(), end()]),
            wrong_checksum,
            long_chunk,
        ] {
            assert_eq!(clean(&damaged).unwrap_err(), "The PNG image is damaged");
        }
        let large = image(&[header(2049, 1, [8, 6, 0, 0, 0]), pixels(), end()]);
        assert!(clean(&large).unwrap_err().contains("2049 x 1"));
        let empty = image(&[header(0, 1, [8, 6, 0, 0, 0]), pixels(), end()]);
        assert!(clean(&empty).is_err());
    }
}
