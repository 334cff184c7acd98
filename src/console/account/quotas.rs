//! The quotas of an account and their usage.

use axum::extract::State;
use maud::{Markup, html};

use crate::console::account::tabs;
use crate::console::error_page::PageResult;
use crate::console::layout::{empty_state, number};
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

/// The maximum number of VPCs that the page reads. It shows the VPCs with the most subnets.
const MAX_VPCS_READ: i64 = 500;
const MAX_VPCS_SHOWN: usize = 20;
/// The form for a ticket that requests a higher quota.
const INCREASE_URL: &str = "/tickets/new?summary=Quota+increase";

pub async fn view(State(app): State<App>, visit: Visit, caller: Caller) -> PageResult {
    let list_request = ListRequest::first(MAX_VPCS_READ).sorted("id", true);
    let (used, mut vpcs) = app
        .read(caller.clone(), move |tx, caller| {
            let used = rules::accounts::quota_use(tx, caller)?;
            Ok((used, rules::vpcs::list(tx, caller, &list_request)?.items))
        })
        .await?;
    vpcs.sort_by_key(|vpc| std::cmp::Reverse(vpc.subnets.len()));
    vpcs.truncate(MAX_VPCS_SHOWN);
    let body = html! {
        (tabs(&caller, "/account/quotas"))
        div .title {
            h1 { "Quotas" }
            a .button href=(INCREASE_URL) { "Request an increase" }
        }
        p .lead { "Limits of this account. To raise a limit, open a ticket." }
        @if used.vpcs.is_empty() {
            (empty_state("Nothing in use yet", &limits_text(&used), Some(("Create VPC", "/vpcs/new"))))
        } @else {
            div .two-columns {
                section aria-labelledby="regions" { h2 #regions { "VPCs per region" } (regions(&app, &used)) }
                section aria-labelledby="subnets" { h2 #subnets { "Subnets per VPC" } (subnets(&vpcs, &used)) }
            }
        }
        section aria-labelledby="attachments" {
            h2 #attachments { "Ticket attachments" }
            (bytes_meter(usage(used.attachment_bytes, used.quota.attachment_bytes)))
        }
    };
    Ok(visit.page("Quotas", &[], &body))
}

fn limits_text(used: &QuotaUse) -> String {
    let (vpcs, subnets) = (used.quota.vpcs_per_region, used.quota.subnets_per_vpc);
    format!(
        "This account can have {} VPCs per region and {} subnets per VPC.",
        number(vpcs.max(0) as u64),
        number(subnets.max(0) as u64)
    )
}

fn regions(app: &App, used: &QuotaUse) -> Markup {
    let policy = app.store().policy();
    let name = |id: &str| {
        let mut regions = policy.regions.iter();
        regions
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
        p .hint { "All other regions: 0 of " (number(used.quota.vpcs_per_region.max(0) as u64)) "." }
    }
}

fn subnets(vpcs: &[Vpc], used: &QuotaUse) -> Markup {
    html! {
        @if vpcs.is_empty() {
            p .quiet { "You do not have access to any VPCs." }
        } @else {
            table .list {
                thead { tr { th scope="col" { "VPC" } th scope="col" { "In use" } } }
                tbody {
                    @for vpc in vpcs {
                        tr {
                            th scope="row" { a href=(vpcs::url(vpc.id)) { (vpc.label.as_str()) } " " span .id { (vpc.id) } }
                            td data-label="In use" { (used_meter(usage(vpc.subnets.len() as i64, used.quota.subnets_per_vpc))) }
                        }
                    }
                }
            }
            @if vpcs.len() == MAX_VPCS_SHOWN { p .hint { "The " (MAX_VPCS_SHOWN) " VPCs with the most subnets." } }
        }
    }
}

fn usage(used: i64, all: i64) -> Usage {
    Usage {
        used: used.max(0) as u64,
        all: all.max(0) as u64,
    }
}
