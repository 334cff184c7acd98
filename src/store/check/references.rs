//! Foreign keys: each must refer to an existing row.

use super::invariant::{Findings, Invariant};
use crate::store::error::StoreError;
use crate::store::tx::ReadTx;
use crate::store::value::args;

pub const INVARIANTS: &[Invariant] = &[Invariant::function(
    "every foreign key refers to an existing row",
    check_references,
)];

/// The foreign keys: the referring table, its column, and the table whose `id` the column refers to.
const REFERENCES: &[(&str, &str, &str)] = &[
    ("account_revision", "account", "account"),
    ("app_user", "account", "account"),
    ("attachment", "ticket", "ticket"),
    ("attachment_check", "attachment", "attachment"),
    ("change_log", "account", "account"),
    ("config", "instance", "instance"),
    ("disk", "instance", "instance"),
    ("due_work", "instance", "instance"),
    ("entity", "account", "account"),
    ("entity_grant", "app_user", "app_user"),
    ("event", "account", "account"),
    ("event_read", "app_user", "app_user"),
    ("event_read", "event", "event"),
    ("free_range", "subnet", "subnet"),
    ("free_range6", "subnet", "subnet"),
    ("global_grant", "app_user", "app_user"),
    ("host_credential", "host", "host"),
    ("host_join_token", "host", "host"),
    ("host_key", "host", "host"),
    ("host_report", "host", "host"),
    ("host_revision", "host", "host"),
    ("host_vpc", "host", "host"),
    ("host_vpc", "vpc", "vpc"),
    ("instance", "account", "account"),
    ("instance_tag", "account", "account"),
    ("instance_tag", "instance", "instance"),
    ("instance_traffic", "instance", "instance"),
    ("interface", "config", "config"),
    ("interface", "instance", "instance"),
    ("interface", "subnet", "subnet"),
    ("interface", "vpc", "vpc"),
    ("interface_range", "instance", "instance"),
    ("interface_range", "interface", "interface"),
    ("interface_range", "subnet", "subnet"),
    ("interface_range6", "instance", "instance"),
    ("interface_range6", "interface", "interface"),
    ("interface_range6", "subnet", "subnet"),
    ("ipv6_prefix", "account", "account"),
    ("ipv6_prefix", "vpc", "vpc"),
    ("login_record", "account", "account"),
    ("login_record", "app_user", "app_user"),
    ("mail_notice", "mail", "outgoing_mail"),
    ("mail_notice", "reply", "reply"),
    ("note", "ticket", "ticket"),
    ("oauth_client", "account", "account"),
    ("oauth_code", "oauth_grant", "oauth_grant"),
    ("oauth_grant", "app_user", "app_user"),
    ("oauth_grant", "client", "oauth_client"),
    ("outgoing_mail", "recipient", "app_user"),
    ("outgoing_mail", "ticket", "ticket"),
    ("password_link", "app_user", "app_user"),
    ("placement", "host", "host"),
    ("placement", "instance", "instance"),
    ("pool_free_range6", "pool", "ipv6_pool"),
    ("port", "host", "host"),
    ("port", "instance", "instance"),
    ("port", "interface", "interface"),
    ("port", "vpc", "vpc"),
    ("public_address", "additional_of", "account"),
    ("public_address", "instance", "instance"),
    ("received_mail", "reply", "reply"),
    ("received_mail", "ticket", "ticket"),
    ("refresh_token", "oauth_grant", "oauth_grant"),
    ("removed_port", "host", "host"),
    ("removed_port", "interface", "interface"),
    ("reply", "ticket", "ticket"),
    ("saved_view", "owner", "app_user"),
    ("session", "app_user", "app_user"),
    ("ssh_key", "app_user", "app_user"),
    ("staff_mail_choice", "app_user", "app_user"),
    ("subnet", "vpc", "vpc"),
    ("tag", "account", "account"),
    ("ticket", "account", "account"),
    ("ticket_history", "attachment", "attachment"),
    ("ticket_history", "note", "note"),
    ("ticket_history", "reply", "reply"),
    ("ticket_history", "ticket", "ticket"),
    ("ticket_tag", "ticket", "ticket"),
    ("ticket_viewer", "ticket", "ticket"),
    ("token", "app_user", "app_user"),
    ("tunnel", "subnet", "subnet"),
    ("vlan", "account", "account"),
    ("vpc", "account", "account"),
    ("vpc_free_range6", "vpc", "vpc"),
];

/// The tables in which account 0 is the provider.
const WITH_PROVIDER: [&str; 2] = ["account_revision", "change_log"];

fn check_references(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    for (table, column, target) in REFERENCES {
        let except_provider = match WITH_PROVIDER.contains(table) {
            true => "AND source.account <> 0",
            false => "",
        };
        let sql = format!(
            "SELECT '{target} ' || source.{column},
                 'does not exist, but ' || count(*) || ' rows of {table} refer to it with {column}'
             FROM {table} source
             WHERE source.{column} IS NOT NULL {except_provider}
               AND NOT EXISTS (SELECT 1 FROM {target} target WHERE target.id = source.{column})
             GROUP BY source.{column}"
        );
        let read = findings.add_rows(tx, &sql, args![]);
        findings.add_failure(tx, format!("table {table}"), read)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::REFERENCES;
    use crate::store::migrate::Schema;

    /// References that the schema does not declare as foreign keys, because both tables are always written together.
    const UNDECLARED: [(&str, &str); 6] = [
        ("account_revision", "account"),
        ("change_log", "account"),
        ("interface_range", "instance"),
        ("interface_range", "subnet"),
        ("interface_range6", "instance"),
        ("interface_range6", "subnet"),
    ];

    #[test]
    fn every_foreign_key_of_the_schema_is_checked() {
        let mut declared = BTreeSet::new();
        let mut table = "";
        for migration in Schema::current().migrations() {
            for line in migration.sql.lines() {
                let words: Vec<_> = line.split_whitespace().collect();
                match words[..] {
                    ["CREATE", "TABLE", name, ..] | ["ALTER", "TABLE", name, ..] => table = name,
                    _ => {}
                }
                let Some(at) = words.iter().position(|word| *word == "REFERENCES") else {
                    continue;
                };
                let column = match words[..] {
                    ["ALTER", "TABLE", _, "ADD", "COLUMN", column, ..] => column,
                    _ => words[0],
                };
                declared.insert((table, column, words[at + 1]));
            }
        }
        let checked: BTreeSet<_> = REFERENCES
            .iter()
            .copied()
            .filter(|(table, column, _)| !UNDECLARED.contains(&(table, column)))
            .collect();
        assert_eq!(checked, declared);
    }
}
