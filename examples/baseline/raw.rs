//! Writes the rows of a VPC with one subnet directly to SQLite, 32 creates per transaction: no request, no
//! token, no rule, no reads.
//!
//! The runner compares the tables of this store with Garth's. If a create starts to write other rows, it
//! reports that instead of a wrong ratio.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use garth::model::region::Region;
use garth::model::token::TokenText;
use garth::store::context::Clock;
use rusqlite::{Connection, params};

use crate::setup::{context, open, token};

/// Writes the rows of VPCs with one subnet, 32 creates per transaction
#[derive(Args)]
pub struct Raw {
    /// Folder of the store
    #[arg(long)]
    data: PathBuf,
    #[arg(long)]
    seconds: f64,
    /// Omit the rows of tallies, to measure their cost
    #[arg(long)]
    untallied: bool,
    /// Omit the revision and the change log, to measure their cost
    #[arg(long)]
    unlogged: bool,
    #[arg(long, env = "GARTH_BOOTSTRAP_TOKEN", value_parser = token)]
    token: TokenText,
}

const CREATES_PER_TRANSACTION: usize = 32;

/// The bookkeeping rows to write in addition to the resources.
#[derive(Clone, Copy)]
struct Bookkeeping {
    tallies: bool,
    changes: bool,
}

/// The number of rows added to each range of each tally.
type Tallies = BTreeMap<(String, i64, i64, i64), i64>;

impl Raw {
    pub async fn run(self) -> anyhow::Result<()> {
        let context = context(Clock::System)?;
        let policy = context.policy.get();
        let regions: Vec<_> = policy
            .regions
            .iter()
            .filter(|region| region.has_capability(Region::VPCS))
            .collect();
        let regions: Vec<_> = regions.into_iter().map(|region| region.id.clone()).collect();
        // Garth creates the tables and the account; all other rows bypass it.
        open(&self.data, context, &self.token).await?.close().await?;
        let mut connection = Connection::open(self.data.join("garth.db"))?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.pragma_update(None, "foreign_keys", "on")?;
        connection.set_prepared_statement_cache_capacity(64);

        let bookkeeping = Bookkeeping {
            tallies: !self.untallied,
            changes: !self.unlogged,
        };
        let started = Instant::now();
        let mut created = 0;
        while started.elapsed() < Duration::from_secs_f64(self.seconds) {
            write_batch(&mut connection, &regions, created, bookkeeping)?;
            created += CREATES_PER_TRANSACTION;
        }
        let micros = started.elapsed().as_micros();
        println!("RESULT requests={created} micros={micros} not_200=0 broken=0");
        Ok(())
    }
}

fn write_batch(
    connection: &mut Connection,
    regions: &[String],
    first: usize,
    bookkeeping: Bookkeeping,
) -> rusqlite::Result<()> {
    let tx = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let (mut tallies, mut changes) = (Tallies::new(), Vec::new());
    for number in first..first + CREATES_PER_TRANSACTION {
        changes.extend(write_vpc(
            &tx,
            &regions[number % regions.len()],
            number,
            &mut tallies,
        )?);
    }
    if bookkeeping.changes {
        log_changes(&tx, &changes)?;
    }
    if !bookkeeping.tallies {
        tallies.clear();
    }
    let mut add = tx.prepare_cached(
        "INSERT INTO tally (collection, owner, span, bucket, items) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (collection, owner, span, bucket) DO UPDATE SET items = tally.items + excluded.items",
    )?;
    for ((collection, owner, span, bucket), items) in tallies {
        add.execute(params![collection, owner, span, bucket, items])?;
    }
    drop(add);
    tx.commit()
}

/// Raises the account's revision once, and adds a row for each changed object.
fn log_changes(tx: &Connection, changes: &[(&str, i64)]) -> rusqlite::Result<()> {
    let revision: i64 = tx
        .prepare_cached(
            "UPDATE account_revision SET revision = revision + 1 WHERE account = 1 RETURNING revision",
        )?
        .query_one([], |row| row.get(0))?;
    let mut add = tx.prepare_cached("INSERT INTO change_log VALUES (1, ?1, ?2, ?3)")?;
    for (kind, id) in changes {
        add.execute(params![revision, kind, id])?;
    }
    Ok(())
}

/// Writes a VPC with one subnet; returns the changed objects.
fn write_vpc(
    tx: &Connection,
    region: &str,
    number: usize,
    tallies: &mut Tallies,
) -> rusqlite::Result<[(&'static str, i64); 4]> {
    let now = jiff::Timestamp::now().as_second() * 1_000_000;
    let label = format!("bench-1-{number}");
    let vpc = tx
        .prepare_cached(
            "INSERT INTO vpc (account, label, description, region, created, updated)
             VALUES (1, ?1, '', ?2, ?3, ?3)",
        )?
        .insert(params![label, region, now])?;
    let (first, last) = (10_i64 << 24, (10_i64 << 24) + 255);
    let subnet = tx
        .prepare_cached(
            "INSERT INTO subnet (vpc, label, ipv4, first_address, last_address, created, updated)
             VALUES (?1, 'first', '10.0.0.0/24', ?2, ?3, ?4, ?4)",
        )?
        .insert(params![vpc, first, last, now])?;
    tx.prepare_cached("INSERT INTO free_range (subnet, first_address, last_address) VALUES (?1, ?2, ?3)")?
        .execute(params![subnet, first + 2, last - 2])?;

    let mut add_event = tx.prepare_cached(
        "INSERT INTO event (account, created, action, username,
             entity_kind, entity_id, entity_label, entity_url,
             secondary_kind, secondary_id, secondary_label, secondary_url,
             guard_kind, guard_id, status, percent_complete, duration, author)
         VALUES (1, ?1, ?2, 'admin', ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'vpc', ?11, 'finished', NULL, NULL, 1)",
    )?;
    let (vpc_url, subnet_url) = (
        format!("/v4/vpcs/{vpc}"),
        format!("/v4/vpcs/{vpc}/subnets/{subnet}"),
    );
    let null = None::<&str>;
    let vpc_event = params![
        now,
        "vpc_create",
        "vpc",
        vpc,
        label,
        vpc_url,
        null,
        null,
        null,
        null,
        vpc
    ];
    let vpc_event = add_event.insert(vpc_event)?;
    let subnet_event = params![
        now,
        "subnet_create",
        "subnet",
        subnet,
        "first",
        subnet_url,
        "vpc",
        vpc,
        label,
        vpc_url,
        vpc
    ];
    let subnet_event = add_event.insert(subnet_event)?;

    for (collection, owner, id) in [
        ("vpc".to_owned(), 1, vpc),
        (format!("vpc:{region}"), 1, vpc),
        ("vpc_subnet".to_owned(), vpc, subnet),
        ("event".to_owned(), 1, vpc_event),
        ("event".to_owned(), 1, subnet_event),
    ] {
        for span in [256, 65_536] {
            *tallies
                .entry((collection.clone(), owner, span, id / span))
                .or_default() += 1;
        }
    }
    Ok([
        ("vpc", vpc),
        ("subnet", subnet),
        ("event", vpc_event),
        ("event", subnet_event),
    ])
}
