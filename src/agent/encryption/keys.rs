//! The private keys of this host, one for each generation. They never leave its folder.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use boringtun::x25519::{PublicKey, StaticSecret};

use crate::agent::state_folder::StateFolder;

pub const FILE_PREFIX: &str = "wireguard-";
pub const FILE_SUFFIX: &str = ".key";

fn file_name(generation: u32) -> String {
    format!("{FILE_PREFIX}{generation}{FILE_SUFFIX}")
}

pub fn load(folder: &StateFolder, generation: u32) -> io::Result<Option<StaticSecret>> {
    let Some(text) = folder.read_file(&file_name(generation))? else {
        return Ok(None);
    };
    let invalid = || {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "a private key is not 32 bytes in base64",
        )
    };
    let text = String::from_utf8(text).map_err(|_| invalid())?;
    bytes(&text).map(StaticSecret::from).map(Some).ok_or_else(invalid)
}

pub fn load_or_create(folder: &StateFolder, generation: u32) -> io::Result<StaticSecret> {
    if let Some(key) = load(folder, generation)? {
        return Ok(key);
    }
    let mut random = [0; 32];
    #[expect(
        clippy::disallowed_methods,
        reason = "an agent has no store, and tests need no fixed key"
    )]
    getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
    let key = StaticSecret::from(random);
    folder.replace(&file_name(generation), private_key(&key).as_bytes())?;
    Ok(key)
}

/// The private key in base64, as `wg genkey` prints it.
pub fn private_key(key: &StaticSecret) -> String {
    STANDARD.encode(key.to_bytes())
}

/// The public key in base64, as `wg pubkey` prints it.
pub fn public_key(key: &StaticSecret) -> String {
    STANDARD.encode(PublicKey::from(key).as_bytes())
}

/// The 32 bytes of a key in base64.
pub fn bytes(text: &str) -> Option<[u8; 32]> {
    STANDARD.decode(text.trim()).ok()?.try_into().ok()
}
