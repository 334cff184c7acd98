//! The programs that a lab starts, and the Debian packages that have them.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use anyhow::ensure;

const PROGRAMS: [(&str, &str); 7] = [
    ("unshare", "util-linux"),
    ("nsenter", "util-linux"),
    ("mount", "mount"),
    ("ip", "iproute2"),
    ("bridge", "iproute2"),
    ("nft", "nftables"),
    ("ping", "iputils-ping"),
];

/// Debian has some of the programs outside of the search path of ordinary users.
const FOLDERS: &str = "/usr/sbin:/sbin:/usr/bin:/bin";

/// The search path with the folders of the system.
pub fn search_path() -> OsString {
    let mut path = std::env::var_os("PATH").unwrap_or_default();
    if !path.is_empty() {
        path.push(":");
    }
    path.push(FOLDERS);
    path
}

pub fn require_all() -> anyhow::Result<()> {
    let missing = missing(&search_path());
    let names: Vec<_> = missing.iter().map(|(program, _)| *program).collect();
    let mut packages: Vec<_> = missing.iter().map(|(_, package)| *package).collect();
    packages.dedup();
    ensure!(
        missing.is_empty(),
        "missing programs: {}. Install them, on Debian with: apt-get install {}",
        names.join(", "),
        packages.join(" ")
    );
    Ok(())
}

fn missing(path: &OsStr) -> Vec<(&'static str, &'static str)> {
    let folders: Vec<PathBuf> = std::env::split_paths(path).collect();
    let is_missing =
        |(program, _): &(&str, &str)| !folders.iter().any(|folder| folder.join(program).is_file());
    PROGRAMS.into_iter().filter(is_missing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_are_found_in_any_folder_of_the_path() {
        let folder = std::env::temp_dir().join(format!("garth-programs-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for program in ["unshare", "nsenter", "mount", "ping"] {
            std::fs::write(folder.join(program), "").unwrap();
        }
        let found = missing(OsStr::new(&format!("/nonexistent:{}", folder.display())));
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(
            found,
            [("ip", "iproute2"), ("bridge", "iproute2"), ("nft", "nftables")]
        );
    }
}
