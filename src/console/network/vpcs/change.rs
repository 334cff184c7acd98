//! Editing and deleting a VPC.

use axum::extract::State;
use axum::response::Response;
use maud::html;

use super::{DESCRIPTION, LIST, field_errors, label_field, url};
use crate::console::blockers;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, FormData, FormState, VERSION_FIELD};
use crate::console::layout::{pluralize, redirect_with_notice};
use crate::console::visit::Visit;
use crate::model::entity_tag::EntityTag;
use crate::model::grant::Permission;
use crate::model::id::VpcId;
use crate::model::vpc::Vpc;
use crate::rules;
use crate::rules::caller::Caller;
use crate::web::App;
use crate::web::extract::At;

pub async fn edit(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<VpcId>) -> PageResult {
    let vpc = app
        .read(caller, move |tx, caller| {
            rules::vpcs::load_for(tx, caller, id, Permission::ReadWrite)
        })
        .await?;
    let form_state = FormState::prefilled(&[
        ("label", vpc.label.as_str()),
        ("description", vpc.description.as_str()),
        (VERSION_FIELD, &EntityTag::of(&vpc).to_string()),
    ]);
    Ok(render_edit(&visit, &vpc, &form_state))
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<VpcId>,
    data: FormData,
) -> PageResult {
    let request = data.request(data.object(&["label", "description"]));
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::vpcs::update(tx, caller, id, &request)
        })
        .await;
    let form_state = match changed {
        Ok(vpc) => return Ok(redirect_with_notice(&url(vpc.id), "vpc-changed")),
        Err(error) => forms::from_error(data, error)?,
    };
    let vpc = app
        .read(caller, move |tx, caller| rules::vpcs::view(tx, caller, id))
        .await?;
    let form_state = form_state.with_version_of(&vpc).with_current_values(&[
        ("label", vpc.label.as_str()),
        ("description", vpc.description.as_str()),
    ]);
    Ok(render_edit(&visit, &vpc, &form_state))
}

fn render_edit(visit: &Visit, vpc: &Vpc, form_state: &FormState) -> Response {
    let label = vpc.label.as_str();
    let vpc_url = url(vpc.id);
    let form = Card::new(format!("{vpc_url}/edit"), "Save", &vpc_url);
    let body = html! {
        h1 { "Edit " (label) }
        (forms::card(visit, form_state, &form, &html! {
            (label_field(form_state, "label", true))
            (forms::textarea(form_state, DESCRIPTION, 3))
            p .quiet { "Region: " strong { (vpc.region.0) } " (cannot be changed)" }
            @if let Some(ipv6) = vpc.ipv6 { p .quiet { "IPv6 range: " code { (ipv6) } " (cannot be changed)" } }
        }))
    };
    visit.form_page(
        form_state,
        &format!("Edit {label}"),
        &[LIST, (label, &vpc_url)],
        &body,
    )
}

pub async fn confirm_delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<VpcId>,
) -> PageResult {
    let (vpc, errors) = app
        .read(caller, move |tx, caller| {
            let vpc = rules::vpcs::load_for(tx, caller, id, Permission::ReadWrite)?;
            let errors = field_errors(rules::subnets::refuse_if_used(tx, caller, &vpc.subnets))?;
            Ok((vpc, errors))
        })
        .await?;
    let form_state = FormState::with_errors(FormData::default(), errors).with_version_of(&vpc);
    Ok(render_delete(&visit, &vpc, &form_state))
}

pub async fn delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<VpcId>,
    data: FormData,
) -> PageResult {
    let vpc = app
        .read(caller.clone(), move |tx, caller| {
            rules::vpcs::load_for(tx, caller, id, Permission::ReadWrite)
        })
        .await?;
    let request = data.request(Vec::new());
    let deleting = app.write(caller, move |tx, caller| {
        rules::vpcs::delete(tx, caller, id, &request)
    });
    let deleted = forms::if_confirmed(&data, vpc.label.as_str(), deleting).await;
    let form_state = match deleted {
        Ok(()) => return Ok(redirect_with_notice(LIST.1, "vpc-deleted")),
        Err(error) => forms::from_error(data, error)?,
    };
    Ok(render_delete(&visit, &vpc, &form_state.with_version_of(&vpc)))
}

fn render_delete(visit: &Visit, vpc: &Vpc, form_state: &FormState) -> Response {
    let (label, vpc_url) = (vpc.label.as_str(), url(vpc.id));
    let form = Card::new(format!("{vpc_url}/delete"), "Delete VPC", &vpc_url).danger();
    let body = html! {
        h1 { "Delete the VPC “" (label) "”?" }
        @if blockers::is_blocked(form_state) {
            (blockers::render("This VPC cannot be deleted while instances are attached to its subnets.", &vpc.subnets, form_state, &format!("{vpc_url}/delete")))
            p { a .button href=(vpc_url) { "Back to VPC" } }
        } @else {
            (forms::card(visit, form_state, &form, &html! {
                p {
                    "This permanently deletes the VPC"
                    @if !vpc.subnets.is_empty() { " and its " strong { (pluralize(vpc.subnets.len(), "subnet", "subnets")) } }
                    "."
                }
                (forms::confirmation_input(form_state, label))
            }))
        }
    };
    visit.form_page(
        form_state,
        &format!("Delete {label}"),
        &[LIST, (label, &vpc_url)],
        &body,
    )
}
