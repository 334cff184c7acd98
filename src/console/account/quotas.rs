//! The page of an account's quotas, with what of them is used.

use axum::extract::State;
use maud::{Markup, html};

use crate::console::account::tabs;
use crate::console::error_page::Answer;
use crate::console::layout::{empty, number};
use crate::console::usage::{bytes_meter, used_meter};
use crate::console::visit::Visit;
use crate::console::vpcs;
use crate::model::vpc::Vpc;
use crate::rules;
use crate::rules::accounts::QuotaUse;
use crate::rules::addresses::Usage;
use crate::rules::caller::Caller;
use crate::rules::lists::ListRequest;
use crate::web::App;

/// So many VPCs are looked at, and of those the fullest are shown.
const LOOKED_AT: i64 = 500;
const SHOWN: usize = 20;
/// A ticket that asks for more.
const MORE: &str = "/tickets/new?summary=A+larger+quota";

pub async fn view(State(app): State<App>, visit: Visit, caller: Caller) -> Answer {
    let wanted = ListRequest::first(LOOKED_AT).sorted("id", true);
    let (used, mut vpcs) = app
        .read(caller.clone(), move |tx, caller| {
            let used = rules::accounts::quota_use(tx, caller)?;
            Ok((used, rules::vpcs::list(tx, caller, &wanted)?.items))
        })
        .await?;
    vpcs.sort_by_key(|vpc| std::cmp::Reverse(vpc.subnets.len()));
    vpcs.truncate(SHOWN);
    let body = html! {
        (tabs(&caller, "/account/quotas"))
        div .title {
            h1 { "Quotas" }
            a .button href=(MORE) { "Ask for more" }
        }
        p .lead { "How much the account may have. If you need more, say in a ticket what for." }
        @if used.vpcs.is_empty() {
            (empty("Nothing used yet", &allowed(&used), Some(("Create VPC", "/vpcs/new"))))
        } @else {
            div .beside {
                section aria-labelledby="regions" { h2 #regions { "VPCs in each region" } (regions(&app, &used)) }
                section aria-labelledby="subnets" { h2 #subnets { "Subnets in each VPC" } (subnets(&vpcs, &used)) }
            }
        }
        section aria-labelledby="attachments" {
            h2 #attachments { "Attachments of tickets" }
            (bytes_meter(usage(used.attachment_bytes, used.quota.attachment_bytes)))
        }
    };
    Ok(visit.page("Quotas", &[], &body))
}

fn allowed(used: &QuotaUse) -> String {
    let (vpcs, subnets) = (used.quota.vpcs_per_region, used.quota.subnets_per_vpc);
    format!(
        "The account may have {} VPCs in each region, and {} subnets in each VPC.",
        number(vpcs.max(0) as u64),
        number(subnets.max(0) as u64)
    )
}

fn regions(app: &App, used: &QuotaUse) -> Markup {
    let name = |id: &str| {
        let regions = &app.store().context().policy.regions;
        regions
            .iter()
            .find(|region| region.id == id)
            .map(|region| region.label.clone())
    };
    html! {
        table .list {
            thead { tr { th scope="col" { "Region" } th scope="col" { "In use" } } }
            tbody {
                @for (region, count) in &used.vpcs {
                    tr {
                        th scope="row" { @if let Some(name) = name(region) { (name) " " } span .quiet { (region) } }
                        td data-label="In use" { (used_meter(usage(*count, used.quota.vpcs_per_region))) }
                    }
                }
            }
        }
        p .hint { "Every other region has none yet, of " (number(used.quota.vpcs_per_region.max(0) as u64)) "." }
    }
}

fn subnets(vpcs: &[Vpc], used: &QuotaUse) -> Markup {
    html! {
        @if vpcs.is_empty() {
            p .quiet { "You were granted none of the account's VPCs." }
        } @else {
            table .list {
                thead { tr { th scope="col" { "VPC" } th scope="col" { "In use" } } }
                tbody {
                    @for vpc in vpcs {
                        tr {
                            th scope="row" { a href=(vpcs::address(vpc.id)) { (vpc.label.as_str()) } " " span .id { (vpc.id) } }
                            td data-label="In use" { (used_meter(usage(vpc.subnets.len() as i64, used.quota.subnets_per_vpc))) }
                        }
                    }
                }
            }
            @if vpcs.len() == SHOWN { p .hint { "The " (SHOWN) " fullest." } }
        }
    }
}

fn usage(used: i64, all: i64) -> Usage {
    Usage {
        used: used.max(0) as u64,
        all: all.max(0) as u64,
    }
}
