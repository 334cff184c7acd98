//! The list of instances, with search.

use axum::extract::State;
use maud::{Markup, html};

use super::{LIST, plan_label, status_tag, url};
use crate::console::bulk::selection::{self, Allowed, Target};
use crate::console::csv::{Csv, EXPORT_LINK, MAX_CSV_ROWS, export_link};
use crate::console::error_page::PageResult;
use crate::console::layout::{empty_state, page_url, pagination, pluralize, region_name, time};
use crate::console::query::{MAX_SEARCH_CHARS, Query, list_page};
use crate::console::sorting::{self, Sorting};
use crate::console::visit::Visit;
use crate::model::grant::{Global, GrantKind};
use crate::model::instance::{Instance, Status};
use crate::model::interface::{parse_address, write_address};
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::web::App;

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    let search = Search::read(&query);
    let list_request = search.list_request();
    let (instances, allowed) = app
        .read(caller, move |tx, caller| {
            let instances = rules::instances::list(tx, caller, &list_request)?;
            let allowed = Allowed {
                add: caller.require_global_grant(Global::AddLinodes).is_ok(),
                change: caller.may_change_any(tx, GrantKind::Linode)?,
            };
            Ok((instances, allowed))
        })
        .await?;
    let policy = &app.store().policy();
    let export_url = search.url_of("/instances/export.csv", &search.sorting.parameter());
    let body = html! {
        div .title {
            h1 { "Instances" }
            div .actions {
                (export_link((instances.results > 0).then_some(&export_url)))
                @if allowed.add { a .button.main href="/instances/new" { "Create instance" } }
            }
        }
        @if instances.results > 0 || !search.is_empty() { (search.form(policy)) }
        (render_list(&instances, &search, policy, allowed))
    };
    Ok(visit.page("Instances", &[], &body))
}

/// The instances that match the search as a CSV file.
pub async fn export(State(app): State<App>, caller: Caller, query: Query) -> PageResult {
    let list_request = Search::read(&query).list_request();
    let csv = app
        .read(caller, move |tx, caller| {
            let header = [
                "id", "label", "status", "region", "type", "ipv4", "tags", "created", "updated",
            ];
            let mut csv = Csv::new(&header);
            for page in 1.. {
                let found = rules::instances::list(tx, caller, &list_request.clone().at(page))?;
                for instance in &found.items {
                    let addresses: Vec<_> = instance.ipv4.iter().copied().map(write_address).collect();
                    csv.row(&[
                        &instance.id.to_string(),
                        instance.label.as_str(),
                        instance.status.word(),
                        &instance.region,
                        &instance.plan,
                        &addresses.join(" "),
                        &instance.tags.join(" "),
                        &instance.created.to_string(),
                        &instance.updated.to_string(),
                    ]);
                }
                if page >= found.pages() || page * found.page.size >= MAX_CSV_ROWS as i64 {
                    break;
                }
            }
            Ok(csv)
        })
        .await?;
    Ok(csv.respond("instances"))
}

/// The search on the list of instances.
struct Search {
    text: String,
    region: String,
    status: String,
    page: String,
    sorting: Sorting,
}

impl Search {
    fn read(query: &Query) -> Self {
        Self {
            text: query.search_text(),
            region: query.text("region").to_owned(),
            status: query.text("status").to_owned(),
            page: query.text("page").to_owned(),
            sorting: Sorting::read(query, &["label", "status", "region", "type", "updated"]),
        }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.region.is_empty() && self.status.is_empty()
    }

    fn list_request(&self) -> ListRequest {
        let mut only = Vec::new();
        if parse_address(&self.text).is_ok() {
            only.push(Condition::equal("ipv4", self.text.as_str()));
        } else if !self.text.is_empty() {
            only.push(Condition::contained_in(["label", "id", "tags"], &self.text));
        }
        for (field, value) in [("region", &self.region), ("status", &self.status)] {
            if !value.is_empty() {
                only.push(Condition::equal(field, value.as_str()));
            }
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
            ("status", &self.status),
            (sorting::PARAMETER, sort),
        ] {
            if !value.is_empty() {
                query.append_pair(key, value);
            }
        }
        match query.finish() {
            query if query.is_empty() => page_url.to_owned(),
            query => format!("{page_url}?{query}"),
        }
    }

