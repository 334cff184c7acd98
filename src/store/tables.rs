//! The list of tables, for code that reads or writes whole stores.

/// A table that a backup contains.
pub struct Table {
    pub name: &'static str,
    /// The columns of the primary key, which are the first columns of the table.
    pub key: &'static [&'static str],
    /// Whether the database generates the key from a sequence.
    pub has_sequence: bool,
}

/// All tables that a backup contains, each after the tables that it refers to. The list omits the tables in
/// `OTHER_TABLES`.
pub const TABLES: &[Table] = &[
    numbered("account"),
    numbered("app_user"),
    keyed("global_grant", &["app_user", "name"]),
    keyed("entity_grant", &["app_user", "kind", "entity"]),
    numbered("token"),
    numbered("ssh_key"),
    numbered("login_record"),
    numbered("vpc"),
    numbered("subnet"),
    keyed("ipv6_pool", &["id"]),
    keyed("pool_free_range6", &["pool", "first_address"]),
    keyed("ipv6_prefix", &["first_address"]),
    keyed("vpc_free_range6", &["vpc", "first_address"]),
    keyed("free_range6", &["subnet", "first_address"]),
    numbered("event"),
    keyed("event_read", &["app_user", "event"]),
    numbered("instance"),
    keyed("public_address", &["address"]),
    numbered("disk"),
    numbered("tag"),
    keyed("instance_tag", &["account", "label", "instance"]),
    numbered("config"),
    numbered("interface"),
    keyed("interface_range", &["interface", "place"]),
    keyed("interface_range6", &["interface", "place"]),
    keyed("free_range", &["subnet", "first_address"]),
    numbered("host"),
    keyed("host_join_token", &["host"]),
    keyed("host_credential", &["host"]),
    keyed("host_report", &["host"]),
    keyed("host_revision", &["host"]),
    keyed("host_vpc", &["host", "vpc"]),
    keyed("host_key", &["host", "generation"]),
    keyed("underlay_revision", &["region"]),
    keyed("region_encryption", &["region"]),
    keyed("placement", &["instance"]),
    keyed("port", &["interface"]),
    keyed("instance_traffic", &["instance", "month"]),
    keyed("removed_port", &["interface", "host"]),
    numbered("tunnel"),
    numbered("job"),
    numbered("ticket"),
    keyed("ticket_tag", &["ticket", "label"]),
    numbered("reply"),
    numbered("note"),
    numbered("received_mail"),
    keyed("mail_count", &["outcome", "reason"]),
    keyed("mail_text", &["name"]),
    numbered("outgoing_mail"),
    keyed("mail_notice", &["mail", "place"]),
    numbered("suppressed_address"),
    keyed("staff_mail_choice", &["app_user"]),
    numbered("attachment"),
    keyed("attachment_check", &["attachment"]),
    keyed("upload", &["file_key"]),
    numbered("ticket_history"),
    keyed("ticket_viewer", &["ticket", "tab"]),
    numbered("canned_reply"),
    numbered("saved_view"),
    numbered("announcement"),
    keyed("branding", &["id"]),
    numbered("catalog_region"),
    numbered("catalog_plan"),
    keyed("entity", &["account", "kind", "id"]),
    numbered("vlan"),
    keyed("oauth_client", &["id"]),
    numbered("oauth_grant"),
    keyed("oauth_code", &["hash"]),
    keyed("refresh_token", &["hash"]),
    keyed("session", &["hash"]),
    keyed("password_link", &["hash"]),
    keyed("server_secret", &["name"]),
    keyed("tally", &["owner", "collection", "span", "bucket"]),
    keyed("account_revision", &["account"]),
    keyed("change_log", &["account", "revision", "kind", "id"]),
];

/// The tables that a backup omits: `due_work` is always empty (decision 0024), `migration` and `schema_compatibility`
/// describe one store, and a restore rebuilds `ticket_text`. No table refers to one of them.
pub const OTHER_TABLES: [&str; 4] = ["due_work", "migration", "schema_compatibility", "ticket_text"];

const fn numbered(name: &'static str) -> Table {
    Table {
        name,
        key: &["id"],
        has_sequence: true,
    }
}

const fn keyed(name: &'static str, key: &'static [&'static str]) -> Table {
    Table {
        name,
        key,
        has_sequence: false,
    }
}
