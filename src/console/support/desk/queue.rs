//! The page of the queue.

use axum::extract::State;
use maud::html;

use super::account_filter::{AccountFilter, account_filter, accounts_named, find_account, of_accounts};
use super::filter_form::form;
use super::filters::{LONGEST_WAIT, TIME_LEFT, list_request, order_of, ticket_number, waiting_side};
use super::list::{QueueContext, render_list};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, FormState};
use crate::console::layout::empty_state;
use crate::console::live;
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::account::DeskAccount;
use crate::model::id::AccountId;
use crate::rules;
use crate::rules::agent::Staff;
use crate::rules::lists::ListRequest;
use crate::web::App;

pub async fn queue(State(app): State<App>, mut visit: Visit, staff: Staff, query: Query) -> PageResult {
    let mut search = query.0;
    let context = app.store().context();
    let (now, has_targets) = (
        context.clock.now(),
        !context.policy.get().support.targets.is_empty(),
    );
    let order = order_of(&search, has_targets);
    let list_tickets = match order {
        _ if order == TIME_LEFT.0 => rules::desk::list_by_time_left,
        _ if order == LONGEST_WAIT.0 => rules::desk::list_by_wait,
        _ => rules::desk::list_waiting_for,
    };
    let (account, side) = (account_filter(&search), waiting_side(&search));
    if let Some(AccountFilter::Id(id)) = &account {
        search.set("account", id.to_string());
    }
    let list_request = list_request(&search, &visit.username, order, now);
    let words = match ticket_number(&search) {
        Some(_) => String::new(),
        None => search.text("q").to_owned(),
    };
    let (tickets, rows, (known_tags, account), version) = app
        .read(staff.clone(), move |tx, staff| {
            let version = rules::desk_version::current(tx, &staff.agent, None)?;
            let mut list_request = list_request.clone();
            let mut only_account = None;
            match &account {
                None => {}
                Some(AccountFilter::Id(id)) => only_account = find_account(tx, AccountId(*id))?,
                Some(AccountFilter::Name(name)) => {
                    let mut accounts = accounts_named(tx, name)?;
                    list_request = list_request.only(of_accounts(&accounts));
                    only_account = accounts.pop().filter(|_| accounts.is_empty());
                }
            }
            let tickets = list_tickets(tx, &list_request, Some(&words), side);
            let ids: Vec<_> = tickets
                .iter()
                .flat_map(|tickets| &tickets.items)
                .map(|desk| desk.ticket.id)
                .collect();
            let updated_by = rules::history::last_changers(tx, &ids)?;
            let shown = match &tickets {
                Ok(tickets) => &tickets.items[..],
                Err(_) => &[],
            };
            let waiting_since = rules::desk::waiting_since(tx, shown)?;
            let views = rules::saved_views::list(tx, &staff.agent, &ListRequest::full_page())?.items;
            let known_tags = rules::ticket_tags::in_use(tx)?;
            Ok((
                tickets,
                (updated_by, waiting_since, views),
                (known_tags, only_account),
                version,
            ))
        })
        .await?;
    let (updated_by, waiting_since, views) = rows;
    let context = QueueContext {
        me: &visit.username.clone(),
        updated_by,
        waiting_since,
        views,
        now,
        has_targets,
    };
    visit.stream_url = Some(live::desk_url(&version, None));
    let (list, form_state) = match tickets {
        Ok(tickets) => (render_list(&tickets, &search, &context), FormState::default()),
        Err(error) => {
            let form_state = forms::from_error(search.clone(), error)?;
            let invalid_search = html! { div #list { (empty_state("Invalid search", "Correct the search above.", Some(("Clear search", "/desk")))) } };
            (invalid_search, form_state)
        }
    };
    let body = html! {
        div .title {
            h1 { "Desk" }
            div .actions {
                a .button href="/desk/reports" { "Reports" }
                a .button href="/desk/keys" data-key="?" { "Keyboard shortcuts" }
                a #new-ticket .button.main href=(new_ticket_url(account.as_ref())) data-key="t" { "New ticket" }
            }
        }
        (form(&search, &form_state, (&known_tags, account.as_ref()), has_targets))
        (list)
    };
    Ok(visit.form_page(&form_state, "Desk", &[], &body))
}

/// The form for a new ticket. If the queue has the tickets of only one account, the form is for this account.
fn new_ticket_url(account: Option<&DeskAccount>) -> String {
    match account {
        Some(account) => format!("/desk/tickets/new?account_id={}", account.id),
        None => "/desk/tickets/new".to_owned(),
    }
}
