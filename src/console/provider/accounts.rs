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
use crate::console::sorting::{self, Sorting};
use crate::console::visit::Visit;
use crate::model::account::Account;
use crate::model::staff_role::StaffRole;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;
use crate::rules::provider_accounts::ObjectCounts;
use crate::web::App;

/// The fields by which the list can be sorted. The first one is the default.
const SORT_FIELDS: [&str; 7] = [
    "id",
    "company",
    "email",
    "status",
    "usage.vpcs",
    "usage.instances",
    "created",
];

const NEW_URL: &str = "/provider/accounts/new";

pub async fn list(State(app): State<App>, visit: Visit, staff: Staff, query: Query) -> PageResult {
    let search = Search::read(&query);
    let list_request = search.list_request(query.list_request());
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
                input #q type="search" name="q" value=(search.text) autocomplete="off" spellcheck="false" maxlength=(MAX_SEARCH_CHARS)
                    placeholder="Company or e-mail";
            }
            @if !search.sorting.parameter().is_empty() { input type="hidden" name=(sorting::PARAMETER) value=(search.sorting.parameter()); }
            button type="submit" { "Search" }
        }
        @if accounts.items.is_empty() {
            (empty_state("No accounts", "No account matches.", None))
        } @else {
            p .count role="status" { (pluralize(accounts.results as usize, "account", "accounts")) }
            table .list {
                (search.header())
                tbody { @for (account, counts) in accounts.items.iter().zip(&counts) { (row(account, *counts)) } }
            }
            (pagination(&accounts, &search.url(&search.sorting.parameter())))
        }
    };
    Ok(visit.page("Accounts", &[], &body))
}

/// The search on the list, and its order.
struct Search {
    text: String,
    sorting: Sorting,
}

impl Search {
    fn read(query: &Query) -> Self {
        Self {
            text: query.search_text(),
            sorting: Sorting::read(query, &SORT_FIELDS),
        }
    }

    fn list_request(&self, list: ListRequest) -> ListRequest {
        let list = list.sorted(self.sorting.field, self.sorting.descending);
        match self.text.as_str() {
            "" => list,
            text => list.only(Condition::contained_in(["company", "email"], text)),
        }
    }

    /// The URL of the list with another sort order.
    fn url(&self, sort: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let parameters = [("q", self.text.as_str()), (sorting::PARAMETER, sort)];
        query.extend_pairs(parameters.into_iter().filter(|(_, value)| !value.is_empty()));
        match query.finish() {
            query if query.is_empty() => LIST.1.to_owned(),
            query => format!("{}?{query}", LIST.1),
        }
    }

    fn header(&self) -> Markup {
        let column = |label: &str, field| self.sorting.header(label, field, |sort| self.url(sort));
        let count = |label: &str, field| self.sorting.number_header(label, field, |sort| self.url(sort));
        html! {
            thead { tr {
                (column("Account", "company")) (column("E-mail", "email")) (column("Status", "status"))
                (count("VPCs", "usage.vpcs")) (count("Instances", "usage.instances")) (column("Created", "created"))
            } }
        }
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
        .write(staff, move |tx, staff| {
            rules::provider_accounts::create(tx, &staff.agent, &request)
        })
        .await;
    match created {
        Ok(details) => {
            let notice = match has_user {
                true if app.sends_mail() => "account-created-invited",
                true => "account-created",
                false => "account-created-empty",
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
        hint: "The username of an unrestricted user. Without one, you can add a user on the next page.",
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
