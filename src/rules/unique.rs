//! Maps violated unique constraints to field errors.
//!
//! Rules check for conflicts before they write, so a constraint is violated only if a rule has missed a
//! conflict. The caller then gets the error that the rule would have returned, on both engines.

use super::error::FieldError;
use crate::model::reason::{Code, Reason};

/// Constraints on values that callers choose: the name in the engine's message, the field, the error code and
/// the error text.
const INDEXES: [(&str, &str, Code, &str); 8] = [
    (
        "vpc_label",
        "label",
        Code::LabelTaken,
        "Label must be unique among your VPCs",
    ),
    (
        "subnet_label",
        "label",
        Code::LabelTaken,
        "Label must be unique among your VPC's subnets",
    ),
    (
        "instance_label",
        "label",
        Code::LabelTaken,
        "Label must be unique among your Linodes",
    ),
    (
        "canned_reply_label",
        "label",
        Code::LabelTaken,
        "Label must be unique among the canned replies",
    ),
    (
        "app_user_username",
        "username",
        Code::UsernameTaken,
        "Username is taken",
    ),
    // The ranges of subnets. The message of SQLite has the columns. The message of PostgreSQL has the name of
    // the index or of the exclusion constraint.
    ("subnet.first_address", "ipv4", Code::CidrOverlap, OVERLAPS),
    ("subnet_range", "ipv4", Code::CidrOverlap, OVERLAPS),
    ("subnet_no_overlap", "ipv4", Code::CidrOverlap, OVERLAPS),
];
const OVERLAPS: &str = "overlaps another subnet of this VPC";

/// The field error for the engine's message about a violated constraint. `None` if the constraint is not in
/// `INDEXES`.
pub fn refusal(message: &str) -> Option<FieldError> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let mut words = message.split(|c| !is_name(c));
    let found = words.find_map(|word| INDEXES.iter().find(|(index, ..)| *index == word));
    found.map(|(_, field, code, text)| FieldError::on(*field, Reason::new(*code, *text)))
}

#[cfg(test)]
mod tests {
    use crate::cli::{Settings, policy_of};
    use crate::model::reason::Code;
    use crate::model::staff_role::StaffRole;
    use crate::model::user::{Email, Membership, NewUser, Username};
    use crate::rules::error::Error;
    use crate::store::context::{Clock, RandomSource, StoreContext};
    use crate::store::{self, Store};

    #[tokio::test]
    async fn a_constraint_violation_that_a_rule_missed_is_a_field_error() {
        let folder = std::env::temp_dir().join(format!("garth-unique-{}", std::process::id()));
        let context = StoreContext {
            clock: Clock::System,
            random: RandomSource::System,
            policy: policy_of(&Settings::default()).unwrap().into(),
        };
        let store = Store::open_embedded(&folder, context).unwrap();
        let user = |name: &str| NewUser {
            membership: Membership::Staff(StaffRole::Admin),
            username: Username::parse(name).unwrap(),
            email: Email::parse("ada@example.com").unwrap(),
            restricted: false,
            password: None,
        };
        let (first, second) = (user("ada"), user("ADA"));
        let write = store.write(move |tx| {
            store::users::insert(tx, &first)?;
            store::users::insert(tx, &second)?;
            Ok::<_, Error>(())
        });
        match write.await {
            Err(Error::Refused(errors)) => {
                assert_eq!(errors[0].field.as_deref(), Some("username"));
                assert_eq!(errors[0].code, Code::UsernameTaken);
            }
            other => panic!("{other:?}"),
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_messages_of_both_engines_name_the_index() {
        for (message, field) in [
            ("UNIQUE constraint failed: index 'vpc_label'", "label"),
            (
                "UNIQUE constraint failed: subnet.vpc, subnet.first_address",
                "ipv4",
            ),
            (
                "duplicate key value violates unique constraint \"app_user_username\" (23505)",
                "username",
            ),
            (
                "conflicting key value violates exclusion constraint \"subnet_no_overlap\" (23P01)",
                "ipv4",
            ),
        ] {
            let refusal = super::refusal(message).unwrap();
            assert_eq!(refusal.field.as_deref(), Some(field), "{message}");
        }
        assert_eq!(super::refusal("FOREIGN KEY constraint failed"), None);
    }
}
