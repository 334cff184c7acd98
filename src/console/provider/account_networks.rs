//! The VPCs and instances of an account for staff, read-only: lists, and sections on the page of the account.

use axum::extract::State;
use maud::{Markup, html};

use super::account_summary::{LIST, name, url};
use crate::console::error_page::PageResult;
use crate::console::instances::{plan_label, status_tag};
use crate::console::layout::{number, pagination, pluralize, time};
use crate::console::query::{MAX_SEARCH_CHARS, Query};
use crate::console::visit::Visit;
use crate::model::entity::{Entity, EntityKind};
use crate::model::id::{AccountId, InstanceId, VpcId};
use crate::model::instance::Instance;
use crate::model::interface::{parse_address, write_address};
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::model::subject::SubjectKind;
use crate::model::vpc::Vpc;
use crate::model::vpc_ip::VpcIp;
use crate::rules;
use crate::rules::account_networks;
use crate::rules::agent::Staff;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

/// The numbers of objects of each kind on a page of a list, and on the page of the account.
const OBJECTS_IN_SUMMARY: i64 = 10;
/// The number of subnets and of addresses in a row.
const MAX_PARTS_PER_ROW: usize = 8;

pub fn vpcs_url(account: AccountId) -> String {
    format!("{}/vpcs", url(account))
}

pub fn vpc_url(account: AccountId, id: VpcId) -> String {
    format!("{}/{id}", vpcs_url(account))
}

fn instances_url(account: AccountId) -> String {
    format!("{}/instances", url(account))
}

/// The list of instances with only this instance.
pub fn instance_url(account: AccountId, id: InstanceId) -> String {
    format!("{}?id={id}", instances_url(account))
}

/// The page of a VPC or an instance.
pub fn entity_url(account: AccountId, entity: &Entity) -> Option<String> {
    match entity.kind {
        EntityKind::Subject(SubjectKind::Vpc) => Some(vpc_url(account, VpcId(entity.id))),
        EntityKind::Subject(SubjectKind::Linode) => Some(instance_url(account, InstanceId(entity.id))),
        _ => None,
    }
}

/// The first VPCs and instances, for the page of the account.
pub struct Summary {
    vpcs: Paged<Vpc>,
    instances: Paged<Instance>,
    addresses: Vec<VpcIp>,
}

pub fn summary(tx: &mut ReadTx, account: AccountId) -> rules::Result<Summary> {
    let list = ListRequest::first(OBJECTS_IN_SUMMARY).sorted("label", false);
    let instances = account_networks::instances(tx, account, &list)?;
    Ok(Summary {
        vpcs: account_networks::vpcs(tx, account, &list)?,
        addresses: account_networks::addresses_of(tx, account, &instances.items)?,
        instances,
    })
}

impl Summary {
    pub fn render(&self, account: AccountId, policy: &Policy) -> Markup {
        let all = |results: i64, url: String| {
            html! { @if results > OBJECTS_IN_SUMMARY { p { a href=(url) { "All " (number(results.unsigned_abs())) } } } }
        };
        html! {
            section aria-labelledby="vpcs" {
                h2 #vpcs { "VPCs" }
                (vpc_table(account, &self.vpcs.items))
                (all(self.vpcs.results, vpcs_url(account)))
            }
            section aria-labelledby="instances" {
                h2 #instances { "Instances" }
                (instance_table(account, &self.instances.items, &self.addresses, policy))
                (all(self.instances.results, instances_url(account)))
            }
        }
    }
}

/// The search on a list of objects.
struct Search {
    text: String,
    id: Option<i64>,
    list: ListRequest,
}

impl Search {
    fn read(query: &Query) -> Self {
        Self {
            text: query.search_text(),
            id: query.text("id").parse().ok(),
            list: query.list_request().sorted("label", false),
        }
    }

    fn list_request(&self, text_condition: impl Fn(&str) -> Condition) -> ListRequest {
        let mut list = self.list.clone();
        if let Some(id) = self.id {
            list = list.only(Condition::equal("id", id));
        }
        if !self.text.is_empty() {
            list = list.only(text_condition(&self.text));
        }
        list
    }

    fn form(&self, label: &str, placeholder: &str, url: &str) -> Markup {
        html! {
            form .search role="search" aria-label=(label) method="get" action=(url) {
                div .field {
                    label for="q" { "Search" }
                    input #q type="search" name="q" value=(self.text) autocomplete="off" spellcheck="false"
                        maxlength=(MAX_SEARCH_CHARS) placeholder=(placeholder);
                }
                button type="submit" { "Search" }
            }
        }
    }

    /// The URL of the list with this search.
    fn url(&self, list_url: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        match self.text.as_str() {
            "" => list_url.to_owned(),
            text => format!("{list_url}?{}", query.append_pair("q", text).finish()),
        }
    }
}

