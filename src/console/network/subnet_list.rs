//! The list of the subnets of a VPC, with search, sort order, pages and export.

use axum::extract::State;
use maud::{Markup, html};

use super::vpcs::tabs;
use crate::console::address_map::block_url;
use crate::console::bulk::selection::{self, Target};
use crate::console::csv::{Csv, EXPORT_LINK, MAX_CSV_ROWS, export_link};
use crate::console::error_page::PageResult;
use crate::console::layout::{empty_state, page_url, pagination, pluralize, time};
use crate::console::query::{MAX_SEARCH_CHARS, Query, ROWS_PER_PAGE};
use crate::console::sorting::{self, Sorting};
use crate::console::usage::used_meter;
use crate::console::visit::Visit;
use crate::console::{subnets, vpcs};
use crate::model::cidr::{Cidr, Cidr6, PRIVATE};
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::VpcId;
use crate::model::page::{Page, Paged};
use crate::model::subnet::Subnet;
use crate::model::vpc::Vpc;
use crate::rules;
use crate::rules::addresses::{self, Usage};
use crate::rules::caller::Caller;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

const SORT_FIELDS: [&str; 5] = ["id", "label", "range", "usage", "updated"];

/// The search on the list.
#[derive(Clone)]
struct Search {
    text: String,
    sorting: Sorting,
    page: i64,
}

impl Search {
    fn read(query: &Query) -> Self {
        Self {
            text: query.search_text(),
            sorting: Sorting::read(query, &SORT_FIELDS),
            page: query.text("page").parse().unwrap_or(1).max(1),
        }
    }

    /// The URL of the list with another sort order.
    fn url(&self, list_url: &str, sort: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (key, value) in [("q", self.text.as_str()), (sorting::PARAMETER, sort)] {
            if !value.is_empty() {
                query.append_pair(key, value);
            }
        }
        match query.finish() {
            query if query.is_empty() => list_url.to_owned(),
            query => format!("{list_url}?{query}"),
        }
    }

    /// A page of the subnets. A range finds the subnets that overlap it, in the order of their addresses.
    fn find(&self, tx: &mut ReadTx, caller: &Caller, vpc: VpcId, page: Page) -> rules::Result<Paged<Subnet>> {
        if let Some(range) = Cidr::parse_search(&self.text) {
            return rules::subnet_lists::in_range(tx, caller, vpc, range, page);
        }
        if let Some(range) = Cidr6::parse_search(&self.text) {
            return rules::subnet_lists::in_ipv6_range(tx, caller, vpc, range, page);
        }
        let mut list = ListRequest::first(page.size).at(page.number);
        if !self.text.is_empty() {
            list = list.only(Condition::contained_in(["label", "id"], &self.text));
        }
        let list = list.sorted(self.sorting.field, self.sorting.descending);
        rules::subnet_lists::sorted(tx, caller, vpc, &list)
    }
}

pub async fn list(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<VpcId>,
    query: Query,
) -> PageResult {
    let search = Search::read(&query);
    let searched = search.clone();
    let page = app
        .read(caller, move |tx, caller| {
            let vpc = rules::vpcs::load_without_subnets(tx, caller, id, Permission::ReadOnly)?;
            let page = Page {
                number: searched.page,
                size: ROWS_PER_PAGE,
            };
            let found = searched.find(tx, caller, id, page)?;
            let may_change = caller.require_permission(tx, GrantKind::Vpc, id.0, Permission::ReadWrite);
            Ok(ListPage {
                used: addresses::used_in_subnets(tx, &found.items)?,
                total: rules::subnet_lists::count(tx, id)?,
                may_change: may_change.is_ok(),
                found,
                vpc,
            })
        })
        .await?;
    let title = format!("Subnets of {}", page.vpc.label.as_str());
    let vpc_url = vpcs::url(id);
    let breadcrumbs = [vpcs::LIST, (page.vpc.label.as_str(), vpc_url.as_str())];
    Ok(visit.page(&title, &breadcrumbs, &page.render(&search)))
}

/// The data of the page.
struct ListPage {
    vpc: Vpc,
    found: Paged<Subnet>,
    used: Vec<Usage>,
    /// The number of all subnets.
    total: i64,
    may_change: bool,
}

