//! The state of mail: mails to send, received messages, and addresses that get no mails, because a mail server has
//! refused them.

use axum::extract::State;
use maud::{Markup, html};

use super::account_summary::refused;
use super::mail_counts;
use super::tabs::{MAIL as LIST, MAIL_TEMPLATES, tabs};
use crate::console::error_page::PageResult;
use crate::console::forms::{FormData, VERSION_FIELD};
use crate::console::layout::{pagination, redirect_with_notice, time};
use crate::console::outgoing_mail::missing_server;
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::entity_tag::EntityTag;
use crate::model::id::SuppressedAddressId;
use crate::model::outgoing_mail::SuppressedAddress;
use crate::rules;
use crate::rules::agent::Staff;
use crate::web::App;
use crate::web::extract::At;

pub async fn list(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    let list_request = query.list_request();
    let (suppressed, status) = app
        .read(staff, move |tx, _| {
            let suppressed = rules::suppressed_addresses::list(tx, &list_request)?;
            Ok((suppressed, rules::mail_counts::status(tx)?))
        })
        .await?;
    let body = html! {
        (tabs(&visit, LIST.1))
        div .title { h1 { "Mail" } }
        p .lead { "The state of mail. " a href=(MAIL_TEMPLATES.1) { "Mail templates" } " has the texts of mails." }
        (missing_server(&app))
        @if let Some(message) = &visit.refused { div .alert role="alert" { p { (message) } } }
        (mail_counts::sections(&status))
        section aria-labelledby="suppressed" {
            h2 #suppressed { "Suppressed addresses" }
            @if suppressed.items.is_empty() {
                p .quiet { "No mail server has refused an address." }
            } @else {
                p { "A mail server has refused these addresses permanently. They get no mails until you allow them again." }
                table .list {
                    thead { tr {
                        th scope="col" { "Address" } th scope="col" { "Status" } th scope="col" { "Since" } th scope="col" { span .hidden { "Actions" } }
                    } }
                    tbody { @for address in &suppressed.items { (row(&visit, address)) } }
                }
                (pagination(&suppressed, LIST.1))
            }
        }
    };
    Ok(visit.page("Mail", &[], &body))
}

fn row(visit: &Visit, suppressed: &SuppressedAddress) -> Markup {
    let address = suppressed.address.as_str();
    html! {
        tr {
            th scope="row" { (address) }
            td data-label="Status" { code { (suppressed.status) } }
            td data-label="Since" { (time(suppressed.since)) }
            td {
                form method="post" novalidate action=(format!("{}/{}/delete", LIST.1, suppressed.id)) {
                    (visit.form_token())
                    input type="hidden" name=(VERSION_FIELD) value=(EntityTag::of(suppressed).to_string());
                    button type="submit" aria-label=(format!("Allow {address}")) { "Allow" }
                }
            }
        }
    }
}

pub async fn delete(
    State(app): State<App>,
    staff: Staff,
    At(id): At<SuppressedAddressId>,
    data: FormData,
) -> PageResult {
    let request = data.request(Vec::new());
    let deleted = app
        .write(staff, move |tx, _| {
            rules::suppressed_addresses::delete(tx, id, &request)
        })
        .await;
    match deleted {
        Ok(()) => Ok(redirect_with_notice(LIST.1, "address-allowed")),
        Err(error) => refused(LIST.1, error),
    }
}
