//! Every row can be read as an object of the model.
//!
//! The schema accepts more values than the model does: a status can be any text, for example. The server answers 500 if
//! it reads a row with a value that the model refuses.

use super::invariant::{Findings, Invariant};
use crate::store::error::StoreError;
use crate::store::model_rows::ModelRows;
use crate::store::tx::ReadTx;
use crate::store::value::args;
use crate::store::{
    accounts, announcements, attachments, branding, canned_replies, configs, disks, encryption, entities,
    events, history, hosts, instances, interfaces, ips, jobs, login_records, mail_counts, mail_templates,
    oauth_clients, oauth_grants, outgoing_mails, plans, ports, regions, replies, saved_views, ssh_keys,
    subnets, suppressed_addresses, tags, ticket_tags, tickets, tokens, users, vpcs,
};

pub const INVARIANTS: &[Invariant] = &[Invariant::function(
    "every row has values that Garth accepts",
    values,
)];

const TABLES: &[ModelRows] = &[
    accounts::ROWS,
    users::ROWS,
    tokens::ROWS,
    ssh_keys::ROWS,
    login_records::ROWS,
    oauth_clients::ROWS,
    oauth_grants::ROWS,
    vpcs::ROWS,
    subnets::ROWS,
    ips::ROWS,
    instances::ROWS,
    hosts::ROWS,
    encryption::ROWS,
    ports::ROWS,
    configs::ROWS,
    interfaces::ROWS,
    disks::ROWS,
    tags::ROWS,
    entities::ROWS,
    tickets::ROWS,
    ticket_tags::ROWS,
    replies::ROWS,
    history::ROWS,
    mail_counts::ROWS,
    mail_templates::ROWS,
    attachments::ROWS,
    outgoing_mails::ROWS,
    outgoing_mails::NOTICE_ROWS,
    suppressed_addresses::ROWS,
    canned_replies::ROWS,
    saved_views::ROWS,
    announcements::ROWS,
    branding::ROWS,
    regions::ROWS,
    plans::ROWS,
    events::ROWS,
    jobs::ROWS,
];

fn values(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    for rows in TABLES {
        let read = tx.for_each(&rows.query(), args![], |row| {
            match rows.read(row) {
                Ok(()) => {}
                Err(StoreError::Corrupt { row, column, .. }) => findings.add(
                    format!("table {}, row {row}", rows.table()),
                    format!(
                        "has a value in column {} that Garth does not accept",
                        rows.column(column)
                    ),
                ),
                Err(cause) => findings.add(format!("table {}", rows.table()), cause.to_string()),
            }
            Ok(())
        });
        findings.add_failure(tx, format!("table {}", rows.table()), read)?;
    }
    Ok(())
}
