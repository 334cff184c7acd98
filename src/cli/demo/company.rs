//! The sample data of the demo: a coffee roaster with shops, its users, networks, instances and tickets.

mod access;
mod instances;
mod networks;
mod tickets;
pub mod users;

use super::builder::{Credentials, DemoBuilder};

/// Creates the sample data.
pub async fn create(builder: &DemoBuilder) -> anyhow::Result<Credentials> {
    let password = builder.password();
    let roaster = users::create(builder, &password).await?;
    let mara = builder.actor("mara", "laptop").await?;
    let jonas = builder.actor("jonas", "demo").await?;
    builder.advance(20.0);
    let subnets = networks::create(builder, &mara).await?;
    let instances = instances::create(builder, &jonas, &subnets).await?;
    access::create(builder, &mara, &subnets, &instances).await?;
    tickets::create(builder, roaster, &mara, &jonas, &instances).await?;
    builder.revoke(jonas).await?;
    Ok(Credentials {
        password,
        token: mara.token,
    })
}
