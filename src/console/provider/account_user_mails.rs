//! The mails about a user of an account, with their state. They have no content.

use axum::extract::State;
use maud::{Markup, html};

use super::account_summary::{LIST, url};
use crate::console::error_page::PageResult;
use crate::console::layout::{empty_state, pagination, time};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::id::AccountId;
use crate::model::outgoing_mail::{MailKind, OutgoingMail};
use crate::rules;
use crate::rules::agent::Staff;
use crate::web::App;
use crate::web::extract::At;

pub fn mails_url(account: AccountId, username: &str) -> String {
    format!("{}/users/{username}/mails", url(account))
}

pub async fn page(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At((account, username)): At<(AccountId, String)>,
    query: Query,
) -> PageResult {
    let (list_request, name) = (query.list_request(), username.clone());
    let mails = app
        .read(staff, move |tx, _| {
            rules::account_users::mails(tx, account, &name, &list_request)
        })
        .await?;
    let title = format!("Mails about {username}");
    let body = html! {
        h1 { (title) }
        @if mails.items.is_empty() {
            (empty_state("No mails", "Garth has sent no mails about this user.", None))
        } @else {
            table .list {
                thead { tr {
                    th scope="col" { "Mail" } th scope="col" { "Address" } th scope="col" { "State" } th scope="col" { "Queued" }
                    th scope="col" { "Sent" } th scope="col" { "Error" }
                } }
                tbody { @for mail in &mails.items { (row(mail)) } }
            }
            (pagination(&mails, &mails_url(account, &username)))
        }
    };
    Ok(visit.page(&title, &[LIST, ("Account", &url(account))], &body))
}

fn row(mail: &OutgoingMail) -> Markup {
    let kind = match mail.kind {
        MailKind::Invitation => "Invitation",
        MailKind::Reset => "New password",
        _ => "Security notice",
    };
    html! {
        tr {
            th scope="row" { (kind) }
            td data-label="Address" { (mail.address.as_str()) }
            td data-label="State" { code { (mail.state.word()) } }
            td data-label="Queued" { (time(mail.queued)) }
            td data-label="Sent" { @match mail.sent { Some(sent) => (time(sent)), None => span .quiet { "Not sent" } } }
            td data-label="Error" { @match &mail.error { Some(error) => code { (error) }, None => span .quiet { "None" } } }
        }
    }
}
