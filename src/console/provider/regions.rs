//! Pages for the provider's regions: list, add, change and retire.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::account_summary::refused;
use super::catalog::{count, number_cell, redirect_to_row, retirement, row_id, source};
use super::tabs::{REGIONS as LIST, tabs};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState};
use crate::console::layout::pagination;
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::input::Input;
use crate::model::region::Region;
use crate::model::stored_catalog::CatalogId;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::provider_regions::{RegionDetails, RegionLabel};
use crate::rules::request::Request;
use crate::store::WriteTx;
use crate::web::App;
use crate::web::extract::At;

const NEW_URL: &str = "/provider/regions/new";
/// The prefix of the IDs of rows.
const ROW: &str = "region";

fn url(id: &str) -> String {
    format!("{}/{id}", LIST.1)
}

pub async fn list(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    let list_request = query.list_request();
    let regions = app
        .read(staff, move |tx, _| {
            rules::provider_regions::list(tx, &list_request)
        })
        .await?;
    let policy = &app.store().context().policy;
    let body = html! {
        (tabs(&visit, LIST.1))
        div .title { h1 { "Regions" } a .button.main href=(NEW_URL) { "Add region" } }
        p .lead {
            "Customers create VPCs and instances in these regions. Changes apply without a restart. In a region without hosts, instances are simulated."
        }
        (count(&regions, "region", "regions"))
        table .list.catalog {
            thead { tr {
                th scope="col" { "Region" } th scope="col" { "Country" } th scope="col" { "Status" }
                th scope="col" .number { "Instances" } th scope="col" .number { "VPCs" } th scope="col" .number { "Hosts" }
                th scope="col" { "Source" }
            } }
            tbody { @for details in &regions.items { (row(details, policy.configures_region(&details.region.id))) } }
        }
        (pagination(&regions, LIST.1))
    };
    Ok(visit.page("Regions", &[], &body))
}

fn row(details: &RegionDetails, is_configured: bool) -> Markup {
    let (region, usage) = (&details.region, details.usage);
    html! {
        tr #(row_id(ROW, &region.id)) {
            th scope="row" { a href=(url(&region.id)) { (region.label) } " " span .quiet.small { (region.id) } }
            td data-label="Country" { (region.country) }
            td data-label="Status" { (status_tag(region)) }
            td .number data-label="Instances" { (number_cell(usage.instances)) }
            td .number data-label="VPCs" { (number_cell(usage.vpcs)) }
            td .number data-label="Hosts" { (number_cell(usage.hosts)) }
            td data-label="Source" { (source(is_configured, details.updated)) }
        }
    }
}

fn status_tag(region: &Region) -> Markup {
    html! {
        @if region.retired { span .tag { "Retired" } }
        @else if region.status == "ok" { span .tag.on { "OK" } }
        @else if region.status == "outage" { span .tag.bad { "Outage" } }
        @else { span .tag { (region.status) } }
    }
}

/// The capabilities that a form offers: all that Garth knows, and those that the region has.
fn offered(region: Option<&Region>) -> Vec<String> {
    let mut offered: Vec<String> = Region::known_capabilities()
        .into_iter()
        .map(str::to_owned)
        .collect();
    let held = region.into_iter().flat_map(|region| &region.capabilities);
    for capability in held {
        if !offered.contains(capability) {
            offered.push(capability.clone());
        }
    }
    offered
}

fn capability_field(at: usize) -> String {
    format!("capabilities[{at}]")
}

fn form_state_of(region: &Region) -> FormState {
    let mut form_state = FormState::prefilled(&editable_fields(region)).with_version_of(region);
    check_capabilities(&mut form_state, &offered(Some(region)), &region.capabilities);
    form_state
}

fn check_capabilities(form_state: &mut FormState, offered: &[String], held: &[String]) {
    for (at, capability) in offered.iter().enumerate() {
        if held.contains(capability) {
            form_state.data.set(&capability_field(at), "true");
        }
    }
}

