//! The roles of the provider's staff.

use crate::model::reason::{Code, Reason, Reasons};

/// The role of a member of staff. A role includes the permissions of all lower roles (decision 0034).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StaffRole {
    /// Answers tickets, and reads accounts and hosts.
    Support,
    /// Also manages hosts, jobs, the quotas and the suspension of accounts, and announcements.
    Operator,
    /// Also manages staff, and creates and closes accounts.
    Admin,
}

impl StaffRole {
    pub const ALL: [StaffRole; 3] = [StaffRole::Support, StaffRole::Operator, StaffRole::Admin];

    pub const fn word(self) -> &'static str {
        match self {
            StaffRole::Support => "support",
            StaffRole::Operator => "operator",
            StaffRole::Admin => "admin",
        }
    }

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let found = Self::ALL.into_iter().find(|role| role.word() == raw);
        found.ok_or_else(|| {
            vec![Reason::not_one_of(
                Code::ChoiceInvalid,
                &Self::ALL.map(StaffRole::word),
            )]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_includes_the_lower_roles() {
        assert!(StaffRole::Support < StaffRole::Operator && StaffRole::Operator < StaffRole::Admin);
        for role in StaffRole::ALL {
            assert_eq!(StaffRole::parse(role.word()), Ok(role));
        }
        assert!(StaffRole::parse("owner").is_err());
    }
}
