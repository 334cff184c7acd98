//! The time zones that the console offers.

/// The names of the zones in `zone.tab` of the time zone database, GMT and UTC, one on each line, sorted.
const NAMES: &str = include_str!("time_zones.txt");

pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.lines()
}

pub fn is_known(name: &str) -> bool {
    names().any(|known| known == name)
}

#[cfg(test)]
mod tests {
    use super::{is_known, names};

    #[test]
    fn the_names_are_sorted_and_have_no_duplicates() {
        let all: Vec<_> = names().collect();
        assert!(all.is_sorted_by(|a, b| a < b));
        assert!(is_known("Europe/Berlin") && is_known("UTC"));
        assert!(!is_known("Europe/Atlantis") && !is_known(""));
    }
}