impl ListPage {
    fn render(&self, search: &Search) -> Markup {
        let vpc_url = vpcs::url(self.vpc.id);
        let list_url = format!("{vpc_url}/subnets");
        let searched_url = search.url(&list_url, &search.sorting.parameter());
        let reload_url = page_url(&searched_url, self.found.page.number);
        let export_url = search.url(&format!("{list_url}/export.csv"), &search.sorting.parameter());
        let trigger = format!(
            "garth:vpc-{} from:body, garth:subnet from:body, garth:linode from:body",
            self.vpc.id
        );
        html! {
            div .title {
                h1 { (self.vpc.label.as_str()) }
                div .actions {
                    (export_link((self.found.results > 0).then_some(&export_url)))
                    @if self.may_change { a .button.main href=(format!("{list_url}/new")) { "Add subnet" } }
                }
            }
            (tabs(self.vpc.id, self.total, "/subnets"))
            (search_form(&list_url, search))
            div #list hx-get=(reload_url) hx-trigger=(trigger) hx-select="#list" hx-select-oob=(format!("{EXPORT_LINK},#tabs")) hx-swap="outerHTML" {
                @if self.found.items.is_empty() {
                    (self.no_subnets(search, &list_url))
                } @else {
                    p .count role="status" { (pluralize(self.found.results as usize, "subnet", "subnets")) }
                    @if self.may_change { (selection::buttons(Target::Subnets(self.vpc.id), &reload_url)) }
                    (self.table(search, &list_url))
                    (pagination(&self.found, &searched_url))
                }
            }
        }
    }

    fn no_subnets(&self, search: &Search, list_url: &str) -> Markup {
        if self.found.results > 0 {
            let first_url = search.url(list_url, &search.sorting.parameter());
            let text = "The list no longer has this many pages.";
            return empty_state(
                "This page is empty",
                text,
                Some(("Go to the first page", &first_url)),
            );
        }
        if search.text.is_empty() {
            return empty_state(
                "No subnets yet",
                "A subnet is a range of addresses for instances.",
                None,
            );
        }
        // A free range of the map leads here.
        let free = Cidr::parse_search(&search.text).filter(|range| {
            let may_add = self.may_change && range.prefix() <= Cidr::MAX_SUBNET_PREFIX;
            may_add && PRIVATE.iter().any(|space| space.contains(*range))
        });
        match free {
            Some(range) => empty_state(
                "No results",
                &format!("No subnets in {range}."),
                Some((
                    "Add a subnet there",
                    &block_url(&format!("{list_url}/new"), range.first(), range.last()),
                )),
            ),
            None => empty_state(
                "No results",
                "No subnets match your search.",
                Some(("Show all subnets", list_url)),
            ),
        }
    }

    fn table(&self, search: &Search, list_url: &str) -> Markup {
        let url = |sort: &str| search.url(list_url, sort);
        html! {
            table .list {
                thead { tr {
                    @if self.may_change { (selection::header()) }
                    (search.sorting.header("Label", "label", url)) (search.sorting.header("Range", "range", url))
                    th scope="col" .number { "Instances" } (search.sorting.header("Addresses in use", "usage", url))
                    (search.sorting.header("Updated", "updated", url))
                } }
                tbody { @for (subnet, used) in self.found.items.iter().zip(&self.used) {
                    tr {
                        @if self.may_change { (selection::checkbox(subnet.id.0, subnet.label.as_str())) }
                        th scope="row" { a href=(subnets::url(subnet)) { (subnet.label.as_str()) } " " span .id { (subnet.id) } }
                        td .long data-label="Range" { div { div { code { (subnet.ipv4) } } @if let Some(ipv6) = subnet.ipv6 { div { code { (ipv6) } } } } }
                        td .number data-label="Instances" { (subnets::instance_count(subnet)) }
                        td data-label="In use" { (used_meter(*used)) }
                        td data-label="Updated" { (time(subnet.updated)) }
                    }
                } }
            }
        }
    }
}

fn search_form(list_url: &str, search: &Search) -> Markup {
    html! {
        form .search role="search" aria-label="Subnets" method="get" action=(list_url) hx-get=(list_url) hx-target="#list" hx-select="#list"
            hx-select-oob=(EXPORT_LINK) hx-swap="outerHTML" hx-replace-url="true" hx-sync="this:replace" hx-trigger="submit, input changed delay:250ms from:#q" {
            div .field {
                label for="q" { "Search" }
                input #q type="search" name="q" value=(search.text) autocomplete="off" spellcheck="false"
                    maxlength=(MAX_SEARCH_CHARS) placeholder="Label, ID, address or range";
            }
            @if !search.sorting.parameter().is_empty() { input type="hidden" name=(sorting::PARAMETER) value=(search.sorting.parameter()); }
            button type="submit" { "Search" }
        }
    }
}

/// The subnets that match the search as a CSV file.
pub async fn export(State(app): State<App>, caller: Caller, At(id): At<VpcId>, query: Query) -> PageResult {
    let search = Search::read(&query);
    let csv = app
        .read(caller, move |tx, caller| {
            let header = [
                "id",
                "label",
                "ipv4",
                "ipv6",
                "instances",
                "in_use",
                "usable",
                "percent",
                "created",
                "updated",
            ];
            let mut csv = Csv::new(&header);
            let mut page = Page {
                number: 1,
                size: Page::MAX_SIZE,
            };
            loop {
                let found = search.find(tx, caller, id, page)?;
                let used = addresses::used_in_subnets(tx, &found.items)?;
                for (subnet, used) in found.items.iter().zip(used) {
                    csv.row(&cells(subnet, used).each_ref().map(String::as_str));
                }
                let rows = page.number * page.size;
                if rows >= found.results || rows >= MAX_CSV_ROWS as i64 {
                    return Ok(csv);
                }
                page.number += 1;
            }
        })
        .await?;
    Ok(csv.respond(&format!("vpc-{id}-subnets")))
}

fn cells(subnet: &Subnet, used: Usage) -> [String; 10] {
    [
        subnet.id.to_string(),
        subnet.label.as_str().to_owned(),
        subnet.ipv4.to_string(),
        subnet.ipv6.map(|range| range.to_string()).unwrap_or_default(),
        subnets::instance_count(subnet).to_string(),
        used.used.to_string(),
        used.all.to_string(),
        format!("{:.1}", used.percent()),
        subnet.created.to_string(),
        subnet.updated.to_string(),
    ]
}
