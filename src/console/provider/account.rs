//! The page of an account for the provider: recent tickets, usage, users and actions.

use axum::extract::State;
use maud::{Markup, html};

use super::account_activity::activity_url;
use super::account_summary::{LIST, name, refused, status_tag, url};
use super::{account_networks, account_users};
use crate::console::desk;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, FormData, FormState};
use crate::console::layout::{number, redirect_with_error, redirect_with_notice, size, time};
use crate::console::threads::{self, confirmation};
use crate::console::usage::{bytes_meter, used_meter};
use crate::console::visit::Visit;
use crate::declared;
use crate::model::account::Account;
use crate::model::account::status::AccountStatus;
use crate::model::id::AccountId;
use crate::model::policy::Quota;
use crate::model::staff_role::StaffRole;
use crate::model::ticket::DeskTicket;
use crate::rules;
use crate::rules::addresses::Usage;
use crate::rules::agent::{Agent, Staff};
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::rules::provider_accounts::{AccountDetails, quota};
use crate::rules::request::Request;
use crate::store::{ReadTx, WriteTx};
use crate::web::extract::At;
use crate::web::{App, downloads};

type Path = At<AccountId>;

pub async fn view(State(app): State<App>, visit: Visit, staff: Staff, At(id): Path) -> PageResult {
    let (details, tickets, users, networks) = app
        .read(staff, move |tx, _| {
            let details = rules::provider_accounts::view(tx, id)?;
            let list = account_users::list_request();
            let users = rules::account_users::list(tx, id, &list)?;
            let tickets = recent_tickets(tx, id)?;
            Ok((details, tickets, users, account_networks::summary(tx, id)?))
        })
        .await?;
    let title = name(&details.account);
    let limits = quota(&details.account, app.store().policy().quota);
    let body = html! {
        div .title {
            h1 { (title) }
            div .actions { (actions(&visit, &details)) }
        }
        @if let Some(message) = &visit.refused { div .alert role="alert" { p { (message) } } }
        (facts(&details))
        // The first user is the next step after the creation of an account.
        @if users.results == 0 { (account_users::section(&app, &visit, &details.account, &users)) }
        @if !tickets.is_empty() { (ticket_section(id, &tickets)) }
        section aria-labelledby="usage" { h2 #usage { "Usage" } (usage_table(&details, limits)) }
        section aria-labelledby="quotas" { h2 #quotas { "Quotas" } (quota_facts(&details.account, limits)) }
        @if users.results > 0 { (account_users::section(&app, &visit, &details.account, &users)) }
        (networks.render(id, &app.store().policy()))
    };
    Ok(visit.page(title, &[LIST], &body))
}

fn facts(details: &AccountDetails) -> Markup {
    let account = &details.account;
    html! {
        dl .facts {
            div { dt { "Status" } dd { (status_tag(account.status)) } }
            div { dt { "E-mail" } dd { (account.email) } }
            div { dt { "Created" } dd { (time(account.created)) } }
            div { dt { "ID" } dd { (account.id) } }
            div { dt { "Activity" } dd { a href=(activity_url(account.id)) { "All events" } } }
            div { dt { "Tickets" } dd {
                a href=(format!("/desk?account={}", account.id)) { (number(details.usage.open_tickets.unsigned_abs())) " open" }
                " of "
                a href=(tickets_url(account.id)) { (number(details.usage.tickets.unsigned_abs())) }
            } }
        }
    }
}

/// The queue with all tickets of an account.
fn tickets_url(account: AccountId) -> String {
    format!("/desk?account={account}&status=all")
}

/// The newest tickets of an account.
fn recent_tickets(tx: &mut ReadTx, account: AccountId) -> rules::Result<Vec<DeskTicket>> {
    const MAX_SHOWN: i64 = 5;
    let of_account = ListRequest::first(MAX_SHOWN).only(Condition::equal("account_id", account));
    Ok(rules::desk::list(tx, &of_account.sorted("id", true), None)?.items)
}

fn ticket_section(account: AccountId, tickets: &[DeskTicket]) -> Markup {
    html! {
        section aria-labelledby="tickets" {
            h2 #tickets { "Recent tickets" }
            table .list {
                thead { tr { th scope="col" { "Ticket" } th scope="col" { "Status" } th scope="col" { "Opened" } } }
                tbody {
                    @for ticket in tickets.iter().map(|desk| &desk.ticket) {
                        tr {
                            th scope="row" { a href=(desk::url(ticket.id)) { (ticket.summary.as_str()) } " " span .id { (ticket.id) } }
                            td data-label="Status" { (threads::status_tag(ticket.status)) }
                            td data-label="Opened" { (time(ticket.opened)) }
                        }
                    }
                }
            }
            p { a href=(tickets_url(account)) { "All tickets" } }
        }
    }
}

/// The quotas, and which of them are the provider's defaults.
fn quota_facts(account: &Account, limits: Quota) -> Markup {
    let quota = account.quota;
    let limit = |value: i64, own: Option<i64>| (number(value.unsigned_abs()), own.is_some());
    let bytes = (size(limits.attachment_bytes), quota.attachment_bytes.is_some());
    let quotas = [
        (
            "VPCs per region",
            limit(limits.vpcs_per_region, quota.vpcs_per_region),
        ),
        (
            "Subnets per VPC",
            limit(limits.subnets_per_vpc, quota.subnets_per_vpc),
        ),
        ("Ticket attachments", bytes),
    ];
    html! {
        dl .facts {
            @for (label, (value, is_own)) in &quotas {
                div { dt { (label) } dd { (value) @if !is_own { " " span .quiet { "default" } } } }
            }
        }
    }
}

fn usage_table(details: &AccountDetails, limits: Quota) -> Markup {
    let used = &details.usage;
    let usage = |used: i64, limit: i64| Usage {
        used: used.unsigned_abs(),
        all: limit.unsigned_abs(),
    };
    html! {
        table .list {
            thead { tr { th scope="col" { "Resource" } th scope="col" { "In use" } } }
            tbody {
                @if used.vpcs.is_empty() {
                    tr { th scope="row" { "VPCs" } td data-label="In use" { "0" } }
                }
                @for (region, count) in &used.vpcs {
                    tr { th scope="row" { "VPCs in " (region) } td data-label="In use" { (used_meter(usage(*count, limits.vpcs_per_region))) } }
                }
                tr { th scope="row" { "Subnets in the largest VPC" } td data-label="In use" { (used_meter(usage(used.most_subnets, limits.subnets_per_vpc))) } }
                tr { th scope="row" { "Subnets" } td data-label="In use" { (number(used.subnets.unsigned_abs())) } }
                tr { th scope="row" { "Instances" } td data-label="In use" { (number(used.instances.unsigned_abs())) } }
                tr { th scope="row" { "Ticket attachments" } td data-label="In use" { (bytes_meter(usage(used.attachment_bytes, limits.attachment_bytes))) } }
            }
        }
    }
}

fn actions(visit: &Visit, details: &AccountDetails) -> Markup {
    let account = &details.account;
    let action = |action: &str| format!("{}/{action}", url(account.id));
    let is_open = account.status != AccountStatus::Closed;
    html! {
        @if is_open { a .button href=(format!("/desk/tickets/new?account_id={}", account.id)) { "Open a ticket" } }
        @if is_open && visit.has_role(StaffRole::Operator) {
            a .button href=(action("edit")) { "Edit" }
            a .button href=(action("quotas")) { "Quotas" }
            @if account.status == AccountStatus::Suspended {
                form method="post" action=(action("reactivate")) { (visit.form_token()) button type="submit" { "Reactivate" } }
            } @else {
                (confirmation("Suspend", (true, None), &html! {
                    p { "The tokens and sessions of all users are refused. Instances and networks continue to run." }
                    form method="post" action=(action("suspend")) {
                        (visit.form_token())
                        button .danger type="submit" { "Suspend " (name(account)) }
                    }
                }))
            }
        }
        @if visit.has_role(StaffRole::Admin) {
            a .button href=(action("export")) download { "Export" }
        }
        @if is_open && visit.has_role(StaffRole::Admin) {
            (confirmation("Close", (true, None), &html! {
                p { "The account must have no instances and no VPCs. A user of the account deletes them in the console or with the API. Without the customer, create a token of such a user on the server with " code { "garth token create" } "." }
                p {
                    a href=(action("export")) download { "Export the data" } " first, to give it to the customer: VPCs, instances, users, and "
                    "tickets with their replies. Of attachments, it has only the names."
                }
                p { "A closed account cannot be reactivated." }
                form method="post" action=(action("close")) {
                    (visit.form_token())
                    (forms::confirmation_input(&FormState::default(), name(account)))
                    button .danger type="submit" { "Close " (name(account)) }
                }
            }))
        }
    }
}

pub async fn suspend(State(app): State<App>, staff: Staff, At(id): Path, data: FormData) -> PageResult {
    change(
        &app,
        staff,
        id,
        data,
        "account-suspended",
        rules::provider_accounts::suspend,
    )
    .await
}

pub async fn reactivate(State(app): State<App>, staff: Staff, At(id): Path, data: FormData) -> PageResult {
    change(
        &app,
        staff,
        id,
        data,
        "account-reactivated",
        rules::provider_accounts::reactivate,
    )
    .await
}

/// The data of the account as a file.
pub async fn export(State(app): State<App>, staff: Staff, At(id): Path) -> PageResult {
    let export = app
        .read(staff, move |tx, _| declared::export_account(tx, id))
        .await?;
    Ok(downloads::json_file(&export.file_name(), export.to_json()))
}

/// Closes the account, if the user typed its name.
pub async fn close(State(app): State<App>, staff: Staff, At(id): Path, data: FormData) -> PageResult {
    let account = app
        .read(staff.clone(), move |tx, _| rules::accounts::load(tx, id))
        .await?;
    if forms::check_confirmation(&data, name(&account)).is_err() {
        let text = format!("To close the account, type “{}”", name(&account));
        return Ok(redirect_with_error(&url(id), &text));
    }
    let request = data.request(Vec::new());
    let closed = app
        .write(staff, move |tx, staff| {
            rules::provider_accounts::close(tx, Some(&staff.agent), id, &request)
        })
        .await;
    match closed {
        Ok(_) => Ok(redirect_with_notice(&url(id), "account-closed")),
        Err(error) => refused(&url(id), error),
    }
}

/// Runs a rule, and returns to the page of the account.
async fn change(
    app: &App,
    staff: Staff,
    id: AccountId,
    data: FormData,
    notice: &str,
    rule: fn(&mut WriteTx, Option<&Agent>, AccountId, &Request) -> rules::Result<AccountDetails>,
) -> PageResult {
    let request = data.request(Vec::new());
    let write = move |tx: &mut WriteTx, staff: &Staff| rule(tx, Some(&staff.agent), id, &request);
    match app.write(staff, write).await {
        Ok(_) => Ok(redirect_with_notice(&url(id), notice)),
        Err(error) => refused(&url(id), error),
    }
}
