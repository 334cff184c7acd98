//! The address spaces of a VPC as a table.

use maud::{Markup, html};

use super::vpc_map::Block;
use super::{block_url, format_range, in_use};
use crate::console::layout::number;
use crate::model::address_map::{PartKind, Space};

pub fn space_table<'a>(
    spaces: impl Iterator<Item = &'a Space>,
    blocks: &[Block],
    new_subnet_url: Option<&str>,
) -> Markup {
    html! {
        table .list {
            thead { tr { th scope="col" { "Range" } th scope="col" { "Allocation" } th scope="col" .number { "Size" } th scope="col" { "In use" } } }
            tbody {
                @for part in spaces.flat_map(|space| &space.parts) {
                    tr {
                        th scope="row" { code { (format_range(part.first, part.last)) } }
                        @match part.kind {
                            PartKind::Subnet(at) => @if let Some(block) = blocks.get(at) {
                                td data-label="Allocation" { a href=(block.url) { (block.subnet.label.as_str()) } }
                                td .number data-label="Size" { (number(part.size())) }
                                td data-label="In use" { (in_use(block.usage)) }
                            },
                            PartKind::Free => { td data-label="Allocation" { "free" @if let Some(url) = new_subnet_url {
                                " · " a href=(block_url(url, part.first, part.last)) { "Add subnet" span .hidden { " in " (format_range(part.first, part.last)) } }
                            } } td .number data-label="Size" { (number(part.size())) } td {} }
                            PartKind::Forbidden => { td data-label="Allocation" { "reserved by the provider" } td .number data-label="Size" { (number(part.size())) } td {} }
                        }
                    }
                }
            }
        }
    }
}
