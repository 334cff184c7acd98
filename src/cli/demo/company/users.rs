//! The accounts and users of the demo.

use crate::cli::demo::builder::DemoBuilder;
use crate::cli::store_args::describe_error;
use crate::model::account::{QuotaChange, QuotaValue};
use crate::model::id::AccountId;
use crate::model::staff_role::StaffRole;
use crate::model::user::{Email, Membership, NewUser, Username};
use crate::rules;

/// The users, with descriptions of their roles.
pub const USERS: [(&str, &str); 7] = [
    ("mara", "Harbor Lane Coffee: full access"),
    ("jonas", "Harbor Lane Coffee: full access"),
    (
        "elif",
        "Harbor Lane Coffee: restricted, read/write on staging and read-only on production",
    ),
    (
        "accounting",
        "Harbor Lane Coffee: restricted, read-only on the account and its tickets",
    ),
    ("pia", "Tidewater Studio, another customer: full access"),
    ("sam", "provider's staff: admin"),
    ("noor", "provider's staff: support"),
];

/// Creates the accounts and their users; returns the roaster's account.
pub async fn create(
    builder: &DemoBuilder,
    password: &crate::model::token::Secret,
) -> anyhow::Result<AccountId> {
    let hash = rules::passwords::hash(password).map_err(describe_error)?;
    let email = |text: &str| Email::parse(text).expect("the demo's addresses are valid");
    let roaster = builder
        .write(move |tx| {
            let roaster = rules::accounts::create(tx, "Harbor Lane Coffee", &email("it@harborlane.example"))?;
            let studio = rules::accounts::create(tx, "Tidewater Studio", &email("studio@tidewater.example"))?;
            let mut user = |membership: Membership, username: &str, host: &str, restricted: bool| {
                let new = NewUser {
                    membership,
                    username: Username::parse(username).expect("the demo's usernames are valid"),
                    email: email(&format!("{username}@{host}.example")),
                    restricted,
                    password: Some(hash.clone()),
                };
                rules::users::create(tx, &new)
            };
            let of_roaster = Membership::Account(roaster.id);
            user(of_roaster, "mara", "harborlane", false)?;
            user(of_roaster, "jonas", "harborlane", false)?;
            user(of_roaster, "elif", "harborlane", true)?;
            user(of_roaster, "accounting", "harborlane", true)?;
            user(Membership::Account(studio.id), "pia", "tidewater", false)?;
            user(Membership::Staff(StaffRole::Admin), "sam", "provider", false)?;
            user(Membership::Staff(StaffRole::Support), "noor", "provider", false)?;
            // The quotas are low, so that the bars on the quota page are visible.
            let quota = QuotaChange {
                vpcs_per_region: Some(QuotaValue::Limit(5)),
                subnets_per_vpc: Some(QuotaValue::Limit(8)),
                attachment_bytes: None,
            };
            rules::accounts::set_quota(tx, roaster.id, quota)?;
            Ok(roaster.id)
        })
        .await?;
    Ok(roaster)
}
