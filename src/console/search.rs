//! The search over everything: a page, which the search box of the navigation bar also shows while the user types.

use std::net::Ipv4Addr;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::error_page::PageResult;
use super::layout::{empty_state, pluralize};
use super::provider::{account_networks, account_summary};
use super::query::Query;
use super::visit::Visit;
use super::{desk, instances, subnets, threads, tickets, vpcs};
use crate::model::account::DeskAccount;
use crate::model::address_map::{bucket_prefix, window_around};
use crate::model::found_network::{FoundInstance, FoundVpc};
use crate::model::subnet_name::SubnetName;
use crate::model::user::User;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::caller::Caller;
use crate::rules::search::{
    AddressUse, DeskResults, FoundAddress, FoundRange, MAX_RESULTS_PER_KIND, Results,
};
use crate::web::App;

pub async fn of_tenant(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    let text = query.search_text();
    let searched = text.clone();
    let found = app
        .read(caller, move |tx, caller| {
            rules::search::search(tx, caller, &searched)
        })
        .await?;
    let groups = (!found.is_empty()).then(|| tenant_groups(&found));
    Ok(render(&visit, &text, groups))
}

pub async fn of_staff(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    let text = query.search_text();
    let searched = text.clone();
    let found = app
        .read(staff, move |tx, _| rules::search::search_desk(tx, &searched))
        .await?;
    let groups = (!found.is_empty()).then(|| staff_groups(&found));
    Ok(render(&visit, &text, groups))
}

/// The page. `groups` is `None` without results.
fn render(visit: &Visit, text: &str, groups: Option<Markup>) -> Response {
    let body = html! {
        h1 { @if text.is_empty() { "Find" } @else { "Results for “" (text) "”" } }
        // The navigation bar shows this element.
        div #results .results {
            @match groups {
                Some(groups) => (groups),
                None if text.is_empty() => {},
                None => p .none role="status" { "No results for “" (text) "”." },
            }
        }
        @if text.is_empty() { (empty_state("Enter a text", "Use the field at the top of the page.", None)) }
    };
    visit.page("Find", &[], &body)
}

/// A result: its URL, its name and its description.
struct Entry {
    url: String,
    name: String,
    detail: Markup,
}

fn group(title: &str, entries: Vec<Entry>) -> Markup {
    html! {
        @if !entries.is_empty() {
            section {
                h2 { (title) }
                ul { @for entry in &entries {
                    li { a href=(entry.url) { strong { (entry.name) } " " span .quiet { (entry.detail) } } }
                } }
                @if entries.len() == MAX_RESULTS_PER_KIND { p .hint { "Only the first " (MAX_RESULTS_PER_KIND) " are shown." } }
            }
        }
    }
}

fn tenant_groups(found: &Results) -> Markup {
    let addresses = found.addresses.iter().map(address).collect();
    let vpcs = found.vpcs.iter().map(|vpc| Entry {
        url: vpcs::url(vpc.id),
        name: vpc.label.as_str().to_owned(),
        detail: html! { (vpc.region) },
    });
    let subnets = found.subnets.iter().map(|subnet| Entry {
        url: subnets::url_by_name(subnet),
        name: subnet.label.as_str().to_owned(),
        detail: html! { code { (subnet.ipv4) } " in " (subnet.vpc_label.as_str()) },
    });
    let instances = found.instances.iter().map(|instance| Entry {
        url: instances::url(instance.id),
        name: instance.label.as_str().to_owned(),
        detail: html! {
            @for address in instance.ipv4.iter().take(1) { code { (Ipv4Addr::from_bits(*address)) } " " }
            (instances::status_tag(instance.status))
        },
    });
    let tickets = found.tickets.iter().map(|ticket| Entry {
        url: tickets::url(ticket.id),
        name: ticket.summary.as_str().to_owned(),
        detail: html! { "#" (ticket.id) " " (threads::status_tag(ticket.status)) },
    });
    let users = found.users.iter().map(|user| Entry {
        url: format!("/account/users/{}", user.username.as_str()),
        name: user.username.as_str().to_owned(),
        detail: html! { (user.email.as_str()) },
    });
    html! {
        (group("Addresses", addresses))
        (group("VPCs", vpcs.collect()))
        (group("Subnets", subnets.collect()))
        (group("Instances", instances.collect()))
        (group("Tickets", tickets.collect()))
        (group("Users", users.collect()))
    }
}

