//! The interfaces that prevent the deletion of a VPC or a subnet.

use maud::{Markup, html};

use crate::console::forms::FormState;
use crate::console::instances;
use crate::console::layout::pluralize;
use crate::console::subnets::interface_url;
use crate::model::reason::Code;
use crate::model::subnet::Subnet;
use crate::rules::error::{Blocker, FieldError};

/// Whether interfaces prevent the deletion.
pub fn is_blocked(form_state: &FormState) -> bool {
    blocking(form_state).next().is_some()
}

fn blocking(form_state: &FormState) -> impl Iterator<Item = &FieldError> {
    let is_blocking = |error: &&FieldError| error.code == Code::SubnetInUse;
    form_state.errors.iter().filter(is_blocking)
}

/// The interfaces that prevent the deletion, with links to the interface and to the page that removes it.
/// `page_url` is the URL of the page that deletes, to which that page returns.
pub fn render(message: &str, subnets: &[Subnet], form_state: &FormState, page_url: &str) -> Markup {
    let link = |blocker: &Blocker| {
        let subnet = subnets.iter().find(|subnet| subnet.id == blocker.subnet)?;
        Some(interface_url(subnet, blocker.interface))
    };
    let count = blocking(form_state).count();
    html! {
        div .warning role="alert" {
            p { strong { (message) } " " "Remove " (pluralize(count, "interface", "interfaces")) " first:" }
            ul { @for error in blocking(form_state) {
                li {
                    @match error.blocker.as_ref().and_then(link) {
                        Some(url) => a href=(url) { (error.reason) },
                        None => (error.reason),
                    }
                    @if let Some(blocker) = &error.blocker { (action(blocker, page_url)) }
                }
            } }
        }
    }
}

/// The link that removes the interface. The user may lack access to the instance.
fn action(blocker: &Blocker, page_url: &str) -> Markup {
    let Some(label) = &blocker.instance_label else {
        return html! { ". You do not have access to this instance: ask an account administrator to detach it." };
    };
    let detach = instances::detach_url(blocker.instance, blocker.config, blocker.interface);
    let verb = if blocker.active {
        "Shut down and detach"
    } else {
        "Detach"
    };
    html! { " " a .button href=(format!("{detach}?return_to={page_url}")) { (verb) " " (label) } }
}
