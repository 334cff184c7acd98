//! Domain types. Most of them cannot hold invalid values.
//!
//! These types use no files, sockets, clocks, rows or JSON. If a type validates its values, no other code has to
//! check them again.

pub mod account;
mod compute;
pub mod entity_tag;
mod hosting;
pub mod id;
mod identity;
pub mod input;
pub mod job;
pub mod label;
mod network;
pub mod page;
pub mod policy;
pub mod reason;
mod support;
pub mod text;
pub mod time;

pub use account::{
    accent_color, announcement, brand_image, branding, change, event, event_change, found_network, object_tag,
};
pub use compute::{
    config, disk, image, instance, interface, kernel, plan, region, stored_catalog, upkeep, work,
};
pub use hosting::{agent_runs, encryption, host, host_warning, port, trace, traffic};
pub use identity::{
    client, device, grant, login_record, oauth, oauth_grant, proof, scope, ssh_key, staff_role, time_zone,
    token, user,
};
pub use network::{
    address_map, cidr, family, ip, ipv6_pool, network_map, range_placement, range_request, subnet,
    subnet_name, vlan, vpc, vpc_ip,
};
pub use support::{
    attachment, bounce_address, canned_reply, clock, entity, history, image_size, mail_count, mail_template,
    merge_text, outgoing_mail, received_mail, reply, reply_address, report, saved_view, subject, target,
    ticket, ticket_tag,
};