    fn form(&self, policy: &Policy) -> Markup {
        let regions = policy
            .regions
            .iter()
            .filter(|region| region.has_capability("Linodes"));
        html! {
            form .search role="search" aria-label="Instances" method="get" action=(LIST.1) hx-get=(LIST.1) hx-target="#list" hx-select="#list"
                hx-select-oob=(EXPORT_LINK) hx-swap="outerHTML" hx-replace-url="true" hx-sync="this:replace"
                hx-trigger="submit, input changed delay:250ms from:#q, change from:#region, change from:#status" {
                div .field {
                    label for="q" { "Search" }
                    input #q type="search" name="q" value=(self.text) autocomplete="off" spellcheck="false"
                        maxlength=(MAX_SEARCH_CHARS) placeholder="Label, ID, tag or public address";
                }
                div .field {
                    label for="region" { "Region" }
                    select #region name="region" {
                        option value="" { "All regions" }
                        @for region in regions {
                            option value=(region.id) selected[region.id == self.region] { (region.label) " (" (region.id) ")" }
                        }
                    }
                }
                div .field {
                    label for="status" { "Status" }
                    select #status name="status" {
                        option value="" { "Any" }
                        @for status in Status::ALL {
                            option value=(status.word()) selected[status.word() == self.status] { (status.word().replace('_', " ")) }
                        }
                    }
                }
                @if !self.sorting.parameter().is_empty() { input type="hidden" name=(sorting::PARAMETER) value=(self.sorting.parameter()); }
                button type="submit" { "Search" }
            }
        }
    }
}

fn no_instances(may_add: bool) -> Markup {
    match may_add {
        true => {
            let text = "An instance is a virtual machine. Attach it to subnets to give it private addresses.";
            empty_state(
                "No instances yet",
                text,
                Some(("Create instance", "/instances/new")),
            )
        }
        false => {
            let text =
                "You do not have access to any instances. Ask an account administrator to grant access.";
            empty_state("No instances available", text, None)
        }
    }
}

fn render_list(instances: &Paged<Instance>, search: &Search, policy: &Policy, allowed: Allowed) -> Markup {
    let list_url = search.url();
    let reload_url = page_url(&list_url, instances.page.number);
    let sort_url = |sort: &str| search.url_of(LIST.1, sort);
    html! {
        div #list hx-get=(reload_url) hx-trigger="garth:linode from:body" hx-select="#list" hx-select-oob=(EXPORT_LINK) hx-swap="outerHTML" {
            @if instances.results == 0 && search.is_empty() {
                (no_instances(allowed.add))
            } @else if instances.items.is_empty() && instances.results > 0 {
                (empty_state("This page is empty", "The list no longer has this many pages.", Some(("Go to the first page", &list_url))))
            } @else if instances.items.is_empty() {
                (empty_state("No results", "No instances match your search. To find a private address, use the search box above.", Some(("Clear search", LIST.1))))
            } @else {
                p .count role="status" { (pluralize(instances.results as usize, "instance", "instances")) }
                @if allowed.change { (selection::buttons(Target::Instances, &reload_url)) }
                table .list {
                    thead { tr {
                        @if allowed.change { (selection::header()) }
                        (search.sorting.header("Label", "label", sort_url)) (search.sorting.header("Status", "status", sort_url))
                        (search.sorting.header("Region", "region", sort_url)) (search.sorting.header("Plan", "type", sort_url))
                        th scope="col" { "Public address" } (search.sorting.header("Updated", "updated", sort_url))
                    } }
                    tbody { @for instance in &instances.items { (row(instance, policy, allowed)) } }
                }
                (pagination(instances, &list_url))
            }
        }
    }
}

fn row(instance: &Instance, policy: &Policy, allowed: Allowed) -> Markup {
    html! {
        tr {
            @if allowed.change { (selection::checkbox(instance.id.0, instance.label.as_str())) }
            th scope="row" { a href=(url(instance.id)) { (instance.label.as_str()) } " " span .id { (instance.id) } }
            td data-label="Status" { (status_tag(instance.status)) }
            td data-label="Region" { (region_name(policy, &instance.region)) }
            td data-label="Plan" { (plan_label(policy, &instance.plan)) }
            td data-label="Public address" { @for address in instance.ipv4.iter().take(1) { code { (write_address(*address)) } } }
            td data-label="Updated" { (time(instance.updated)) }
        }
    }
}