pub async fn vpcs(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<AccountId>,
    query: Query,
) -> PageResult {
    let search = Search::read(&query);
    let list = search.list_request(|text| Condition::contained_in(["label", "id", "subnets.label"], text));
    let (account, vpcs) = app
        .read(staff, move |tx, _| {
            let account = rules::accounts::load(tx, id)?;
            Ok((account, account_networks::vpcs(tx, id, &list)?))
        })
        .await?;
    let list_url = vpcs_url(id);
    let body = html! {
        h1 { "VPCs of " (name(&account)) }
        (search.form("VPCs", "Label or ID of a VPC, or label of a subnet", &list_url))
        p .count role="status" { (pluralize(vpcs.results as usize, "VPC", "VPCs")) }
        (vpc_table(id, &vpcs.items))
        (pagination(&vpcs, &search.url(&list_url)))
    };
    let breadcrumbs = [LIST, (name(&account), &url(id))];
    Ok(visit.page("VPCs", &breadcrumbs, &body))
}

fn vpc_table(account: AccountId, vpcs: &[Vpc]) -> Markup {
    html! {
        @if vpcs.is_empty() { p .quiet { "None" } } @else {
            table .list {
                thead { tr {
                    th scope="col" { "VPC" } th scope="col" { "Region" } th scope="col" { "Subnets" } th scope="col" { "Updated" }
                } }
                tbody { @for vpc in vpcs {
                    tr {
                        th scope="row" { a href=(vpc_url(account, vpc.id)) { (vpc.label.as_str()) } " " span .id { (vpc.id) } }
                        td data-label="Region" { (vpc.region.0) }
                        td data-label="Subnets" { span {
                            @if vpc.subnets.is_empty() { span .quiet { "–" } }
                            @for (at, subnet) in vpc.subnets.iter().take(MAX_PARTS_PER_ROW).enumerate() {
                                @if at > 0 { ", " } (subnet.label.as_str()) " " code { (subnet.ipv4) }
                            }
                            (more(vpc.subnets.len()))
                        } }
                        td data-label="Updated" { (time(vpc.updated)) }
                    }
                } }
            }
        }
    }
}

/// The number of parts that a row does not show.
fn more(parts: usize) -> Markup {
    html! { @if parts > MAX_PARTS_PER_ROW { " " span .quiet { "and " (parts - MAX_PARTS_PER_ROW) " more" } } }
}

pub async fn instances(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<AccountId>,
    query: Query,
) -> PageResult {
    let search = Search::read(&query);
    let list = search.list_request(|text| match parse_address(text) {
        Ok(_) => Condition::equal("ipv4", text),
        Err(_) => Condition::contained_in(["label", "id", "tags"], text),
    });
    let (account, instances, addresses) = app
        .read(staff, move |tx, _| {
            let account = rules::accounts::load(tx, id)?;
            let instances = account_networks::instances(tx, id, &list)?;
            let addresses = account_networks::addresses_of(tx, id, &instances.items)?;
            Ok((account, instances, addresses))
        })
        .await?;
    let list_url = instances_url(id);
    let body = html! {
        h1 { "Instances of " (name(&account)) }
        (search.form("Instances", "Label, ID, tag or public address", &list_url))
        @if search.id.is_some() { p { a href=(list_url) { "All instances of the account" } } }
        p .count role="status" { (pluralize(instances.results as usize, "instance", "instances")) }
        (instance_table(id, &instances.items, &addresses, &app.store().policy()))
        (pagination(&instances, &search.url(&list_url)))
    };
    let breadcrumbs = [LIST, (name(&account), &url(id))];
    Ok(visit.page("Instances", &breadcrumbs, &body))
}

fn instance_table(account: AccountId, instances: &[Instance], ips: &[VpcIp], policy: &Policy) -> Markup {
    html! {
        @if instances.is_empty() { p .quiet { "None" } } @else {
            table .list {
                thead { tr {
                    th scope="col" { "Instance" } th scope="col" { "Status" } th scope="col" { "Region" } th scope="col" { "Plan" }
                    th scope="col" { "Addresses" } th scope="col" { "In VPCs" }
                } }
                tbody { @for instance in instances {
                    @let ips: Vec<_> = ips.iter().filter(|ip| ip.instance == instance.id).collect();
                    tr {
                        th scope="row" { (instance.label.as_str()) " " span .id { (instance.id) } }
                        td data-label="Status" { (status_tag(instance.status)) }
                        td data-label="Region" { (instance.region) }
                        td data-label="Plan" { (plan_label(policy, &instance.plan)) }
                        td data-label="Addresses" { span {
                            @for (at, address) in instance.addresses().enumerate() { @if at > 0 { ", " } code { (write_address(address)) } }
                        } }
                        td data-label="In VPCs" { span {
                            @if ips.is_empty() { span .quiet { "–" } }
                            @for (at, ip) in ips.iter().take(MAX_PARTS_PER_ROW).enumerate() {
                                @if at > 0 { ", " } a href=(vpc_url(account, ip.vpc)) { code { (written(ip)) } }
                            }
                            (more(ips.len()))
                        } }
                    }
                } }
            }
        }
    }
}

/// The address or the range.
pub fn written(ip: &VpcIp) -> String {
    match (ip.address, ip.range) {
        (Some(address), _) => write_address(address),
        (None, range) => range.map(|range| range.to_string()).unwrap_or_default(),
    }
}
