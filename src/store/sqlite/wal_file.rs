//! Reads the file of SQLite's write-ahead log (WAL), and verifies its checksums.
//!
//! The format is documented by SQLite ("The WAL File Format"): a header of 32 bytes, then frames with a header of 24
//! bytes and a page. The checksum of a frame also covers all frames before it.

use std::fs::File;
use std::io::{ErrorKind, Result};
use std::os::unix::fs::FileExt;
use std::path::Path;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
/// The first four bytes of a WAL, without the lowest bit. The lowest bit shows the byte order of the checksums.
const MAGIC: u32 = 0x377f_0682;
/// The size of the buffer for scanning frames.
const SCAN_BYTES: usize = 1024 * 1024;

type Checksum = [u32; 2];

/// An open WAL with a valid header.
pub struct WalFile {
    file: File,
    pub page_size: u32,
    pub salts: [u32; 2],
    /// The checksum of the header.
    pub checksum: Checksum,
    is_big_endian: bool,
}

/// The fields of a frame's header.
pub struct FrameHeader {
    pub page: u32,
    /// The size of the database in pages if the frame ends a commit, otherwise 0.
    pub commit_pages: u32,
    pub salts: [u32; 2],
    pub checksum: Checksum,
}

impl FrameHeader {
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            page: word(bytes, 0)?,
            commit_pages: word(bytes, 1)?,
            salts: [word(bytes, 2)?, word(bytes, 3)?],
            checksum: [word(bytes, 4)?, word(bytes, 5)?],
        })
    }
}

/// The frames in a buffer: their headers and pages. A partial frame at the end is omitted.
pub fn frames(bytes: &[u8], page_size: u32) -> impl Iterator<Item = (FrameHeader, &[u8])> {
    let frames = bytes.chunks_exact(frame_bytes(page_size));
    frames.filter_map(|frame| Some((FrameHeader::parse(frame)?, &frame[FRAME_HEADER_BYTES..])))
}

pub fn frame_bytes(page_size: u32) -> usize {
    FRAME_HEADER_BYTES + page_size as usize
}

impl WalFile {
    /// Opens a WAL. `None` if it does not exist, or has no valid header yet.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(cause) if cause.kind() == ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(cause),
        };
        let mut header = [0; HEADER_BYTES];
        match file.read_exact_at(&mut header, 0) {
            Ok(()) => Ok(Self::parse(file, &header)),
            Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(cause) => Err(cause),
        }
    }

    fn parse(file: File, header: &[u8]) -> Option<Self> {
        let magic = word(header, 0)?;
        let page_size = word(header, 2)?;
        let wal = Self {
            file,
            page_size,
            salts: [word(header, 4)?, word(header, 5)?],
            checksum: [word(header, 6)?, word(header, 7)?],
            is_big_endian: magic & 1 == 1,
        };
        let is_valid = magic & !1 == MAGIC
            && page_size.is_power_of_two()
            && (512..=65_536).contains(&page_size)
            && wal.add([0, 0], &header[..24]) == wal.checksum;
        is_valid.then_some(wal)
    }

    /// The number of frames up to the last complete commit, given a position in the WAL.
    pub fn committed_frames(&self, from: u32, checksum: Checksum) -> Result<u32> {
        let (mut committed, mut position, mut checksum) = (from, from, checksum);
        let size = frame_bytes(self.page_size);
        let mut buffer = vec![0; (SCAN_BYTES / size).max(1) * size];
        loop {
            let read = self.read_at(&mut buffer, position)?;
            let mut frames = buffer[..read].chunks_exact(size);
            if frames.len() == 0 {
                return Ok(committed);
            }
            for frame in &mut frames {
                let Some(header) = FrameHeader::parse(frame) else {
                    return Ok(committed);
                };
                checksum = self.add(checksum, &frame[..8]);
                checksum = self.add(checksum, &frame[FRAME_HEADER_BYTES..]);
                if header.salts != self.salts || header.checksum != checksum {
                    return Ok(committed);
                }
                position += 1;
                if header.commit_pages > 0 {
                    committed = position;
                }
            }
        }
    }

    /// Reads frames that exist.
    pub fn read_frames(&self, skipped: u32, count: u32) -> Result<Vec<u8>> {
        let mut frames = vec![0; count as usize * frame_bytes(self.page_size)];
        self.file.read_exact_at(&mut frames, self.offset(skipped))?;
        Ok(frames)
    }

    /// The stored checksum after a number of frames. `None` if the WAL is shorter.
    pub fn checksum_after(&self, frames: u32) -> Result<Option<Checksum>> {
        let Some(skipped) = frames.checked_sub(1) else {
            return Ok(Some(self.checksum));
        };
        let mut bytes = [0; FRAME_HEADER_BYTES];
        match self.file.read_exact_at(&mut bytes, self.offset(skipped)) {
            Ok(()) => {
                let header = FrameHeader::parse(&bytes).filter(|header| header.salts == self.salts);
                Ok(header.map(|header| header.checksum))
            }
            Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(cause) => Err(cause),
        }
    }

    /// Reads as many bytes as exist, up to the size of the buffer.
    fn read_at(&self, buffer: &mut [u8], skipped: u32) -> Result<usize> {
        let (offset, mut filled) = (self.offset(skipped), 0);
        while filled < buffer.len() {
            match self.file.read_at(&mut buffer[filled..], offset + filled as u64)? {
                0 => break,
                read => filled += read,
            }
        }
        Ok(filled)
    }

    fn offset(&self, frames: u32) -> u64 {
        HEADER_BYTES as u64 + u64::from(frames) * frame_bytes(self.page_size) as u64
    }

    fn add(&self, [mut first, mut second]: Checksum, bytes: &[u8]) -> Checksum {
        let number = |bytes: [u8; 4]| match self.is_big_endian {
            true => u32::from_be_bytes(bytes),
            false => u32::from_le_bytes(bytes),
        };
        for pair in bytes.chunks_exact(8) {
            let left = number([pair[0], pair[1], pair[2], pair[3]]);
            let right = number([pair[4], pair[5], pair[6], pair[7]]);
            first = first.wrapping_add(left).wrapping_add(second);
            second = second.wrapping_add(right).wrapping_add(first);
        }
        [first, second]
    }
}

/// A big-endian number in a header, by its index.
fn word(bytes: &[u8], index: usize) -> Option<u32> {
    let bytes = bytes.get(index * 4..index * 4 + 4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}
