//! The status of an account.

/// Whether the users of an account have access. The network of an account does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccountStatus {
    Active,
    /// Users have no access until the provider reactivates the account.
    Suspended,
    /// Users have no access. A closed account cannot be reactivated.
    Closed,
}

impl AccountStatus {
    pub const ALL: [AccountStatus; 3] = [
        AccountStatus::Active,
        AccountStatus::Suspended,
        AccountStatus::Closed,
    ];

    pub const fn word(self) -> &'static str {
        match self {
            AccountStatus::Active => "active",
            AccountStatus::Suspended => "suspended",
            AccountStatus::Closed => "closed",
        }
    }

    pub fn with_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.word() == word)
    }
}
