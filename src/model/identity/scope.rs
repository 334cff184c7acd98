//! Scopes of tokens.

use crate::model::reason::{Code, Reason, Reasons};

/// The access level of a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    ReadOnly,
    ReadWrite,
}

/// A scope, such as `vpc:read_write`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    family: &'static str,
    level: Level,
}

/// All scope families. A token can have scopes of any family, although Garth has no operations for some
/// families.
const FAMILIES: [&str; 20] = [
    "account",
    "child_account",
    "databases",
    "desk",
    "domains",
    "events",
    "firewall",
    "hosts",
    "images",
    "ips",
    "linodes",
    "lke",
    "longview",
    "monitor",
    "nodebalancers",
    "object_storage",
    "provider",
    "stackscripts",
    "volumes",
    "vpc",
];

/// Old families that are now part of `account` and that clients still request.
const ACCOUNT_ALIASES: [&str; 5] = ["tokens", "clients", "users", "tickets", "managed"];

impl Scope {
    pub const VPC_READ_WRITE: Scope = Scope::new("vpc", Level::ReadWrite);
    pub const IPS_READ_ONLY: Scope = Scope::new("ips", Level::ReadOnly);
    pub const IPS_READ_WRITE: Scope = Scope::new("ips", Level::ReadWrite);
    pub const LINODES_READ_ONLY: Scope = Scope::new("linodes", Level::ReadOnly);
    pub const LINODES_READ_WRITE: Scope = Scope::new("linodes", Level::ReadWrite);
    pub const ACCOUNT_READ_ONLY: Scope = Scope::new("account", Level::ReadOnly);
    pub const ACCOUNT_READ_WRITE: Scope = Scope::new("account", Level::ReadWrite);
    pub const DESK_READ_ONLY: Scope = Scope::new("desk", Level::ReadOnly);
    pub const DESK_READ_WRITE: Scope = Scope::new("desk", Level::ReadWrite);
    pub const EVENTS_READ_ONLY: Scope = Scope::new("events", Level::ReadOnly);

    /// `family` must be one of `FAMILIES`.
    pub const fn new(family: &'static str, level: Level) -> Self {
        Self { family, level }
    }
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let level = match self.level {
            Level::ReadOnly => "read_only",
            Level::ReadWrite => "read_write",
        };
        write!(f, "{}:{level}", self.family)
    }
}

/// The scopes of a token.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scopes {
    Everything,
    Only(Vec<Scope>),
}

impl Scopes {
    /// Parses scopes that are separated by spaces or commas. `*` means full access. A family without a level
    /// means `read_write`.
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let words = raw.split([' ', ',']).filter(|word| !word.is_empty());
        let mut scopes: Vec<Scope> = Vec::new();
        for word in words {
            if word == "*" {
                return Ok(Scopes::Everything);
            }
            let scope = parse_scope(word).ok_or_else(|| unknown_scope(word))?;
            match scopes.iter_mut().find(|held| held.family == scope.family) {
                Some(held) => held.level = held.level.max(scope.level),
                None => scopes.push(scope),
            }
        }
        if scopes.is_empty() {
            let text = "Must name at least one scope, for example vpc:read_write, or * for all";
            return Err(vec![Reason::new(Code::ScopesInvalid, text)]);
        }
        scopes.sort_by_key(|scope| scope.family);
        Ok(Scopes::Only(scopes))
    }

    pub fn allow(&self, needed: Scope) -> bool {
        match self {
            Scopes::Everything => true,
            Scopes::Only(held) => held
                .iter()
                .any(|scope| scope.family == needed.family && scope.level >= needed.level),
        }
    }

    /// Whether `others` include all of these scopes.
    pub fn are_within(&self, others: &Scopes) -> bool {
        match self {
            Scopes::Everything => *others == Scopes::Everything,
            Scopes::Only(scopes) => scopes.iter().all(|scope| others.allow(*scope)),
        }
    }

    /// Each scope as text.
    pub fn words(&self) -> Vec<String> {
        match self {
            Scopes::Everything => vec!["*".to_owned()],
            Scopes::Only(held) => held.iter().map(Scope::to_string).collect(),
        }
    }
}

impl std::fmt::Display for Scopes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words().join(" "))
    }
}

fn parse_scope(word: &str) -> Option<Scope> {
    let (family, level) = word.split_once(':').unwrap_or((word, "*"));
    let family = if ACCOUNT_ALIASES.contains(&family) {
        "account"
    } else {
        family
    };
    let family = FAMILIES.into_iter().find(|known| *known == family)?;
    let level = match level {
        "read_only" | "view" => Level::ReadOnly,
        "read_write" | "*" | "create" | "modify" | "delete" => Level::ReadWrite,
        _ => return None,
    };
    Some(Scope { family, level })
}

fn unknown_scope(word: &str) -> Reasons {
    let word: String = word.chars().take(64).collect();
    let text = format!(
        "Unknown scope {word:?}; must be RESOURCE:read_only or RESOURCE:read_write, where RESOURCE is one of {}",
        FAMILIES.join(", ")
    );
    vec![Reason::new(Code::ScopesInvalid, text)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_scopes_are_parsed() {
        for (raw, written) in [
            ("*", "*"),
            ("vpc:read_write", "vpc:read_write"),
            ("vpc:* events", "events:read_write vpc:read_write"),
            ("vpc:read_only,ips:read_only", "ips:read_only vpc:read_only"),
            ("vpc:read_only vpc:read_write", "vpc:read_write"),
            ("tokens:view", "account:read_only"),
        ] {
            assert_eq!(Scopes::parse(raw).unwrap().to_string(), written, "{raw}");
        }
        for bad in ["", " ", "vpc:write", "vpcs:read_only", "vpc:read_only:x", "**"] {
            assert!(Scopes::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn read_write_includes_read_only_within_a_family() {
        let held = Scopes::parse("events:read_write vpc:read_only").unwrap();
        assert!(held.allow(Scope::EVENTS_READ_ONLY));
        assert!(!held.allow(Scope::VPC_READ_WRITE));
        assert!(!held.allow(Scope::IPS_READ_ONLY));
    }
}
