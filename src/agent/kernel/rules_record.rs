//! Which rules an nftables listing belongs to (decision 0030).

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::agent::kernel_state::Table;
use crate::agent::names::{Namespace, Prefix};

/// The rules that the agent wrote, by namespace and family.
#[derive(Default, Serialize, Deserialize)]
pub struct RulesRecord(BTreeMap<String, Entry>);

#[derive(Serialize, Deserialize)]
struct Entry {
    /// The SHA-256 of the listing after the rules were written.
    listing: String,
    text: String,
}

impl RulesRecord {
    /// A missing or damaged file is an empty record.
    pub fn read(file: &Path) -> Self {
        let text = fs::read(file).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    pub fn write(&self, file: &Path) -> io::Result<()> {
        let temporary = file.with_extension("new");
        fs::write(&temporary, serde_json::to_vec(self)?)?;
        fs::rename(temporary, file)
    }

    /// The text of the rules that have this listing.
    pub fn text(&self, key: &str, listing: &[u8]) -> Option<&str> {
        let entry = self.0.get(key)?;
        (entry.listing == digest(listing)).then_some(entry.text.as_str())
    }

    pub fn set(&mut self, key: String, listing: &[u8], text: &str) {
        let entry = Entry {
            listing: digest(listing),
            text: text.to_owned(),
        };
        self.0.insert(key, entry);
    }

    pub fn remove(&mut self, key: &str) {
        self.0.remove(key);
    }
}

/// The key of a table.
pub fn record_key(prefix: &Prefix, at: Namespace, table: Table) -> String {
    format!("{}/{}", at.name(prefix).unwrap_or_default(), table.family())
}

fn digest(listing: &[u8]) -> String {
    let digest = Sha256::digest(listing);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
