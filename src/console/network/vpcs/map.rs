//! The map of the ranges of a VPC with many subnets. The page of the VPC loads it after it is shown, because reading the
//! ranges takes longer than the rest of the page.

use axum::extract::State;
use maud::{Markup, html};

use super::{LIST, url};
use crate::console::address_map;
use crate::console::error_page::PageResult;
use crate::console::layout::empty_state;
use crate::console::usage::used_meter_with_percent;
use crate::console::visit::Visit;
use crate::model::cidr::Cidr;
use crate::model::id::VpcId;
use crate::rules::caller::Caller;
use crate::rules::subnet_lists::{self, Allocation};
use crate::web::App;
use crate::web::extract::At;

/// The place of the map on the page of the VPC: a link, which htmx replaces by the map.
pub fn loaded_later(id: VpcId) -> Markup {
    let map_url = format!("{}/map", url(id));
    html! {
        div #allocation .later hx-get=(map_url) hx-trigger="load" hx-select="#allocation" hx-swap="outerHTML" {
            a .button href=(map_url) { "Show the address map" }
        }
    }
}

pub async fn view_map(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<VpcId>) -> PageResult {
    let allocation = app
        .read(caller, move |tx, caller| subnet_lists::allocation(tx, caller, id))
        .await?;
    let (label, vpc_url) = (allocation.vpc.label.as_str(), url(id));
    let title = format!("Address map of {label}");
    let body = html! {
        h1 { (title) }
        (render(&allocation, &app.store().policy().forbidden_ranges, &vpc_url))
    };
    Ok(visit.page(&title, &[LIST, (label, &vpc_url)], &body))
}

fn render(allocation: &Allocation, forbidden: &[Cidr], vpc_url: &str) -> Markup {
    html! { div #allocation {
        @if allocation.ranges.is_empty() {
            (empty_state("No subnets yet", "The map shows the ranges of subnets.", None))
        } @else {
            dl .facts { div { dt { "Addresses in use" } dd { (used_meter_with_percent(allocation.usage)) } } }
            (address_map::dense(&allocation.ranges, forbidden, Some(&format!("{vpc_url}/subnets?q="))))
        }
    } }
}
