//! The grants of restricted users, an OAuth client and tokens of the demo.

use std::collections::HashMap;

use serde_json::json;

use super::networks::Subnets;
use crate::cli::demo::builder::{Actor, DemoBuilder};
use crate::model::grant::{Global, Permission};
use crate::model::id::InstanceId;
use crate::rules;
use crate::rules::grants::Grant;

/// Creates the grants of restricted users, an OAuth client and tokens.
pub async fn create(
    builder: &DemoBuilder,
    mara: &Actor,
    subnets: &Subnets,
    instances: &HashMap<&'static str, InstanceId>,
) -> anyhow::Result<()> {
    let staging = subnets[&("staging".to_owned(), "all".to_owned())].0;
    let production = subnets[&("production".to_owned(), "web".to_owned())].0;
    let (first, second) = (instances["staging-1"], instances["staging-db"]);
    builder
        .write(move |tx| {
            let grants = [
                Grant::Vpc(staging, Permission::ReadWrite),
                Grant::Vpc(production, Permission::ReadOnly),
                Grant::Linode(first, Permission::ReadWrite),
                Grant::Linode(second, Permission::ReadOnly),
                Grant::Global(Global::AddLinodes),
            ];
            rules::grants::add(tx, "elif", &grants)?;
            rules::grants::add(tx, "accounting", &[Grant::AccountAccess(Permission::ReadOnly)])
        })
        .await?;
    let client =
        json!({"label": "Shop dashboard", "redirect_uri": "https://dashboard.harborlane.example/oauth"});
    builder.run(mara, client, rules::oauth_clients::create).await?;
    for (label, scopes) in [
        ("terraform", "vpc:read_write linodes:read_write ips:read_only"),
        ("address report", "ips:read_only"),
    ] {
        let token = json!({"label": label, "scopes": scopes});
        builder.run(mara, token, rules::tokens::create_own).await?;
        builder.advance(5.0);
    }
    Ok(())
}
