//! The list of VPCs, and looking for some of them.

use axum::extract::State;
use maud::{Markup, html};

use super::{LIST, address, instances};
use crate::console::error_page::Answer;
use crate::console::layout::{counted, empty, page_of, pager, time};
use crate::console::query::{LONGEST, Query};
use crate::console::usage::used_meter;
use crate::console::visit::Visit;
use crate::model::cidr::Cidr;
use crate::model::grant::Global;
use crate::model::page::Paged;
use crate::model::region::Region;
use crate::model::vpc::Vpc;
use crate::rules;
use crate::rules::addresses::{self, Usage};
use crate::rules::caller::Caller;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::web::App;

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> Answer {
    let search = Search::read(&query);
    let (wanted, range) = (search.list(), search.range());
    let (vpcs, used, may_add) = app
        .read(caller, move |tx, caller| {
            let vpcs = match range {
                Some(range) => rules::vpcs::list_in_range(tx, caller, &wanted, range)?,
                None => rules::vpcs::list(tx, caller, &wanted)?,
            };
            let used = addresses::used_in_vpcs(tx, &vpcs.items)?;
            Ok((vpcs, used, caller.require_global_grant(Global::AddVpcs).is_ok()))
        })
        .await?;
    let regions = &app.store().world().policy.regions;
    let body = html! {
        div .title {
            h1 { "VPCs" }
            @if may_add { a .button.main href="/vpcs/new" { "Create VPC" } }
        }
        @if vpcs.results > 0 || !search.is_empty() { (search.form(regions)) }
        (draw_list(&vpcs, &used, &search, may_add))
    };
    Ok(visit.page("VPCs", &[], &body))
}

fn no_vpcs(may_add: bool) -> Markup {
    let text = "A VPC is a private network of your own in one region. Its subnets give your instances addresses that \
                nobody else can reach.";
    match may_add {
        true => empty("No VPCs yet", text, Some(("Create VPC", "/vpcs/new"))),
        false => empty(
            "No VPCs yet",
            "Nobody has granted you a VPC yet. Ask whoever manages your account.",
            None,
        ),
    }
}

/// What of the VPCs is looked for.
struct Search {
    words: String,
    region: String,
    page: String,
}

impl Search {
    fn read(query: &Query) -> Self {
        Self {
            words: query.words(),
            region: query.text("region").to_owned(),
            page: query.text("page").to_owned(),
        }
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.region.is_empty()
    }

    /// The range that is looked for, if an address or a range was typed.
    fn range(&self) -> Option<Cidr> {
        Cidr::parse_search(&self.words)
    }

    fn list(&self) -> ListRequest {
        let mut only = Vec::new();
        if !self.words.is_empty() && self.range().is_none() {
            let fields = ["label", "id", "subnets.label"];
            only.push(Condition::contained_in(fields, &self.words));
        }
        if !self.region.is_empty() {
            only.push(Condition::equal("region", self.region.as_str()));
        }
        let list = ListRequest::first(100).at_page_in_url(&self.page);
        ListRequest { only, ..list }.sorted("label", false)
    }

    /// The address of the list as it is searched.
    fn address(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (key, value) in [("q", &self.words), ("region", &self.region)] {
            if !value.is_empty() {
                query.append_pair(key, value);
            }
        }
        let query = query.finish();
        if query.is_empty() {
            LIST.1.to_owned()
        } else {
            format!("{}?{query}", LIST.1)
        }
    }

    fn form(&self, regions: &[Region]) -> Markup {
        html! {
            form .search role="search" method="get" action=(LIST.1) hx-get=(LIST.1) hx-target="#list" hx-select="#list"
                hx-swap="outerHTML" hx-replace-url="true" hx-sync="this:replace"
                hx-trigger="submit, input changed delay:250ms from:#q, change from:#region" {
                div .field {
                    label for="q" { "Search" }
                    input #q type="search" name="q" value=(self.words) autocomplete="off" spellcheck="false"
                        maxlength=(LONGEST) placeholder="Label, id, subnet or address";
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
                button type="submit" { "Search" }
            }
        }
    }
}

fn draw_list(vpcs: &Paged<Vpc>, used: &[Usage], search: &Search, may_add: bool) -> Markup {
    let here = search.address();
    let live = page_of(&here, vpcs.page.number);
    html! {
        // Instances come and go on subnets, too.
        div #list hx-get=(live) hx-trigger="garth:vpc from:body, garth:subnet from:body, garth:linode from:body"
            hx-select="#list" hx-swap="outerHTML" {
            @if vpcs.results == 0 && search.is_empty() {
                (no_vpcs(may_add))
            } @else if vpcs.items.is_empty() && vpcs.results > 0 {
                (empty("Nothing on this page", "There are fewer VPCs by now.", Some(("Show the first page", &here))))
            } @else if vpcs.items.is_empty() {
                (empty("Nothing found", "No VPC is like that.", Some(("Show all", LIST.1))))
            } @else {
                p .count role="status" { (counted(vpcs.results as usize, "VPC", "VPCs")) }
                table .list {
                    thead { tr {
                        th scope="col" { "Label" } th scope="col" { "Region" } th scope="col" .number { "Subnets" }
                        th scope="col" .number { "Instances" } th scope="col" { "Addresses in use" } th scope="col" { "Changed" }
                    } }
                    tbody {
                        @for (vpc, used) in vpcs.items.iter().zip(used) {
                            tr {
                                th scope="row" { a href=(address(vpc.id)) { (vpc.label.as_str()) } " " span .id { (vpc.id) } }
                                td data-label="Region" { (vpc.region.0) }
                                td .number data-label="Subnets" { (vpc.subnets.len()) }
                                td .number data-label="Instances" { (instances(vpc)) }
                                td data-label="In use" { (used_meter(*used)) }
                                td data-label="Changed" { (time(vpc.updated)) }
                            }
                        }
                    }
                }
                (pager(vpcs, &here))
            }
        }
    }
}
