//! Business rules: permissions, validation, changes and events.
//!
//! A rule is a synchronous function over a transaction; an error rolls the transaction back. Rules do
//! not depend on HTTP, SQL or the terminal.

mod account;
pub mod agent;
pub mod caller;
mod compute;
pub mod conditions;
pub mod error;
pub mod field_errors;
pub mod filters;
pub mod form;
mod hosting;
mod identity;
pub mod jobs;
pub mod lists;
mod network;
pub mod not_offered;
pub mod other_products;
pub mod request;
pub mod search;
pub mod submission;
mod support;
mod unique;

pub use account::{
    account_events, account_networks, accounts, announcements, branding, event_changes, events,
    provider_accounts, settings, tags,
};
pub use compute::{
    configs, disks, images, instances, interfaces, kernels, maintenance_policies, plans, power,
    provider_plans, provider_regions, refusals, regions, usage,
};
use compute::{deployment, loading, work};
pub use hosting::{
    desired_state, drain, encryption, host_principal, host_status, hosts, placements, ports, traces,
};
use identity::last_admin;
pub use identity::{
    account_users, apps, devices, grants, login_records, oauth, oauth_clients, oauth_tokens, object_grants,
    password_links, passwords, permissions, profile, sessions, ssh_keys, staff, tokens, users,
};
pub use network::{
    address_map, addresses, default_ranges, ips, ipv6_prefixes, subnet_lists, subnet_names, subnets, vlans,
    vpc_ips, vpcs,
};
pub use support::{
    account_mails, attachment_checks, attachments, canned_replies, desk, desk_attachments, desk_replies,
    desk_version, entities, history, mail_choices, mail_counts, mail_templates, merges, notes,
    outgoing_mails, readers, received_mails, replies, reports, saved_views, subjects, suppressed_addresses,
    targets, ticket_network, ticket_tags, tickets, transitions, uploaders, viewers,
};

pub use error::{Error, Result};
