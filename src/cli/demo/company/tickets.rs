//! The tickets of the demo, with their replies, notes and files.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::networks::region_of;
use crate::cli::demo::builder::{Actor, DemoBuilder};
use crate::model::id::{AccountId, InstanceId, TicketId};
use crate::rules;

pub async fn create(
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
    let tags = json!({"tags": ["billing"]});
    act_as_staff(builder, "noor", invoice, tags, rules::desk::update).await?;
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
        json!({"priority": "high", "tags": ["network", "rack 4"]}),
        rules::desk::update,
    )
    .await?;
    act_as_staff(builder, "sam", slow, json!({"description": "Same rack as last week's ticket. Asked the network team to check the switch."}), rules::notes::create).await?;
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
    act_as_staff(builder, agent, ticket, body, rules::desk_replies::create).await
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