/// An address or a range: its subnet, and the instance that uses it.
fn address(found: &FoundAddress) -> Entry {
    let subnet = &found.subnet;
    let (name, part) = match found.range {
        FoundRange::Ipv4(range) if range.first() == range.last() => (
            Ipv4Addr::from_bits(range.first()).to_string(),
            Some(range.first()),
        ),
        FoundRange::Ipv4(range) => (range.to_string(), None),
        FoundRange::Ipv6(range) => (range.to_string(), None),
    };
    let usage = match &found.usage {
        AddressUse::Held(holder) => match &holder.instance_label {
            Some(label) => html! { "used by " (label) },
            None => html! { "used by instance " (holder.instance) },
        },
        AddressUse::Free => html! { "free" },
        AddressUse::Reserved => html! { "reserved" },
        AddressUse::Range => html! { "subnet" },
    };
    Entry {
        url: match &found.usage {
            AddressUse::Held(holder) => subnets::interface_url_by_name(subnet, holder.interface),
            _ => part_url(subnet, part),
        },
        name,
        detail: html! { (usage) " · " (subnet.label.as_str()) " in " (subnet.vpc_label.as_str()) },
    }
}

/// The URL of a subnet. For an address of a large subnet, the URL also zooms in on the address.
fn part_url(subnet: &SubnetName, address: Option<u32>) -> String {
    let url = subnets::url_by_name(subnet);
    match address.filter(|_| bucket_prefix(subnet.ipv4).is_some()) {
        Some(address) => format!("{url}?in={}", window_around(subnet.ipv4, address)),
        None => url,
    }
}

fn staff_groups(found: &DeskResults) -> Markup {
    let tickets = found.tickets.iter().map(|desk| Entry {
        url: desk::url(desk.ticket.id),
        name: desk.ticket.summary.as_str().to_owned(),
        detail: html! { "#" (desk.ticket.id) " · " (desk::account_name(desk)) " " (threads::status_tag(desk.ticket.status)) },
    });
    let accounts = found.accounts.iter().map(account);
    let users = found.users.iter().filter_map(user);
    let vpcs = found.networks.vpcs.iter().map(account_vpc);
    let instances = found.networks.instances.iter().map(account_instance);
    html! {
        (group("Accounts", accounts.collect()))
        (group("Tickets with this text", tickets.collect()))
        (group("Users", users.collect()))
        (group("VPCs", vpcs.collect()))
        (group("Instances", instances.collect()))
    }
}

/// An account.
fn account(account: &DeskAccount) -> Entry {
    let name = match account.company.as_str() {
        "" => &account.email,
        company => company,
    };
    let open_tickets = pluralize(account.tickets_open as usize, "open ticket", "open tickets");
    Entry {
        url: account_summary::url(account.id),
        name: name.to_owned(),
        detail: html! { "#" (account.id) " · " (account.email) " · " (open_tickets) },
    }
}

/// A VPC of an account.
fn account_vpc(found: &FoundVpc) -> Entry {
    Entry {
        url: account_networks::vpc_url(found.account.id, found.vpc.id),
        name: found.vpc.label.as_str().to_owned(),
        detail: html! { "#" (found.vpc.id) " · " (found.vpc.region) " · " (found.account.name) },
    }
}

/// An instance of an account.
fn account_instance(found: &FoundInstance) -> Entry {
    Entry {
        url: account_networks::instance_url(found.account.id, found.id),
        name: found.label.clone(),
        detail: html! {
            "#" (found.id) " · " @if let Some(address) = &found.address { code { (address) } " · " } (found.account.name)
        },
    }
}

/// A user of an account. The link leads to the account, which lists its users.
fn user(user: &User) -> Option<Entry> {
    let account = user.account?;
    Some(Entry {
        url: account_summary::url(account),
        name: user.username.as_str().to_owned(),
        detail: html! { (user.email.as_str()) " · account #" (account) },
    })
}
