//! Users of accounts and members of the provider's staff.

use md5::{Digest, Md5};

use crate::model::grant::{Global, Permission};
use crate::model::id::{AccountId, UserId};
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::staff_role::StaffRole;
use crate::model::time::Time;
use crate::model::token::hex;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct User {
    pub id: UserId,
    /// `None` for the provider's staff.
    pub account: Option<AccountId>,
    pub username: Username,
    pub email: Email,
    /// `None` for users of accounts.
    pub role: Option<StaffRole>,
    /// Whether the provider has disabled the user. A disabled user has no access.
    pub disabled: bool,
    /// A restricted user only has the permissions in its grants.
    pub restricted: bool,
    pub account_access: Option<Permission>,
    pub globals: Vec<Global>,
    pub created: Time,
    pub timezone: String,
    pub email_notifications: bool,
    pub lish_auth_method: String,
    pub authorized_keys: Option<String>,
    /// The labels of its SSH keys.
    pub ssh_keys: Vec<String>,
    pub password_created: Option<Time>,
    pub last_login: Option<Login>,
}

impl User {
    /// Whether the user is a member of staff.
    pub fn is_staff(&self) -> bool {
        self.account.is_none()
    }
}

/// The last attempt to log in, and its result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Login {
    pub at: Time,
    pub status: String,
}

/// 3 to 32 ASCII letters, digits, dashes and underscores; a letter or digit at both ends; no two dashes or
/// underscores in a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Username(String);

impl Username {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        if Self::is_valid(raw) {
            return Ok(Self(raw.to_owned()));
        }
        let text = "Must be 3 to 32 ASCII letters, numbers, dashes and underscores, \
                    with a letter or number at both ends and no two dashes or underscores in a row";
        Err(vec![Reason::new(Code::UsernameInvalid, text)])
    }

    /// The username from a database row, if it is valid.
    pub fn checked(raw: String) -> Option<Self> {
        Self::is_valid(&raw).then_some(Self(raw))
    }

    fn is_valid(raw: &str) -> bool {
        let is_mark = |c: char| c == '-' || c == '_';
        let has_marks_in_a_row = || {
            raw.as_bytes()
                .windows(2)
                .any(|two| two.iter().all(|b| is_mark(*b as char)))
        };
        (3..=32).contains(&raw.len())
            && raw.chars().all(|c| c.is_ascii_alphanumeric() || is_mark(c))
            && !raw.starts_with(is_mark)
            && !raw.ends_with(is_mark)
            && !has_marks_in_a_row()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An e-mail address: one `@` with text on both sides, without spaces.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Email(String);

impl Email {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        if Self::is_valid(raw) {
            return Ok(Self(raw.to_owned()));
        }
        let text = "Must be an e-mail address, such as ada@example.com";
        Err(vec![Reason::new(Code::EmailInvalid, text)])
    }

    /// The address from a database row, if it is valid.
    pub fn checked(raw: String) -> Option<Self> {
        Self::is_valid(&raw).then_some(Self(raw))
    }

    fn is_valid(raw: &str) -> bool {
        let is_short = raw.chars().count() <= 254;
        let has_spaces = raw.chars().any(|c| c.is_whitespace() || c.is_control());
        let parts = raw.split_once('@');
        is_short
            && !has_spaces
            && parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty() && !host.contains('@'))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Email {
    pub fn gravatar_id(&self) -> String {
        gravatar_id(&self.0)
    }
}

/// The Gravatar ID of an address: the MD5 of the lower-case address. An empty address also has an ID.
pub fn gravatar_id(address: &str) -> String {
    hex(&Md5::digest(address.trim().to_lowercase().as_bytes()))
}

/// A user without the fields that a log-in changes, so that a log-in does not make an open form stale.
/// The hash of this value always differs from the hash of the `User`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WithoutLogin(&'static str, User);

impl User {
    pub fn without_login(&self) -> WithoutLogin {
        let user = Self {
            last_login: None,
            ..self.clone()
        };
        WithoutLogin("without last login", user)
    }
}

/// The account of a user, or the role of a member of staff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Membership {
    Account(AccountId),
    Staff(StaffRole),
}

impl Membership {
    pub fn account(self) -> Option<AccountId> {
        match self {
            Membership::Account(account) => Some(account),
            Membership::Staff(_) => None,
        }
    }

    pub fn role(self) -> Option<StaffRole> {
        match self {
            Membership::Account(_) => None,
            Membership::Staff(role) => Some(role),
        }
    }
}

#[derive(Clone, Debug)]
pub struct NewUser {
    pub membership: Membership,
    pub username: Username,
    pub email: Email,
    pub restricted: bool,
    /// The argon2id hash of the password, if there is one.
    pub password: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usernames_follow_the_rules_of_the_public_service() {
        for good in ["ada", "a-b", "ada_lovelace", "x9x", &"a".repeat(32)] {
            assert!(Username::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "ab",
            "-ada",
            "ada-",
            "a--b",
            "a_-b",
            "ädä",
            "a b",
            &"a".repeat(33),
        ] {
            assert!(Username::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_gravatar_id_ignores_case() {
        let id = "0bc83cb571cd1c50ba6f3e8a78ef1346";
        assert_eq!(gravatar_id(" MyEmailAddress@example.com "), id);
        assert_eq!(
            Email::parse("myemailaddress@Example.com").unwrap().gravatar_id(),
            id
        );
    }

    #[test]
    fn an_email_needs_text_on_both_sides() {
        assert!(Email::parse("ada@example.com").is_ok());
        for bad in ["", "ada", "@example.com", "ada@", "a@b@c", "a b@c"] {
            assert!(Email::parse(bad).is_err(), "{bad}");
        }
    }
}
