//! The list of VPCs, with search.

use axum::extract::State;
use maud::{Markup, html};

use super::{LIST, instance_count, url};
use crate::console::bulk::selection::{self, Allowed, Target};
use crate::console::csv::{Csv, EXPORT_LINK, MAX_CSV_ROWS, export_link};
use crate::console::error_page::PageResult;
use crate::console::layout::{empty_state, page_url, pagination, pluralize, region_name, time};
use crate::console::query::{MAX_SEARCH_CHARS, Query, list_page};
use crate::console::sorting::{self, Sorting};
use crate::console::usage::used_meter;
use crate::console::visit::Visit;
use crate::model::cidr::{Cidr, Cidr6};
use crate::model::grant::{Global, GrantKind};
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::model::region::Region;
use crate::model::vpc::Vpc;
use crate::rules;
use crate::rules::addresses::{self, Usage};
use crate::rules::caller::Caller;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::store::ReadTx;
use crate::web::App;

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    let search = Search::read(&query);
    let (list_request, range) = (search.list_request(), search.range());
    let (vpcs, used, allowed) = app
        .read(caller, move |tx, caller| {
            let vpcs = find(tx, caller, &list_request, range)?;
            let used = addresses::used_in_vpcs(tx, &vpcs.items)?;
            let allowed = Allowed {
                add: caller.require_global_grant(Global::AddVpcs).is_ok(),
                change: caller.may_change_any(tx, GrantKind::Vpc)?,
            };
            Ok((vpcs, used, allowed))
        })
        .await?;
    let policy = &app.store().policy();
    let export_url = search.url_of("/vpcs/export.csv", &search.sorting.parameter());
    let body = html! {
        div .title {
            h1 { "VPCs" }
            div .actions {
                (export_link((vpcs.results > 0).then_some(&export_url)))
                @if vpcs.results > 0 { a .button href="/vpcs/addresses.csv" download { "Addresses as CSV" } }
                @if allowed.add { a .button.main href="/vpcs/new" { "Create VPC" } }
            }
        }
        @if vpcs.results > 0 || !search.is_empty() { (search.form(&policy.regions)) }
        (render_list(&vpcs, &used, &search, policy, allowed))
    };
    Ok(visit.page("VPCs", &[], &body))
}

fn find(
    tx: &mut ReadTx,
    caller: &Caller,
    list: &ListRequest,
    range: Option<Range>,
) -> rules::Result<Paged<Vpc>> {
    match range {
        Some(Range::Ipv4(range)) => rules::vpcs::list_in_range(tx, caller, list, range),
        Some(Range::Ipv6(range)) => rules::vpcs::list_in_range(tx, caller, list, range),
        None => rules::vpcs::list(tx, caller, list),
    }
}

/// The VPCs that match the search as a CSV file.
pub async fn export(State(app): State<App>, caller: Caller, query: Query) -> PageResult {
    let search = Search::read(&query);
    let (list_request, range) = (search.list_request(), search.range());
    let csv = app
        .read(caller, move |tx, caller| {
            let mut csv = Csv::new(&["id", "label", "region", "ipv6", "subnets", "created", "updated"]);
            for page in 1.. {
                let found = find(tx, caller, &list_request.clone().at(page), range)?;
                for vpc in &found.items {
                    csv.row(&[
                        &vpc.id.to_string(),
                        vpc.label.as_str(),
                        &vpc.region.0,
                        &vpc.ipv6.map(|range| range.to_string()).unwrap_or_default(),
                        &vpc.subnets.len().to_string(),
                        &vpc.created.to_string(),
                        &vpc.updated.to_string(),
                    ]);
                }
                if page >= found.pages() || page * found.page.size >= MAX_CSV_ROWS as i64 {
                    break;
                }
            }
            Ok(csv)
        })
        .await?;
    Ok(csv.respond("vpcs"))
}

fn no_vpcs(may_add: bool) -> Markup {
    let text =
        "A VPC is a private network in one region. Its subnets give your instances private IPv4 addresses.";
    match may_add {
        true => empty_state("No VPCs yet", text, Some(("Create VPC", "/vpcs/new"))),
        false => empty_state(
            "No VPCs available",
            "You do not have access to any VPCs. Ask an account administrator to grant access.",
            None,
        ),
    }
}

/// A range to search for.
#[derive(Clone, Copy)]
enum Range {
    Ipv4(Cidr),
    Ipv6(Cidr6),
}

/// The search on the list of VPCs.
struct Search {
    text: String,
    region: String,
    page: String,
    sorting: Sorting,
}

impl Search {
    fn read(query: &Query) -> Self {
        Self {
            text: query.search_text(),
            region: query.text("region").to_owned(),
            page: query.text("page").to_owned(),
            sorting: Sorting::read(query, &["label", "region", "updated"]),
        }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.region.is_empty()
    }

