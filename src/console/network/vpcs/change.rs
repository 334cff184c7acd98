//! Changing a VPC, and deleting it.

use axum::extract::State;
use axum::response::Response;
use maud::html;

use super::{DESCRIPTION, LIST, address, label_field, refusals};
use crate::console::error_page::Answer;
use crate::console::forms::{self, Card, SEEN, Sent, Typed};
use crate::console::layout::{counted, done};
use crate::console::subnets;
use crate::console::visit::Visit;
use crate::model::grant::Permission;
use crate::model::id::VpcId;
use crate::model::tag::Tag;
use crate::model::vpc::Vpc;
use crate::rules;
use crate::rules::caller::Caller;
use crate::web::App;
use crate::web::extract::At;

pub async fn edit(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<VpcId>) -> Answer {
    let vpc = app
        .read(caller, move |tx, caller| {
            rules::vpcs::load_for(tx, caller, id, Permission::ReadWrite)
        })
        .await?;
    let typed = Typed::proposed(&[
        ("label", vpc.label.as_str()),
        ("description", vpc.description.as_str()),
        (SEEN, &Tag::of(&vpc).to_string()),
    ]);
    Ok(draw_edit(&visit, &vpc, &typed))
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<VpcId>,
    sent: Sent,
) -> Answer {
    let request = sent.request(sent.object(&["label", "description"]));
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::vpcs::update(tx, caller, id, &request)
        })
        .await;
    let typed = match changed {
        Ok(vpc) => return Ok(done(&address(vpc.id), "vpc-changed")),
        Err(error) => forms::again(sent, error)?,
    };
    let vpc = app
        .read(caller, move |tx, caller| rules::vpcs::view(tx, caller, id))
        .await?;
    let typed = typed.now(&vpc).beside(&[
        ("label", vpc.label.as_str()),
        ("description", vpc.description.as_str()),
    ]);
    Ok(draw_edit(&visit, &vpc, &typed))
}

fn draw_edit(visit: &Visit, vpc: &Vpc, typed: &Typed) -> Response {
    let label = vpc.label.as_str();
    let here = address(vpc.id);
    let form = Card::new(format!("{here}/edit"), "Save", &here);
    let body = html! {
        h1 { "Edit " (label) }
        (forms::card(visit, typed, &form, &html! {
            (label_field(typed, "label", true))
            (forms::lines(typed, DESCRIPTION, 3))
            p .quiet { "Region: " strong { (vpc.region.0) } " (cannot be changed)" }
        }))
    };
    visit.form_page(typed, &format!("Edit {label}"), &[LIST, (label, &here)], &body)
}

pub async fn ask_delete(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<VpcId>) -> Answer {
    let (vpc, wrong) = app
        .read(caller, move |tx, caller| {
            let vpc = rules::vpcs::load_for(tx, caller, id, Permission::ReadWrite)?;
            let wrong = refusals(rules::subnets::refuse_if_used(tx, caller, &vpc.subnets))?;
            Ok((vpc, wrong))
        })
        .await?;
    let typed = Typed::refused(Sent::default(), wrong).now(&vpc);
    Ok(draw_delete(&visit, &vpc, &typed))
}

pub async fn delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<VpcId>,
    sent: Sent,
) -> Answer {
    let vpc = app
        .read(caller.clone(), move |tx, caller| {
            rules::vpcs::load_for(tx, caller, id, Permission::ReadWrite)
        })
        .await?;
    let request = sent.request(Vec::new());
    let deleting = app.write(caller, move |tx, caller| {
        rules::vpcs::delete(tx, caller, id, &request)
    });
    let deleted = forms::confirmed(&sent, vpc.label.as_str(), deleting).await;
    let typed = match deleted {
        Ok(()) => return Ok(done(LIST.1, "vpc-deleted")),
        Err(error) => forms::again(sent, error)?,
    };
    Ok(draw_delete(&visit, &vpc, &typed.now(&vpc)))
}

fn draw_delete(visit: &Visit, vpc: &Vpc, typed: &Typed) -> Response {
    let (label, here) = (vpc.label.as_str(), address(vpc.id));
    let form = Card::new(format!("{here}/delete"), "Delete VPC", &here).danger();
    let body = html! {
        h1 { "Delete " (label) "?" }
        @if subnets::is_blocked(typed) {
            (subnets::blockers("This VPC cannot be deleted while instances are attached to its subnets.", &vpc.subnets, typed))
            p { a .button href=(here) { "Back to VPC" } }
        } @else {
            (forms::card(visit, typed, &form, &html! {
                p {
                    "This permanently deletes the VPC"
                    @if !vpc.subnets.is_empty() { " and its " strong { (counted(vpc.subnets.len(), "subnet", "subnets")) } }
                    "."
                }
                (forms::confirm(typed, label))
            }))
        }
    };
    visit.form_page(typed, &format!("Delete {label}"), &[LIST, (label, &here)], &body)
}
