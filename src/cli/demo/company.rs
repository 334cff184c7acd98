//! The company of the demo: a coffee roaster with shops, who they are and what they did last month.

use std::collections::HashMap;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::maker::{Actor, Made, Maker};
use crate::cli::place::in_words;
use crate::model::account::{QuotaChange, QuotaValue};
use crate::model::grant::{Global, Permission};
use crate::model::id::{AccountId, InstanceId, SubnetId, TicketId, VpcId};
use crate::model::region::Region;
use crate::model::user::{Email, NewUser, Username};
use crate::rules;
use crate::rules::grants::Grant;

/// Who can log in, and what they are.
pub const PEOPLE: [(&str, &str); 7] = [
    (
        "mara",
        "Harbor Lane Coffee: may do everything, and manages the users",
    ),
    ("jonas", "Harbor Lane Coffee: may do everything"),
    (
        "elif",
        "Harbor Lane Coffee: restricted to staging and two instances",
    ),
    (
        "accounting",
        "Harbor Lane Coffee: restricted to looking at the account and its tickets",
    ),
    ("pia", "Tidewater Studio, another customer: may do everything"),
    ("sam", "the provider's staff, at the desk"),
    ("noor", "the provider's staff, at the desk"),
];

struct Network {
    label: &'static str,
    /// Which of the regions that are used.
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
        description: "A smaller copy of production, for trying things.",
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

/// The instances: label, network and subnet, and what else is said of their interface.
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

/// Makes the company and what it has; the password of everybody, and a token of mara's.
pub async fn found(maker: &Maker) -> anyhow::Result<Made> {
    let password = maker.password();
    let roaster = people(maker, &password).await?;
    let mara = maker.actor("mara", "laptop").await?;
    let jonas = maker.actor("jonas", "demo").await?;
    maker.wait(20.0);
    let subnets = networks(maker, &mara).await?;
    let instances = instances(maker, &jonas, &subnets).await?;
    access(maker, &mara, &subnets, &instances).await?;
    tickets(maker, roaster, &mara, &jonas, &instances).await?;
    maker.dismiss(jonas).await?;
    Ok(Made {
        password,
        token: mara.token,
    })
}

/// The accounts and everybody in them; the number of the roaster's.
async fn people(maker: &Maker, password: &crate::model::token::Secret) -> anyhow::Result<AccountId> {
    let hash = rules::passwords::hash(password).map_err(in_words)?;
    let email = |text: &str| Email::parse(text).expect("the demo's addresses are well written");
    let roaster = maker
        .write(move |tx| {
            let roaster = rules::accounts::create(tx, "Harbor Lane Coffee", &email("it@harborlane.example"))?;
            let studio = rules::accounts::create(tx, "Tidewater Studio", &email("studio@tidewater.example"))?;
            let mut user = |account: Option<AccountId>, username: &str, host: &str, restricted: bool| {
                let new = NewUser {
                    account,
                    username: Username::parse(username).expect("the demo's names are well written"),
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
            // Small enough that the bars of the quota page show something.
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

async fn networks(maker: &Maker, mara: &Actor) -> anyhow::Result<Subnets> {
    let mut made = HashMap::new();
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
        let said = json!({
            "label": label, "region": region_of(maker, region)?, "description": description, "subnets": subnets,
        });
        let vpc = maker.does(mara, said, rules::vpcs::create).await?;
        for subnet in &vpc.subnets {
            let place = (label.to_owned(), subnet.label.as_str().to_owned());
            made.insert(place, (vpc.id, subnet.id));
        }
        maker.wait(3.5);
    }
    Ok(made)
}

/// One of the provider's regions; if it has only a few, they come again.
fn region_of(maker: &Maker, at: usize) -> anyhow::Result<String> {
    let able = |region: &&Region| region.has_capability(Region::VPCS) && region.has_capability("Linodes");
    let mut regions: Vec<_> = maker.policy().regions.iter().filter(able).collect();
    ensure!(!regions.is_empty(), "no region can hold both VPCs and instances");
    // Three that are far apart, if they are there.
    let liked = |region: &&Region| ["eu-central", "us-east", "ap-south"].contains(&region.id.as_str());
    regions.sort_by_key(|region| !liked(region));
    Ok(regions[at % regions.len()].id.clone())
}

async fn instances(
    maker: &Maker,
    jonas: &Actor,
    subnets: &Subnets,
) -> anyhow::Result<HashMap<&'static str, InstanceId>> {
    let plan = maker
        .policy()
        .plans
        .first()
        .context("there is no plan")?
        .id
        .clone();
    let image = maker.policy().images.first().map(|image| image.id.clone());
    let mut made = HashMap::new();
    for (label, vpc, subnet, more) in INSTANCES {
        let (_, id) = subnets[&(vpc.to_owned(), subnet.to_owned())];
        let network = NETWORKS.iter().find(|network| network.label == vpc);
        let region = network.map_or(0, |network| network.region);
        let mut interface: Value = serde_json::from_str(more)?;
        interface["purpose"] = json!("vpc");
        interface["subnet_id"] = json!(id.0);
        interface["primary"] = json!(true);
        let mut said = json!({
            "label": label, "region": region_of(maker, region)?, "type": plan, "tags": [vpc], "booted": true,
            "interfaces": [interface],
        });
        if let Some(image) = &image {
            said["image"] = json!(image);
            said["root_pass"] = json!(maker.password().reveal());
        }
        let instance = maker.does(jonas, said, rules::instances::create).await?;
        made.insert(label, instance.id);
        maker.wait(1.7);
    }
    let stopped = made["staging-1"];
    maker
        .does(jonas, json!({}), move |tx, caller, request| {
            rules::power::shutdown(tx, caller, stopped, request)
        })
        .await?;
    let (instance, app) = (
        made["app-1"],
        subnets[&("production".to_owned(), "app".to_owned())].1,
    );
    let rescue = json!({"label": "rescue", "interfaces": [{"purpose": "public"}, {"purpose": "vpc", "subnet_id": app.0}]});
    maker
        .does(jonas, rescue, move |tx, caller, request| {
            rules::configs::create(tx, caller, instance, request)
        })
        .await?;
    Ok(made)
}

/// What restricted users may do, and a program that asks users for access.
async fn access(
    maker: &Maker,
    mara: &Actor,
    subnets: &Subnets,
    instances: &HashMap<&'static str, InstanceId>,
) -> anyhow::Result<()> {
    let staging = subnets[&("staging".to_owned(), "all".to_owned())].0;
    let production = subnets[&("production".to_owned(), "web".to_owned())].0;
    let (first, second) = (instances["staging-1"], instances["staging-db"]);
    maker
        .write(move |tx| {
            let grants = [
                Grant::Vpc(staging, Permission::ReadWrite),
                Grant::Vpc(production, Permission::ReadOnly),
                Grant::Linode(first, Permission::ReadWrite),
                Grant::Linode(second, Permission::ReadOnly),
                Grant::Global(Global::AddLinodes),
            ];
            rules::grants::give(tx, "elif", &grants)?;
            rules::grants::give(tx, "accounting", &[Grant::AccountAccess(Permission::ReadOnly)])
        })
        .await?;
    let client =
        json!({"label": "Shop dashboard", "redirect_uri": "https://dashboard.harborlane.example/oauth"});
    maker.does(mara, client, rules::oauth_clients::create).await?;
    for (label, scopes) in [
        ("terraform", "vpc:read_write linodes:read_write ips:read_only"),
        ("address report", "ips:read_only"),
    ] {
        let token = json!({"label": label, "scopes": scopes});
        maker.does(mara, token, rules::tokens::create_own).await?;
        maker.wait(5.0);
    }
    Ok(())
}

async fn tickets(
    maker: &Maker,
    roaster: AccountId,
    mara: &Actor,
    jonas: &Actor,
    instances: &HashMap<&'static str, InstanceId>,
) -> anyhow::Result<()> {
    let elif = maker.actor("elif", "demo").await?;
    let pia = maker.actor("pia", "demo").await?;
    let canned = canned(maker).await?;
    closed_question(maker, mara).await?;
    closed_invoice(maker, &pia, canned).await?;
    urgent_ticket(maker, jonas, instances["db-1"]).await?;
    maintenance_notice(maker, roaster).await?;
    open_tickets(maker, &pia, &elif, instances["staging-db"]).await?;
    maker.dismiss(elif).await?;
    maker.dismiss(pia).await
}

/// A question of the roaster's that is answered and closed.
async fn closed_question(maker: &Maker, mara: &Actor) -> anyhow::Result<()> {
    let asked = opens(
        maker,
        mara,
        json!({
            "summary": "How many subnets can one VPC have?",
            "description": "We plan **eleven shops** with three subnets each. Is that one VPC, or several?",
        }),
    )
    .await?;
    maker.wait(4.0);
    says(maker, "sam", asked, json!({"description":
        "One will do, once your quota is raised. Until then:\n\n1. keep the tills in one subnet,\n2. give each shop a \
         *range* out of it (`ip_ranges` of its gateway).\n\nShall we raise it?"})).await?;
    maker.wait(20.0);
    answers(maker, mara, asked, "No need: ranges it is. Thank you!").await?;
    maker
        .does(mara, json!({}), move |tx, caller, request| {
            rules::tickets::close(tx, caller, asked, request)
        })
        .await?;
    maker.wait(70.0);
    Ok(())
}

/// A ticket of another customer, closed as well.
async fn closed_invoice(maker: &Maker, pia: &Actor, canned: i64) -> anyhow::Result<()> {
    let invoice = opens(
        maker,
        pia,
        json!({
            "summary": "Our address on the invoice has changed",
            "description": "Please use **Tidewater Studio, 4 Quay Street** from now on.",
        }),
    )
    .await?;
    maker.wait(2.0);
    staff(maker, "noor", invoice, json!({}), rules::desk::claim).await?;
    says(maker, "noor", invoice, json!({"canned_reply_id": canned})).await?;
    staff(maker, "noor", invoice, json!({}), rules::desk::close).await?;
    maker.wait(90.0);
    Ok(())
}

/// An urgent ticket, with files and a note.
async fn urgent_ticket(maker: &Maker, jonas: &Actor, database: InstanceId) -> anyhow::Result<()> {
    let slow = opens(maker, jonas, json!({
        "summary": "db-1 loses packets to the cache since last night",
        "description": "Since about 02:00 UTC every third connection from `db-1` to `cache-2` times out.\n\n- the other \
                        caches are fine\n- rebooting `cache-2` did not help\n\n```\n$ ping -c 100 10.10.2.67\n100 packets \
                        transmitted, 68 received, 32% packet loss\n```\n\nA trace is attached.",
        "linode_id": database.0,
    })).await?;
    maker.attaches(jonas, slow, "trace.txt", TRACE).await?;
    maker.attaches(jonas, slow, "routes.txt", ROUTES).await?;
    maker.wait(0.4);
    staff(maker, "sam", slow, json!({}), rules::desk::claim).await?;
    staff(
        maker,
        "sam",
        slow,
        json!({"priority": "high"}),
        rules::desk::update,
    )
    .await?;
    staff(maker, "sam", slow, json!({"description": "Same rack as last week's ticket. Asked the network people to look at the switch."}), rules::desk::note).await?;
    says(maker, "sam", slow, json!({"description":
        "Thank you for the trace, it helps. The loss begins **behind** your instance, so please leave it as it is; we are \
         looking at the switch.\n\n> rebooting `cache-2` did not help\n\nThat fits."})).await?;
    maker.wait(1.5);
    answers(
        maker,
        jonas,
        slow,
        "Thanks. It has become a little better in the last half hour: **11% loss** now.",
    )
    .await?;
    maker.wait(30.0);
    Ok(())
}

/// A ticket that the provider has opened.
async fn maintenance_notice(maker: &Maker, roaster: AccountId) -> anyhow::Result<()> {
    let about = region_of(maker, 1)?;
    let told = json!({
        "account_id": roaster.0, "closable": true, "priority": "low",
        "summary": format!("Maintenance in {about} next Tuesday"),
        "description": "We replace a power supply on **Tuesday between 04:00 and 05:00 UTC**. Nothing should be felt; you need not do anything.",
    });
    maker.staff("noor", told, rules::desk::create).await?;
    maker.wait(26.0);
    Ok(())
}

/// One ticket that is assigned, and one that is new.
async fn open_tickets(maker: &Maker, pia: &Actor, elif: &Actor, staging: InstanceId) -> anyhow::Result<()> {
    let peering = opens(
        maker,
        pia,
        json!({
            "summary": "Can two VPCs talk to each other?",
            "description": "We have one for rendering and one for storage. Is there a way to join them?",
        }),
    )
    .await?;
    maker.wait(1.0);
    staff(maker, "noor", peering, json!({}), rules::desk::claim).await?;
    maker.wait(16.0);
    opens(
        maker,
        elif,
        json!({
            "summary": "staging-db does not start after the upgrade",
            "description": "It says `kernel panic` on the console. I can wait until tomorrow.",
            "linode_id": staging.0,
        }),
    )
    .await?;
    maker.wait(0.5);
    Ok(())
}

/// What the staff say often; the number of the one that is used.
async fn canned(maker: &Maker) -> anyhow::Result<i64> {
    let create =
        |tx: &mut crate::store::WriteTx, _: &_, request: &_| rules::canned_replies::create(tx, request);
    let done = json!({"label": "Done", "description":
        "Hello {{customer.username}},\n\nthat is done. If anything is missing, just answer here.\n\nKind regards, {{provider.name}}"});
    let done = maker.staff("sam", done, create).await?;
    let more = json!({"label": "Need more", "description":
        "Hello {{customer.username}},\n\nto look into “{{ticket.summary}}” we need a little more:\n\n- since when is it so?\n- \
         what did you expect, and what happened?\n- does it happen every time?"});
    maker.staff("sam", more, create).await?;
    Ok(done.id.0)
}

async fn opens(maker: &Maker, actor: &Actor, said: Value) -> anyhow::Result<TicketId> {
    Ok(maker.does(actor, said, rules::tickets::create).await?.id)
}

async fn answers(maker: &Maker, actor: &Actor, ticket: TicketId, text: &str) -> anyhow::Result<()> {
    let said = json!({"description": text});
    let reply = maker.does(actor, said, move |tx, caller, request| {
        rules::replies::create(tx, caller, ticket, request)
    });
    reply.await.map(drop)
}

async fn says(maker: &Maker, agent: &'static str, ticket: TicketId, said: Value) -> anyhow::Result<()> {
    staff(maker, agent, ticket, said, rules::desk::reply).await
}

/// One thing that one of the staff does to a ticket.
async fn staff<T: Send + 'static>(
    maker: &Maker,
    agent: &'static str,
    ticket: TicketId,
    said: Value,
    rule: fn(
        &mut crate::store::WriteTx,
        &rules::agent::Agent,
        TicketId,
        &rules::request::Request,
    ) -> rules::Result<T>,
) -> anyhow::Result<()> {
    let done = maker.staff(agent, said, move |tx, agent, request| {
        rule(tx, agent, ticket, request)
    });
    done.await.map(drop)
}

const TRACE: &str = "Start: db-1 -> 10.10.2.67\nHOST: db-1              Loss%   Snt   Last   Avg  Best  Wrst\n  1. 10.10.2.65          0.0%   100    0.3   0.3   0.2   0.9\n  2. 10.10.2.67         32.0%   100    0.5   0.6   0.4   4.8\n";
const ROUTES: &str = "default via 10.10.2.1 dev eth0\n10.10.0.0/16 via 10.10.2.1 dev eth0\n10.10.2.0/26 dev eth0 proto kernel scope link src 10.10.2.10\n";
