//! The regions that encrypt the packets between their hosts, below the list of hosts.

use maud::{Markup, html};

use super::host::url as host_page;
use crate::console::layout::time;
use crate::rules::encryption::EncryptionState;

/// Empty if no region encrypts.
pub fn section(regions: &[EncryptionState]) -> Markup {
    html! {
        @if !regions.is_empty() {
            section aria-labelledby="encryption" {
                h2 #encryption { "Encryption between hosts" }
                table .list {
                    thead { tr {
                        th scope="col" { "Region" } th scope="col" { "Hosts with keys" }
                        th scope="col" { "Keys since" } th scope="col" { "Rotation" }
                    } }
                    tbody { @for region in regions { (row(region)) } }
                }
            }
        }
    }
}

fn row(state: &EncryptionState) -> Markup {
    let (total, missing) = (state.hosts.len(), state.without_key().count());
    let waiting = state.waiting().count();
    html! {
        tr {
            th scope="row" { (state.setting.region) }
            td data-label="Hosts with keys" {
                (total - missing) " of " (total)
                @if missing > 0 { " " span .tag.bad { (missing) " not reachable" } }
            }
            td data-label="Keys since" { (time(state.setting.rotated)) }
            td data-label="Rotation" {
                @if state.setting.is_rotating() {
                    (total - missing - waiting) " of " (total - missing) " hosts use the new keys"
                    @for (host, obstacle) in state.blockers() {
                        br; "Waiting for "
                        a href=(host_page(host.host)) { (host.label.as_str()) } ": " (obstacle.text())
                    }
                } @else { span .quiet { "Next: " (time(state.setting.due())) } }
            }
        }
    }
}