fn editable_fields(region: &Region) -> [(&'static str, &str); 3] {
    [
        ("label", &region.label),
        ("country", &region.country),
        ("status", &region.status),
    ]
}

fn fields(form_state: &FormState, region: Option<&Region>) -> Markup {
    let label = Field {
        name: "label",
        label: "Label",
        autofocus: region.is_some(),
        max_chars: Some(RegionLabel::MAX),
        ..Field::default()
    };
    let country = Field {
        name: "country",
        label: "Country",
        hint: "A code of two letters, such as us.",
        max_chars: Some(2),
        code: true,
        ..Field::default()
    };
    let status = Field {
        name: "status",
        label: "Status",
        hint: "Customers see it in the API. It does not limit them.",
        ..Field::default()
    };
    let statuses = Region::STATUSES.map(|status| (status.to_owned(), status.to_owned()));
    let offered = offered(region);
    html! {
        (forms::text_input(form_state, label))
        (forms::text_input(form_state, country))
        (forms::select(form_state, status, &statuses))
        fieldset .field aria-describedby="capabilities-hint" {
            legend { "Capabilities" }
            p #capabilities-hint .hint { "What clients may use in the region, with the names of the API. “Linodes” means instances. The defaults suit most regions." }
            @for (at, capability) in offered.iter().enumerate() {
                (forms::checkbox(form_state, Field { name: &capability_field(at), label: capability, ..Field::default() }))
            }
        }
    }
}

/// The request of a form.
fn request(data: &FormData, region: Option<&Region>) -> Request {
    let mut object = data.object(&["label"]);
    let country = data.text("country").trim().to_lowercase();
    object.push(("country".to_owned(), Input::Text(country)));
    object.extend(data.non_empty(&["status"]));
    if region.is_none() {
        object.extend(data.object(&["id"]));
    }
    let offered = offered(region).into_iter().enumerate();
    let chosen = offered.filter(|(at, _)| data.text(&capability_field(*at)) == "true");
    let chosen = chosen.map(|(_, capability)| Input::Text(capability));
    object.push(("capabilities".to_owned(), Input::List(chosen.collect())));
    data.request(object)
}

pub async fn new(visit: Visit) -> PageResult {
    let mut form_state = FormState::prefilled(&[("status", Region::STATUSES[0])]);
    check_capabilities(&mut form_state, &offered(None), &Region::all_capabilities());
    Ok(render_new(&visit, &form_state))
}

pub async fn create(State(app): State<App>, visit: Visit, staff: Staff, data: FormData) -> PageResult {
    let request = request(&data, None);
    let created = app
        .write(staff, move |tx, _| rules::provider_regions::create(tx, &request))
        .await;
    match created {
        Ok(created) => Ok(redirect_to_region(&created, "region-saved")),
        Err(error) => Ok(render_new(&visit, &forms::from_error(data, error)?)),
    }
}

fn render_new(visit: &Visit, form_state: &FormState) -> Response {
    let id = Field {
        name: "id",
        label: "ID",
        hint: "Lowercase letters, digits, dashes and dots, such as eu-north. Cannot be changed later.",
        autofocus: true,
        code: true,
        max_chars: Some(CatalogId::MAX),
        ..Field::default()
    };
    let form = Card::new(NEW_URL, "Add region", LIST.1);
    let body = html! {
        h1 { "Add region" }
        (forms::card(visit, form_state, &form, &html! {
            (forms::text_input(form_state, id))
            (fields(form_state, None))
        }))
    };
    visit.form_page(form_state, "Add region", &[LIST], &body)
}

fn redirect_to_region(details: &RegionDetails, notice: &str) -> Response {
    redirect_to_row(LIST.1, ROW, &details.region.id, notice)
}

async fn load(app: &App, staff: Staff, id: String) -> rules::Result<RegionDetails> {
    app.read(staff, move |tx, _| rules::provider_regions::view(tx, &id))
        .await
}

pub async fn edit(State(app): State<App>, visit: Visit, staff: Staff, At(id): At<String>) -> PageResult {
    let details = load(&app, staff, id).await?;
    Ok(render_edit(&visit, &details, &form_state_of(&details.region)))
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<String>,
    data: FormData,
) -> PageResult {
    let details = load(&app, staff.clone(), id.clone()).await?;
    let request = request(&data, Some(&details.region));
    let changed = app
        .write(staff, move |tx, _| {
            rules::provider_regions::update(tx, &id, &request)
        })
        .await;
    let form_state = match changed {
        Ok(changed) => return Ok(redirect_to_region(&changed, "region-saved")),
        Err(error) => forms::from_error(data, error)?,
    };
    let form_state = form_state
        .with_version_of(&details.region)
        .with_current_values(&editable_fields(&details.region));
    Ok(render_edit(&visit, &details, &form_state))
}

fn render_edit(visit: &Visit, details: &RegionDetails, form_state: &FormState) -> Response {
    let region = &details.region;
    let (title, region_url) = (format!("Edit {}", region.label), url(&region.id));
    let form = Card::new(region_url.clone(), "Save", LIST.1);
    let effect = "Customers can no longer create objects in this region. Existing objects remain.";
    let body = html! {
        div .title {
            h1 { (title) }
            div .actions { (retirement(visit, &region_url, &region.label, region.retired, effect)) }
        }
        @if let Some(message) = &visit.refused { div .alert role="alert" { p { (message) } } }
        (forms::card(visit, form_state, &form, &fields(form_state, Some(region))))
    };
    visit.form_page(form_state, &title, &[LIST], &body)
}

pub async fn retire(State(app): State<App>, staff: Staff, At(id): At<String>, data: FormData) -> PageResult {
    change(
        &app,
        staff,
        id,
        &data,
        "region-retired",
        rules::provider_regions::retire,
    )
    .await
}

pub async fn reactivate(
    State(app): State<App>,
    staff: Staff,
    At(id): At<String>,
    data: FormData,
) -> PageResult {
    let rule = rules::provider_regions::reactivate;
    change(&app, staff, id, &data, "region-reactivated", rule).await
}

/// Runs a rule, and returns to the list.
async fn change(
    app: &App,
    staff: Staff,
    id: String,
    data: &FormData,
    notice: &str,
    rule: fn(&mut WriteTx, &str, &Request) -> rules::Result<RegionDetails>,
) -> PageResult {
    let (request, region_url) = (data.request(Vec::new()), url(&id));
    match app.write(staff, move |tx, _| rule(tx, &id, &request)).await {
        Ok(changed) => Ok(redirect_to_region(&changed, notice)),
        Err(error) => refused(&region_url, error),
    }
}