    /// The search text as a range, if it is an address or a range.
    fn range(&self) -> Option<Range> {
        let ipv4 = Cidr::parse_search(&self.text).map(Range::Ipv4);
        ipv4.or_else(|| Cidr6::parse_search(&self.text).map(Range::Ipv6))
    }

    fn list_request(&self) -> ListRequest {
        let mut only = Vec::new();
        if !self.text.is_empty() && self.range().is_none() {
            let fields = ["label", "id", "subnets.label"];
            only.push(Condition::contained_in(fields, &self.text));
        }
        if !self.region.is_empty() {
            only.push(Condition::equal("region", self.region.as_str()));
        }
        let list = list_page(&self.page);
        ListRequest { only, ..list }.sorted(self.sorting.field, self.sorting.descending)
    }

    /// The URL of the list with this search.
    fn url(&self) -> String {
        self.url_of(LIST.1, &self.sorting.parameter())
    }

    /// The URL of a page with this search and a sort order.
    fn url_of(&self, page_url: &str, sort: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (key, value) in [
            ("q", self.text.as_str()),
            ("region", &self.region),
            (sorting::PARAMETER, sort),
        ] {
            if !value.is_empty() {
                query.append_pair(key, value);
            }
        }
        let query = query.finish();
        if query.is_empty() {
            page_url.to_owned()
        } else {
            format!("{page_url}?{query}")
        }
    }

    fn form(&self, regions: &[Region]) -> Markup {
        html! {
            form .search role="search" method="get" action=(LIST.1) hx-get=(LIST.1) hx-target="#list" hx-select="#list"
                hx-select-oob=(EXPORT_LINK) hx-swap="outerHTML" hx-replace-url="true" hx-sync="this:replace"
                hx-trigger="submit, input changed delay:250ms from:#q, change from:#region" {
                div .field {
                    label for="q" { "Search" }
                    input #q type="search" name="q" value=(self.text) autocomplete="off" spellcheck="false"
                        maxlength=(MAX_SEARCH_CHARS) placeholder="Label, ID, subnet or address";
                }
                div .field {
                    label for="region" { "Region" }
                    select #region name="region" {
                        option value="" { "All regions" }
                        @for region in regions.iter().filter(|region| region.has_capability(Region::VPCS)) {
                            option value=(region.id) selected[region.id == self.region] { (region.label) " (" (region.id) ")" }
                        }
                    }
                }
                @if !self.sorting.parameter().is_empty() { input type="hidden" name=(sorting::PARAMETER) value=(self.sorting.parameter()); }
                button type="submit" { "Search" }
            }
        }
    }
}

fn render_list(
    vpcs: &Paged<Vpc>,
    used: &[Usage],
    search: &Search,
    policy: &Policy,
    allowed: Allowed,
) -> Markup {
    let list_url = search.url();
    let reload_url = page_url(&list_url, vpcs.page.number);
    let sort_url = |sort: &str| search.url_of(LIST.1, sort);
    html! {
        // The list also reloads when an instance changes, because this can change the usage.
        div #list hx-get=(reload_url) hx-trigger="garth:vpc from:body, garth:subnet from:body, garth:linode from:body"
            hx-select="#list" hx-select-oob=(EXPORT_LINK) hx-swap="outerHTML" {
            @if vpcs.results == 0 && search.is_empty() {
                (no_vpcs(allowed.add))
            } @else if vpcs.items.is_empty() && vpcs.results > 0 {
                (empty_state("This page is empty", "The list no longer has this many pages.", Some(("Go to the first page", &list_url))))
            } @else if vpcs.items.is_empty() {
                (empty_state("No results", "No VPCs match your search.", Some(("Clear search", LIST.1))))
            } @else {
                p .count role="status" { (pluralize(vpcs.results as usize, "VPC", "VPCs")) }
                @if allowed.change { (selection::buttons(Target::Vpcs, &reload_url)) }
                table .list {
                    thead { tr {
                        @if allowed.change { (selection::header()) }
                        (search.sorting.header("Label", "label", sort_url)) (search.sorting.header("Region", "region", sort_url))
                        th scope="col" .number { "Subnets" } th scope="col" .number { "Instances" } th scope="col" { "Addresses in use" }
                        (search.sorting.header("Updated", "updated", sort_url))
                    } }
                    tbody {
                        @for (vpc, used) in vpcs.items.iter().zip(used) {
                            tr {
                                @if allowed.change { (selection::checkbox(vpc.id.0, vpc.label.as_str())) }
                                th scope="row" { a href=(url(vpc.id)) { (vpc.label.as_str()) } " " span .id { (vpc.id) } }
                                td data-label="Region" { (region_name(policy, &vpc.region.0)) }
                                td .number data-label="Subnets" { (vpc.subnets.len()) }
                                td .number data-label="Instances" { (instance_count(vpc)) }
                                td data-label="In use" { (used_meter(*used)) }
                                td data-label="Updated" { (time(vpc.updated)) }
                            }
                        }
                    }
                }
                (pagination(vpcs, &list_url))
            }
        }
    }
}
