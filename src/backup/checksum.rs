//! Readers and writers that compute the SHA-256 of the bytes that pass through them.

use std::io::{BufRead, Read, Write};

use sha2::{Digest, Sha256};

use crate::model::token::hex;

/// Hashes and counts the bytes that are written or read.
pub struct Hashing<T> {
    pub inner: T,
    hash: Sha256,
    pub bytes: u64,
}

impl<T> Hashing<T> {
    pub fn new(inner: T) -> Self {
        Self {
            inner,
            hash: Sha256::new(),
            bytes: 0,
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.bytes += bytes.len() as u64;
    }

    /// The SHA-256 of all bytes so far.
    pub fn sha256(&self) -> [u8; 32] {
        self.hash.clone().finalize().into()
    }

    /// The SHA-256 of all bytes so far, as 64 hexadecimal digits.
    pub fn sha256_hex(&self) -> String {
        hex(&self.sha256())
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.add(&buffer[..read]);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Hashing<R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // The buffer is not empty, so this does not read.
        if let Ok(buffer) = self.inner.fill_buf() {
            let consumed = &buffer[..amount.min(buffer.len())];
            self.hash.update(consumed);
            self.bytes += consumed.len() as u64;
        }
        self.inner.consume(amount);
    }
}
