//! The ports of instances as a table, for staff and for tenants.

use maud::{Markup, html};

use crate::console::layout::{number, pluralize, size};
use crate::model::interface::write_address;
use crate::model::port::{PortDetails, PortState};

/// The state of a port.
fn state_tag(state: PortState) -> Markup {
    html! {
        @match state {
            PortState::Up => span .tag.on { "Up" },
            PortState::Pending => span .tag.new { "Starting" },
            PortState::Error => span .tag.bad { "Error" },
        }
    }
}

/// The cells with the traffic of a port.
fn traffic(port: &PortDetails) -> Markup {
    let traffic = port.report.traffic;
    let packets = |count: i64| {
        let count = usize::try_from(count).unwrap_or_default();
        pluralize(count, "packet", "packets")
    };
    html! {
        td data-label="Received" { (size(traffic.received_bytes)) " " span .quiet { (packets(traffic.received_packets)) } }
        td data-label="Sent" { (size(traffic.sent_bytes)) " " span .quiet { (packets(traffic.sent_packets)) } }
        td data-label="Dropped" { (number(traffic.dropped_packets.unsigned_abs())) }
    }
}

fn traffic_header() -> Markup {
    html! { th scope="col" { "Received" } th scope="col" { "Sent" } th scope="col" { "Dropped" } }
}

/// The ports of a host, for staff.
pub fn of_host(ports: &[PortDetails]) -> Markup {
    html! {
        table .list {
            thead { tr {
                th scope="col" { "Instance" } th scope="col" { "Account" } th scope="col" { "Network" }
                th scope="col" { "State" } (traffic_header())
            } }
            tbody { @for port in ports {
                tr #(format!("port-{}", port.interface)) {
                    th scope="row" { (port.instance_label) " " span .id { (port.instance) } }
                    td data-label="Account" { (port.account) }
                    td data-label="Network" {
                        (port.vpc_label) " / " (port.subnet_label) " " code { (write_address(port.address)) }
                    }
                    td data-label="State" {
                        (state_tag(port.report.state))
                        @if let Some(reason) = &port.report.reason { " " (reason) }
                    }
                    (traffic(port))
                }
            } }
        }
    }
}

/// The ports in a subnet, for tenants.
pub fn of_subnet(ports: &[PortDetails]) -> Markup {
    html! {
        @if !ports.is_empty() {
            section aria-labelledby="ports" {
                h2 #ports { "Traffic" }
                (for_tenants(ports, "Instance", |port| html! { (port.instance_label) " " span .id { (port.instance) } }))
            }
        }
    }
}

/// The ports of an instance, for tenants. The table updates itself.
pub fn of_instance(ports: &[PortDetails], page: &str) -> Markup {
    html! {
        @if !ports.is_empty() {
            section #traffic aria-labelledby="ports" hx-get=(page) hx-trigger="every 10s" hx-select="#traffic"
                hx-swap="outerHTML" {
                h2 #ports { "Traffic" }
                (for_tenants(ports, "Interface", |port| html! { (port.interface) }))
            }
        }
    }
}

/// A table without the reasons of errors, which are for the provider. `name` is the content of the first column.
fn for_tenants(ports: &[PortDetails], column: &str, name: impl Fn(&PortDetails) -> Markup) -> Markup {
    html! {
        table .list {
            thead { tr {
                th scope="col" { (column) } th scope="col" { "Address" } th scope="col" { "State" } (traffic_header())
            } }
            tbody { @for port in ports {
                tr {
                    th scope="row" { (name(port)) }
                    td data-label="Address" { code { (write_address(port.address)) } }
                    td data-label="State" { (state_tag(port.report.state)) }
                    (traffic(port))
                }
            } }
        }
        p .hint { "Since the instance was started on its host. Dropped packets were sent with a wrong source address." }
    }
}
