//! Pages for the applications that the user has authorized.

use axum::extract::State;
use maud::html;

use crate::console::account::{ACCOUNT, scopes, tabs};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, FormData, FormState, VERSION_FIELD};
use crate::console::layout::{empty_state, pagination, redirect_with_notice, time};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::entity_tag::EntityTag;
use crate::rules;
use crate::rules::caller::Caller;
use crate::web::App;
use crate::web::extract::At;

/// The label and the URL of the list of applications.
const LIST: (&str, &str) = ("Applications", "/account/apps");

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    let list_request = query.list_request();
    let apps = app
        .read(caller.clone(), move |tx, caller| {
            rules::apps::list(tx, caller, &list_request)
        })
        .await?;
    let body = html! {
        (tabs(&caller, LIST.1))
        div .title { h1 { "Applications" } }
        p .lead { "Applications that you have authorized to access your account." }
        @if apps.items.is_empty() {
            (empty_state("No applications", "Applications appear here after you authorize them to access your account.", None))
        } @else {
            table .list {
                thead { tr {
                    th scope="col" { "Application" } th scope="col" { "Permissions" } th scope="col" { "Authorized" }
                    th scope="col" { "Expires" } th scope="col" { span .hidden { "Actions" } }
                } }
                tbody {
                    @for grant in &apps.items {
                        tr {
                            th scope="row" { (grant.client_label) }
                            td data-label="Permissions" { (scopes(&grant.scopes.words())) }
                            td data-label="Authorized" { (time(grant.created)) }
                            td data-label="Expires" { @match grant.expiry { Some(expiry) => (time(expiry)), None => span .quiet { "Expired" } } }
                            td { div .actions { a href=(format!("{}/{}/revoke", LIST.1, grant.id)) { "Revoke" span .hidden { " " (grant.client_label) } } } }
                        }
                    }
                }
            }
            (pagination(&apps, LIST.1))
        }
    };
    Ok(visit.page("Applications", &[], &body))
}

pub async fn confirm_revoke(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<i64>,
) -> PageResult {
    let grant = app
        .read(caller, move |tx, caller| rules::apps::view(tx, caller, id))
        .await?;
    let form_state = FormState::prefilled(&[(VERSION_FIELD, &EntityTag::of(&grant).to_string())]);
    let form = Card::new(format!("{}/{id}/revoke", LIST.1), "Revoke access", LIST.1).danger();
    let text = html! { p { "All tokens that this application holds for you are revoked immediately. It can request access again." } };
    let body = html! {
        h1 { "Revoke access for “" (grant.client_label) "”?" }
        (forms::card(&visit, &form_state, &form, &text))
    };
    Ok(visit.page("Revoke access", &[ACCOUNT, LIST], &body))
}

pub async fn revoke(State(app): State<App>, caller: Caller, At(id): At<i64>, data: FormData) -> PageResult {
    let request = data.request(Vec::new());
    app.write(caller, move |tx, caller| {
        rules::apps::delete(tx, caller, id, &request)
    })
    .await?;
    Ok(redirect_with_notice(LIST.1, "app-revoked"))
}
