//! The sample data of the demo: a coffee roaster with shops, its users, networks, instances and tickets.

use std::collections::HashMap;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::builder::{Actor, Credentials, DemoBuilder};
use crate::cli::store_args::describe_error;
use crate::model::account::{QuotaChange, QuotaValue};
use crate::model::grant::{Global, Permission};
use crate::model::id::{AccountId, InstanceId, SubnetId, TicketId, VpcId};
use crate::model::region::Region;
use crate::model::user::{Email, NewUser, Username};
use crate::rules;
use crate::rules::grants::Grant;

/// The users, with descriptions of their roles.
pub const USERS: [(&str, &str); 7] = [
    ("mara", "Harbor Lane Coffee: full access, manages users"),
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
    ("sam", "provider's staff"),
    ("noor", "provider's staff"),
];

struct Network {
    label: &'static str,
    /// Index of the region among those that the demo uses.
    region: usize,
    description: &'static str,
    /// Label and range of each subnet.
    subnets: &'static [(&'static str, &'static str)],
}

const NETWORKS: [Network; 4] = [
    Network {
        label: "production",
        region: 0,
        description: "Web shop and roastery planning. Changes only with a ticket.",
        subnets: &[
            ("web", "10.10.0.0/24"),
            ("app", "10.10.1.0/25"),
            ("data", "10.10.2.0/26"),
            ("cache", "10.10.2.64/29"),
            ("batch", "10.10.16.0/20"),
        ],
    },
    Network {
        label: "staging",
        region: 0,
        description: "A smaller copy of production, for testing.",
        subnets: &[("all", "10.20.0.0/22"), ("data", "10.20.4.0/29")],
    },
    Network {
        label: "shops",
        region: 1,
        description: "Tills and cameras of the eleven shops, behind one gateway each.",
        subnets: &[
            ("tills", "172.16.0.0/20"),
            ("cameras", "172.16.32.0/23"),
            ("guests", "172.16.64.0/26"),
        ],
    },
    Network {
        label: "analytics",
        region: 2,
        description: "",
        subnets: &[("warehouse", "192.168.0.0/25"), ("notebooks", "192.168.1.0/27")],
    },
];

