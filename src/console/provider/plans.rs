//! Pages for the provider's plans: list, add, change and retire.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::account_summary::refused;
use super::catalog::{count, number_cell, redirect_to_row, retirement, row_id, source};
use super::plan_form::{editable_fields, explained, fields, request};
use super::tabs::{PLANS as LIST, tabs};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState};
use crate::console::instances::{plan_size, price};
use crate::console::layout::pagination;
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::stored_catalog::CatalogId;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::provider_plans::PlanDetails;
use crate::rules::request::Request;
use crate::store::WriteTx;
use crate::web::App;
use crate::web::extract::At;

const NEW_URL: &str = "/provider/plans/new";
/// The prefix of the IDs of rows.
const ROW: &str = "plan";

fn url(id: &str) -> String {
    format!("{}/{id}", LIST.1)
}

pub async fn list(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    let list_request = query.list_request();
    let plans = app
        .read(staff, move |tx, _| rules::provider_plans::list(tx, &list_request))
        .await?;
    let policy = &app.store().context().policy;
    let body = html! {
        (tabs(&visit, LIST.1))
        div .title { h1 { "Plans" } a .button.main href=(NEW_URL) { "Add plan" } }
        p .lead { "Customers choose one of these plans for each instance. Changes apply without a restart." }
        (count(&plans, "plan", "plans"))
        table .list.catalog {
            thead { tr {
                th scope="col" { "Plan" } th scope="col" { "Class" } th scope="col" .number { "vCPUs" }
                th scope="col" .number { "Memory" } th scope="col" .number { "Disk" } th scope="col" .number { "Transfer" }
                th scope="col" .number { "Price" } th scope="col" .number { "Instances" } th scope="col" { "Source" }
            } }
            tbody { @for details in &plans.items { (row(details, policy.configures_plan(&details.plan.id))) } }
        }
        (pagination(&plans, LIST.1))
    };
    Ok(visit.page("Plans", &[], &body))
}

fn row(details: &PlanDetails, is_configured: bool) -> Markup {
    let plan = &details.plan;
    html! {
        tr #(row_id(ROW, &plan.id)) {
            th scope="row" {
                a href=(url(&plan.id)) { (plan.label) } " " span .quiet.small { (plan.id) }
                @if plan.retired { " " span .tag { "Retired" } }
            }
            td data-label="Class" { (plan.class) }
            td .number data-label="vCPUs" { (number_cell(plan.vcpus)) }
            td .number data-label="Memory" { (plan_size(plan.memory)) }
            td .number data-label="Disk" { (plan_size(plan.disk)) }
            td .number data-label="Transfer" { (number_cell(plan.transfer)) " GB" }
            td .number.price data-label="Price" {
                div { (price(plan.prices.monthly)) " a month" br; span .quiet.small { (price(plan.prices.hourly)) " an hour" } }
            }
            td .number data-label="Instances" { (number_cell(details.instances)) }
            td data-label="Source" { (source(is_configured, details.updated)) }
        }
    }
}

pub async fn new(visit: Visit) -> PageResult {
    let form_state = FormState::prefilled(&[("class", "standard")]);
    Ok(render_new(&visit, &form_state))
}

pub async fn create(State(app): State<App>, visit: Visit, staff: Staff, data: FormData) -> PageResult {
    let request = request(&data, true);
    let created = app
        .write(staff, move |tx, _| rules::provider_plans::create(tx, &request))
        .await;
    match created {
        Ok(created) => Ok(redirect_to_plan(&created, "plan-saved")),
        Err(error) => Ok(render_new(&visit, &explained(forms::from_error(data, error)?))),
    }
}

fn render_new(visit: &Visit, form_state: &FormState) -> Response {
    let id = Field {
        name: "id",
        label: "ID",
        hint: "Lowercase letters, digits, dashes and dots, such as g1-small. Cannot be changed later.",
        autofocus: true,
        code: true,
        max_chars: Some(CatalogId::MAX),
        ..Field::default()
    };
    let form = Card::new(NEW_URL, "Add plan", LIST.1);
    let body = html! {
        h1 { "Add plan" }
        (forms::card(visit, form_state, &form, &html! {
            (forms::text_input(form_state, id))
            (fields(form_state, true))
        }))
    };
    visit.form_page(form_state, "Add plan", &[LIST], &body)
}

fn redirect_to_plan(details: &PlanDetails, notice: &str) -> Response {
    redirect_to_row(LIST.1, ROW, &details.plan.id, notice)
}

async fn load(app: &App, staff: Staff, id: String) -> rules::Result<PlanDetails> {
    app.read(staff, move |tx, _| rules::provider_plans::view(tx, &id))
        .await
}

pub async fn edit(State(app): State<App>, visit: Visit, staff: Staff, At(id): At<String>) -> PageResult {
    let details = load(&app, staff, id).await?;
    let mut form_state = FormState::default().with_version_of(&details.plan);
    for (name, value) in editable_fields(&details.plan) {
        form_state.data.set(name, value);
    }
    Ok(render_edit(&visit, &details, &form_state))
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<String>,
    data: FormData,
) -> PageResult {
    let (request, plan_id) = (request(&data, false), id.clone());
    let changed = app
        .write(staff.clone(), move |tx, _| {
            rules::provider_plans::update(tx, &plan_id, &request)
        })
        .await;
    let form_state = match changed {
        Ok(changed) => return Ok(redirect_to_plan(&changed, "plan-saved")),
        Err(error) => explained(forms::from_error(data, error)?),
    };
    let details = load(&app, staff, id).await?;
    let current = editable_fields(&details.plan);
    let current: Vec<_> = current
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let form_state = form_state
        .with_version_of(&details.plan)
        .with_current_values(&current);
    Ok(render_edit(&visit, &details, &form_state))
}

fn render_edit(visit: &Visit, details: &PlanDetails, form_state: &FormState) -> Response {
    let plan = &details.plan;
    let (title, plan_url) = (format!("Edit {}", plan.label), url(&plan.id));
    let form = Card::new(plan_url.clone(), "Save", LIST.1);
    let effect = "Customers can no longer choose this plan. Existing instances keep it.";
    let body = html! {
        div .title {
            h1 { (title) }
            div .actions { (retirement(visit, &plan_url, &plan.label, plan.retired, effect)) }
        }
        @if let Some(message) = &visit.refused { div .alert role="alert" { p { (message) } } }
        (forms::card(visit, form_state, &form, &fields(form_state, false)))
    };
    visit.form_page(form_state, &title, &[LIST], &body)
}

pub async fn retire(State(app): State<App>, staff: Staff, At(id): At<String>, data: FormData) -> PageResult {
    change(
        &app,
        staff,
        id,
        &data,
        "plan-retired",
        rules::provider_plans::retire,
    )
    .await
}

pub async fn reactivate(
    State(app): State<App>,
    staff: Staff,
    At(id): At<String>,
    data: FormData,
) -> PageResult {
    let rule = rules::provider_plans::reactivate;
    change(&app, staff, id, &data, "plan-reactivated", rule).await
}

/// Runs a rule, and returns to the list.
async fn change(
    app: &App,
    staff: Staff,
    id: String,
    data: &FormData,
    notice: &str,
    rule: fn(&mut WriteTx, &str, &Request) -> rules::Result<PlanDetails>,
) -> PageResult {
    let (request, plan_url) = (data.request(Vec::new()), url(&id));
    match app.write(staff, move |tx, _| rule(tx, &id, &request)).await {
        Ok(changed) => Ok(redirect_to_plan(&changed, notice)),
        Err(error) => refused(&plan_url, error),
    }
}
