//! The provider's list of accounts, and the form for a new account.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::account_summary::{LIST, name, status_tag, url};
use super::tabs::tabs;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, Field, FormData, FormState};
use crate::console::layout::{empty_state, number, pagination, pluralize, redirect_with_notice, time};
use crate::console::query::{MAX_SEARCH_CHARS, Query};
use crate::console::visit::Visit;
use crate::model::account::Account;
use crate::model::page::Page;
use crate::model::staff_role::StaffRole;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::conditions::Condition;
use crate::rules::provider_accounts::ObjectCounts;
use crate::web::App;

const NEW_URL: &str = "/provider/accounts/new";

pub async fn list(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    let search = query.search_text();
    let mut list_request = query.list_request(Page::DEFAULT_SIZE);
    if !search.is_empty() {
        list_request = list_request.only(Condition::contained_in(["company", "email"], &search));
    }
    let (accounts, counts) = app
        .read(staff, move |tx, _| {
            let accounts = rules::provider_accounts::list(tx, &list_request)?;
            let counts = rules::provider_accounts::object_counts(tx, &accounts.items)?;
            Ok((accounts, counts))
        })
        .await?;
    let body = html! {
        (tabs(&visit, LIST.1))
        div .title {
            h1 { "Accounts" }
            @if visit.has_role(StaffRole::Admin) { a .button.main href=(NEW_URL) { "Create account" } }
        }
        form .search role="search" aria-label="Accounts" method="get" action=(LIST.1) {
            div .field {
                label for="q" { "Search" }
                input #q type="search" name="q" value=(search) autocomplete="off" spellcheck="false" maxlength=(MAX_SEARCH_CHARS)
                    placeholder="Company or e-mail";
            }
            button type="submit" { "Search" }
        }
        @if accounts.items.is_empty() {
            (empty_state("No accounts", "No account matches.", None))
        } @else {
            p .count role="status" { (pluralize(accounts.results as usize, "account", "accounts")) }
            table .list {
                thead { tr {
                    th scope="col" { "Account" } th scope="col" { "E-mail" } th scope="col" { "Status" }
                    th scope="col" .number { "VPCs" } th scope="col" .number { "Instances" } th scope="col" { "Created" }
                } }
                tbody { @for (account, counts) in accounts.items.iter().zip(&counts) { (row(account, *counts)) } }
            }
            (pagination(&accounts, &list_url(&search)))
        }
    };
    Ok(visit.page("Accounts", &[], &body))
}

fn list_url(search: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    match search {
        "" => LIST.1.to_owned(),
        search => format!("{}?{}", LIST.1, query.append_pair("q", search).finish()),
    }
}

fn row(account: &Account, counts: ObjectCounts) -> Markup {
    html! {
        tr {
            th scope="row" { a href=(url(account.id)) { (name(account)) } " " span .id { (account.id) } }
            td data-label="E-mail" { (account.email) }
            td data-label="Status" { (status_tag(account.status)) }
            td .number data-label="VPCs" { (number(counts.vpcs.unsigned_abs())) }
            td .number data-label="Instances" { (number(counts.instances.unsigned_abs())) }
            td data-label="Created" { (time(account.created)) }
        }
    }
}

pub async fn new(visit: Visit) -> PageResult {
    Ok(render_new(&visit, &FormState::default()))
}

pub async fn create(State(app): State<App>, visit: Visit, staff: Staff, data: FormData) -> PageResult {
    let mut object = data.object(&["email", "company"]);
    object.extend(data.non_empty(&["username"]));
    let (has_user, request) = (!data.text("username").is_empty(), data.request(object));
    let created = app
        .write(staff, move |tx, _| rules::provider_accounts::create(tx, &request))
        .await;
    match created {
        Ok(details) => {
            let notice = match has_user && app.sends_mail() {
                true => "account-created-invited",
                false => "account-created",
            };
            Ok(redirect_with_notice(&url(details.account.id), notice))
        }
        Err(error) => {
            let form_state = forms::from_error(data, error)?;
            Ok(render_new(&visit, &form_state))
        }
    }
}

/// The fields for the company and the e-mail address.
pub fn contact_fields(form_state: &FormState) -> Markup {
    let company = Field {
        name: "company",
        label: "Company",
        optional: true,
        autofocus: true,
        max_chars: Some(128),
        ..Field::default()
    };
    let email = Field {
        name: "email",
        label: "E-mail",
        hint: "The address of the account's owner.",
        ..Field::default()
    };
    html! {
        (forms::text_input(form_state, company))
        (forms::text_input(form_state, email))
    }
}

fn render_new(visit: &Visit, form_state: &FormState) -> Response {
    let username = Field {
        name: "username",
        label: "First user",
        hint: "The username of an unrestricted user. You can generate a password link on the next page.",
        optional: true,
        max_chars: Some(32),
        ..Field::default()
    };
    let form = Card::new(NEW_URL, "Create account", LIST.1).with_labels(&[("username", "First user")]);
    let body = html! {
        h1 { "Create account" }
        (forms::card(visit, form_state, &form, &html! {
            (contact_fields(form_state))
            (forms::text_input(form_state, username))
        }))
    };
    visit.form_page(form_state, "Create account", &[LIST], &body)
}