/// The instances: label, network, subnet, and further fields of the interface.
const INSTANCES: [(&str, &str, &str, &str); 17] = [
    (
        "web-1",
        "production",
        "web",
        r#"{"ipv4": {"vpc": "10.10.0.10", "nat_1_1": "any"}}"#,
    ),
    (
        "web-2",
        "production",
        "web",
        r#"{"ipv4": {"vpc": "10.10.0.11", "nat_1_1": "any"}}"#,
    ),
    ("web-3", "production", "web", "{}"),
    ("app-1", "production", "app", "{}"),
    ("app-2", "production", "app", "{}"),
    ("db-1", "production", "data", r#"{"ipv4": {"vpc": "10.10.2.10"}}"#),
    ("db-2", "production", "data", r#"{"ipv4": {"vpc": "10.10.2.11"}}"#),
    ("cache-1", "production", "cache", "{}"),
    ("cache-2", "production", "cache", "{}"),
    ("cache-3", "production", "cache", "{}"),
    (
        "runner-1",
        "production",
        "batch",
        r#"{"ip_ranges": ["10.10.24.0/24"]}"#,
    ),
    ("staging-1", "staging", "all", "{}"),
    ("staging-db", "staging", "data", "{}"),
    (
        "till-gateway",
        "shops",
        "tills",
        r#"{"ip_ranges": ["172.16.8.0/22"]}"#,
    ),
    ("camera-recorder", "shops", "cameras", "{}"),
    ("warehouse-1", "analytics", "warehouse", "{}"),
    ("notebook-1", "analytics", "notebooks", "{}"),
];

/// Creates the sample data.
pub async fn create(builder: &DemoBuilder) -> anyhow::Result<Credentials> {
    let password = builder.password();
    let roaster = users(builder, &password).await?;
    let mara = builder.actor("mara", "laptop").await?;
    let jonas = builder.actor("jonas", "demo").await?;
    builder.advance(20.0);
    let subnets = networks(builder, &mara).await?;
    let instances = instances(builder, &jonas, &subnets).await?;
    access(builder, &mara, &subnets, &instances).await?;
    tickets(builder, roaster, &mara, &jonas, &instances).await?;
    builder.revoke(jonas).await?;
    Ok(Credentials {
        password,
        token: mara.token,
    })
}

/// Creates the accounts and their users; returns the roaster's account.
async fn users(builder: &DemoBuilder, password: &crate::model::token::Secret) -> anyhow::Result<AccountId> {
    let hash = rules::passwords::hash(password).map_err(describe_error)?;
    let email = |text: &str| Email::parse(text).expect("the demo's addresses are valid");
    let roaster = builder
        .write(move |tx| {
            let roaster = rules::accounts::create(tx, "Harbor Lane Coffee", &email("it@harborlane.example"))?;
            let studio = rules::accounts::create(tx, "Tidewater Studio", &email("studio@tidewater.example"))?;
            let mut user = |account: Option<AccountId>, username: &str, host: &str, restricted: bool| {
                let new = NewUser {
                    account,
                    username: Username::parse(username).expect("the demo's usernames are valid"),
                    email: email(&format!("{username}@{host}.example")),
                    restricted,
                    password: Some(hash.clone()),
                };
                rules::users::create(tx, &new)
            };
            let own = Some(roaster.id);
            user(own, "mara", "harborlane", false)?;
            user(own, "jonas", "harborlane", false)?;
            user(own, "elif", "harborlane", true)?;
            user(own, "accounting", "harborlane", true)?;
            user(Some(studio.id), "pia", "tidewater", false)?;
            user(None, "sam", "provider", false)?;
            user(None, "noor", "provider", false)?;
            // Low enough that the bars on the quota page are visible.
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

type Subnets = HashMap<(String, String), (VpcId, SubnetId)>;

async fn networks(builder: &DemoBuilder, mara: &Actor) -> anyhow::Result<Subnets> {
    let mut created = HashMap::new();
    for Network {
        label,
        region,
        description,
        subnets,
    } in NETWORKS
    {
        let subnets: Vec<Value> = subnets
            .iter()
            .map(|(label, range)| json!({"label": label, "ipv4": range}))
            .collect();
        let body = json!({
            "label": label, "region": region_of(builder, region)?, "description": description, "subnets": subnets,
        });
        let vpc = builder.run(mara, body, rules::vpcs::create).await?;
        for subnet in &vpc.subnets {
            let key = (label.to_owned(), subnet.label.as_str().to_owned());
            created.insert(key, (vpc.id, subnet.id));
        }
        builder.advance(3.5);
    }
    Ok(created)
}

/// A region of the provider. With fewer regions than indexes, the regions repeat.
fn region_of(builder: &DemoBuilder, index: usize) -> anyhow::Result<String> {
    let is_usable =
        |region: &&Region| region.has_capability(Region::VPCS) && region.has_capability("Linodes");
    let mut regions: Vec<_> = builder.policy().regions.iter().filter(is_usable).collect();
    ensure!(
        !regions.is_empty(),
        "no region has the capabilities for both VPCs and instances"
    );
    // Prefer three regions on different continents.
    let is_preferred = |region: &&Region| ["eu-central", "us-east", "ap-south"].contains(&region.id.as_str());
    regions.sort_by_key(|region| !is_preferred(region));
    Ok(regions[index % regions.len()].id.clone())
}

async fn instances(
    builder: &DemoBuilder,
    jonas: &Actor,
    subnets: &Subnets,
) -> anyhow::Result<HashMap<&'static str, InstanceId>> {
    let plan = builder
        .policy()
        .plans
        .first()
        .context("the settings have no instance types")?
        .id
        .clone();
    let image = builder.policy().images.first().map(|image| image.id.clone());
    let mut created = HashMap::new();
    for (label, vpc, subnet, more) in INSTANCES {
        let (_, id) = subnets[&(vpc.to_owned(), subnet.to_owned())];
        let network = NETWORKS.iter().find(|network| network.label == vpc);
        let region = network.map_or(0, |network| network.region);
        let mut interface: Value = serde_json::from_str(more)?;
        interface["purpose"] = json!("vpc");
        interface["subnet_id"] = json!(id.0);
        interface["primary"] = json!(true);
        let mut body = json!({
            "label": label, "region": region_of(builder, region)?, "type": plan, "tags": [vpc], "booted": true,
            "interfaces": [interface],
        });
        if let Some(image) = &image {
            body["image"] = json!(image);
            body["root_pass"] = json!(builder.password().reveal());
        }
        let instance = builder.run(jonas, body, rules::instances::create).await?;
        created.insert(label, instance.id);
        builder.advance(1.7);
    }
    let stopped = created["staging-1"];
    builder
        .run(jonas, json!({}), move |tx, caller, request| {
            rules::power::shutdown(tx, caller, stopped, request)
        })
        .await?;
    let (instance, app) = (
        created["app-1"],
        subnets[&("production".to_owned(), "app".to_owned())].1,
    );
    let rescue = json!({"label": "rescue", "interfaces": [{"purpose": "public"}, {"purpose": "vpc", "subnet_id": app.0}]});
    builder
        .run(jonas, rescue, move |tx, caller, request| {
            rules::configs::create(tx, caller, instance, request)
        })
        .await?;
    Ok(created)
}

/// Creates the grants of restricted users, an OAuth client and tokens.
async fn access(
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

async fn tickets(
    builder: &DemoBuilder,
    roaster: AccountId,
    mara: &Actor,
    jonas: &Actor,
    instances: &HashMap<&'static str, InstanceId>,
) -> anyhow::Result<()> {
    let elif = builder.actor("elif", "demo").await?;
    let pia = builder.actor("pia", "demo").await?;
    let canned = canned(builder).await?;
    closed_question(builder, mara).await?;
    closed_invoice(builder, &pia, canned).await?;
    urgent_ticket(builder, jonas, instances["db-1"]).await?;
    maintenance_notice(builder, roaster).await?;
    open_tickets(builder, &pia, &elif, instances["staging-db"]).await?;
    builder.revoke(elif).await?;
    builder.revoke(pia).await
}

/// A question of the roaster, answered and closed.
async fn closed_question(builder: &DemoBuilder, mara: &Actor) -> anyhow::Result<()> {
    let question = open_ticket(
        builder,
        mara,
        json!({
            "summary": "How many subnets can one VPC have?",
            "description": "We plan **eleven shops** with three subnets each. Is that one VPC, or several?",
        }),
    )
    .await?;
    builder.advance(4.0);
    reply_as_staff(builder, "sam", question, json!({"description":
        "One VPC is enough once your quota is raised. Until then:\n\n1. Keep the tills in one subnet.\n2. Assign each shop a \
         *range* within that subnet (set `ip_ranges` on the shop's gateway).\n\nShall we raise the quota?"})).await?;
    builder.advance(20.0);
    reply_as_user(
        builder,
        mara,
        question,
        "Not necessary, we will use ranges. Thank you!",
    )
    .await?;
    builder
        .run(mara, json!({}), move |tx, caller, request| {
            rules::tickets::close(tx, caller, question, request)
        })
        .await?;
    builder.advance(70.0);
    Ok(())
}

/// A closed ticket of another customer.
async fn closed_invoice(builder: &DemoBuilder, pia: &Actor, canned: i64) -> anyhow::Result<()> {
    let invoice = open_ticket(
        builder,
        pia,
        json!({
            "summary": "Our address on the invoice has changed",
            "description": "Please use **Tidewater Studio, 4 Quay Street** from now on.",
        }),
    )
    .await?;
    builder.advance(2.0);
    act_as_staff(builder, "noor", invoice, json!({}), rules::desk::claim).await?;
    reply_as_staff(builder, "noor", invoice, json!({"canned_reply_id": canned})).await?;
    act_as_staff(builder, "noor", invoice, json!({}), rules::desk::close).await?;
    builder.advance(90.0);
    Ok(())
}

/// An urgent ticket, with files and a note.
async fn urgent_ticket(builder: &DemoBuilder, jonas: &Actor, database: InstanceId) -> anyhow::Result<()> {
    let slow = open_ticket(builder, jonas, json!({
        "summary": "db-1 has been losing packets to the cache since last night",
        "description": "Since about 02:00 UTC every third connection from `db-1` to `cache-2` times out.\n\n- the other \
                        caches are fine\n- rebooting `cache-2` did not help\n\n```\n$ ping -c 100 10.10.2.67\n100 packets \
                        transmitted, 68 received, 32% packet loss\n```\n\nA trace is attached.",
        "linode_id": database.0,
    })).await?;
    builder.attach(jonas, slow, "trace.txt", TRACE).await?;
    builder.attach(jonas, slow, "routes.txt", ROUTES).await?;
    builder.advance(0.4);
    act_as_staff(builder, "sam", slow, json!({}), rules::desk::claim).await?;
    act_as_staff(
        builder,
        "sam",
        slow,
        json!({"priority": "high"}),
        rules::desk::update,
    )
    .await?;
    act_as_staff(builder, "sam", slow, json!({"description": "Same rack as last week's ticket. Asked the network team to check the switch."}), rules::desk::note).await?;
    reply_as_staff(builder, "sam", slow, json!({"description":
        "Thank you for the trace, it helps. The loss occurs **outside** your instance, so please leave it running; we are \
         checking the switch.\n\n> rebooting `cache-2` did not help\n\nThat fits."})).await?;
    builder.advance(1.5);
    reply_as_user(
        builder,
        jonas,
        slow,
        "Thanks. It has improved in the last half hour: **11% loss** now.",
    )
    .await?;
    builder.advance(30.0);
    Ok(())
}

/// A ticket opened by the provider.
async fn maintenance_notice(builder: &DemoBuilder, roaster: AccountId) -> anyhow::Result<()> {
    let about = region_of(builder, 1)?;
    let notice = json!({
        "account_id": roaster.0, "closable": true, "priority": "low",
        "summary": format!("Maintenance in {about} next Tuesday"),
        "description": "We will replace a power supply on **Tuesday between 04:00 and 05:00 UTC**. We expect no impact, and you do not need to do anything.",
    });
    builder.run_as_staff("noor", notice, rules::desk::create).await?;
    builder.advance(26.0);
    Ok(())
}

/// An assigned ticket and a new one.
async fn open_tickets(
    builder: &DemoBuilder,
    pia: &Actor,
    elif: &Actor,
    staging: InstanceId,
) -> anyhow::Result<()> {
    let peering = open_ticket(
        builder,
        pia,
        json!({
            "summary": "Can two VPCs communicate with each other?",
            "description": "We have one for rendering and one for storage. Is there a way to connect them?",
        }),
    )
    .await?;
    builder.advance(1.0);
    act_as_staff(builder, "noor", peering, json!({}), rules::desk::claim).await?;
    builder.advance(16.0);
    open_ticket(
        builder,
        elif,
        json!({
            "summary": "staging-db does not start after the upgrade",
            "description": "It says `kernel panic` on the console. I can wait until tomorrow.",
            "linode_id": staging.0,
        }),
    )
    .await?;
    builder.advance(0.5);
    Ok(())
}

/// Creates the canned replies; returns the ID of the one that is used.
async fn canned(builder: &DemoBuilder) -> anyhow::Result<i64> {
    let create =
        |tx: &mut crate::store::WriteTx, _: &_, request: &_| rules::canned_replies::create(tx, request);
    let done = json!({"label": "Done", "description":
        "Hello {{customer.username}},\n\nthis is done. If anything is missing, reply to this ticket.\n\nKind regards, {{provider.name}}"});
    let done = builder.run_as_staff("sam", done, create).await?;
    let more = json!({"label": "Need more", "description":
        "Hello {{customer.username}},\n\nto investigate “{{ticket.summary}}”, we need more information:\n\n- When did it start?\n- \
         What did you expect, and what happened?\n- Does it happen every time?"});
    builder.run_as_staff("sam", more, create).await?;
    Ok(done.id.0)
}

async fn open_ticket(builder: &DemoBuilder, actor: &Actor, body: Value) -> anyhow::Result<TicketId> {
    Ok(builder.run(actor, body, rules::tickets::create).await?.id)
}

async fn reply_as_user(
    builder: &DemoBuilder,
    actor: &Actor,
    ticket: TicketId,
    text: &str,
) -> anyhow::Result<()> {
    let body = json!({"description": text});
    let reply = builder.run(actor, body, move |tx, caller, request| {
        rules::replies::create(tx, caller, ticket, request)
    });
    reply.await.map(drop)
}

async fn reply_as_staff(
    builder: &DemoBuilder,
    agent: &'static str,
    ticket: TicketId,
    body: Value,
) -> anyhow::Result<()> {
    act_as_staff(builder, agent, ticket, body, rules::desk::reply).await
}

/// Runs a rule on a ticket as a member of the staff.
async fn act_as_staff<T: Send + 'static>(
    builder: &DemoBuilder,
    agent: &'static str,
    ticket: TicketId,
    body: Value,
    rule: fn(
        &mut crate::store::WriteTx,
        &rules::agent::Agent,
        TicketId,
        &rules::request::Request,
    ) -> rules::Result<T>,
) -> anyhow::Result<()> {
    let result = builder.run_as_staff(agent, body, move |tx, agent, request| {
        rule(tx, agent, ticket, request)
    });
    result.await.map(drop)
}

const TRACE: &str = "Start: db-1 -> 10.10.2.67\nHOST: db-1              Loss%   Snt   Last   Avg  Best  Wrst\n  1. 10.10.2.65          0.0%   100    0.3   0.3   0.2   0.9\n  2. 10.10.2.67         32.0%   100    0.5   0.6   0.4   4.8\n";
const ROUTES: &str = "default via 10.10.2.1 dev eth0\n10.10.0.0/16 via 10.10.2.1 dev eth0\n10.10.2.0/26 dev eth0 proto kernel scope link src 10.10.2.10\n";
