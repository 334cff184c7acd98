//! Deleting an interface, which detaches an instance from a subnet. A running instance is shut down first.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::error_page::PageResult;
use crate::console::forms::{self, Card, FormData, FormState};
use crate::console::instances::{self, detach_url, status_tag};
use crate::console::layout::redirect_with_notice;
use crate::console::navigation::local_page;
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::config::Config;
use crate::model::grant::{GrantKind, Permission};
use crate::model::id::{ConfigId, InstanceId, InterfaceId};
use crate::model::instance::Instance;
use crate::model::interface::{Interface, write_address};
use crate::model::subnet_name::SubnetName;
use crate::rules;
use crate::rules::caller::Caller;
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

type Path = (InstanceId, ConfigId, InterfaceId);

/// The field with the page to show afterward.
const RETURN_TO: &str = "return_to";

pub async fn confirm(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(path): At<Path>,
    query: Query,
) -> PageResult {
    let page = app
        .read(caller, move |tx, caller| Page::load(tx, caller, path))
        .await?;
    Ok(page.render(&visit, &query.0, &FormState::default()))
}

pub async fn detach(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(path): At<Path>,
    data: FormData,
) -> PageResult {
    let shuts_down = data.text("action") == "shutdown";
    let request = data.request(Vec::new());
    let changed = app
        .write(caller.clone(), move |tx, caller| match shuts_down {
            true => {
                rules::interfaces::view(tx, caller, path)?;
                rules::power::shutdown(tx, caller, path.0, &request)
            }
            false => rules::interfaces::delete(tx, caller, path, &request),
        })
        .await;
    let error = match changed {
        Ok(()) if shuts_down => {
            return Ok(redirect_with_notice(&url(path, &data), "instance-shutdown"));
        }
        Ok(()) => {
            let next = return_to(&data).unwrap_or_else(|| instances::url(path.0));
            return Ok(redirect_with_notice(&next, "interface-detached"));
        }
        Err(error) => error,
    };
    let form_state = forms::from_error(data.clone(), error)?;
    let page = app
        .read(caller, move |tx, caller| Page::load(tx, caller, path))
        .await?;
    Ok(page.render(&visit, &data, &form_state))
}

/// The page to show afterward, if the form names one.
fn return_to(data: &FormData) -> Option<String> {
    local_page(data.text(RETURN_TO))
}

/// The URL of this page, with the page to show afterward.
fn url((instance, config, interface): Path, data: &FormData) -> String {
    let url = detach_url(instance, config, interface);
    match return_to(data) {
        None => url,
        Some(next) => {
            let mut query = form_urlencoded::Serializer::new(String::new());
            format!("{url}?{}", query.append_pair(RETURN_TO, &next).finish())
        }
    }
}

/// The data of the page.
struct Page {
    path: Path,
    instance: Instance,
    config: Config,
    interface: Interface,
    /// `None` if the caller cannot see the VPC, and for an interface without a VPC.
    subnet: Option<SubnetName>,
}

impl Page {
    fn load(tx: &mut ReadTx, caller: &Caller, path: Path) -> rules::Result<Self> {
        let interface = rules::interfaces::view(tx, caller, path)?;
        caller.require_permission(tx, GrantKind::Linode, path.0.0, Permission::ReadWrite)?;
        let subnet = match &interface.vpc {
            Some(vpc) => rules::subnet_names::find(tx, caller, vpc.subnet)?,
            None => None,
        };
        Ok(Self {
            path,
            instance: rules::instances::view(tx, caller, path.0)?,
            config: rules::configs::view(tx, caller, (path.0, path.1))?,
            interface,
            subnet,
        })
    }

    fn render(&self, visit: &Visit, data: &FormData, form_state: &FormState) -> Response {
        let (label, instance_url) = (self.instance.label.as_str(), instances::url(self.instance.id));
        let title = match &self.subnet {
            Some(subnet) => format!("Detach {label} from the subnet “{}”?", subnet.label.as_str()),
            None => format!("Remove interface {} of {label}?", self.interface.id),
        };
        let body = html! {
            h1 { (title) }
            (self.content(visit, data, form_state, &instance_url))
        };
        let breadcrumbs = [instances::LIST, (label, instance_url.as_str())];
        visit.form_page(form_state, &title, &breadcrumbs, &body)
    }

    fn content(&self, visit: &Visit, data: &FormData, form_state: &FormState, instance_url: &str) -> Markup {
        let (instance, label) = (&self.instance, self.instance.label.as_str());
        let next = return_to(data);
        let cancel_url = next.as_deref().unwrap_or(instance_url);
        let page_url = url(self.path, data);
        let fields =
            html! { @if let Some(next) = &next { input type="hidden" name=(RETURN_TO) value=(next); } };
        html! {
            @if instance.is_busy() {
                // The page polls until the instance is idle.
                div #detach role="status" hx-get=(page_url) hx-trigger="every 2s" hx-select="main > *" hx-target="main" {
                    p { strong { (label) } " is " (status_tag(instance.status)) ". Wait until this is complete." }
                    p { a .button href=(page_url) { "Reload" } }
                }
            } @else if self.interface.active {
                @let form = Card::new(page_url.as_str(), "Shut down", cancel_url);
                (forms::card(visit, form_state, &form, &html! {
                    (fields)
                    input type="hidden" name="action" value="shutdown";
                    p { strong { (label) } " is running with the config " strong { (self.config.label.as_str()) } ", which has this interface." }
                    p { "Shut the instance down first. Then you can remove the interface, and boot the instance again." }
                }))
            } @else {
                @let button = if self.interface.vpc.is_some() { "Detach" } else { "Remove" };
                @let form = Card::new(page_url.as_str(), button, cancel_url).danger();
                (forms::card(visit, form_state, &form, &html! {
                    (fields)
                    p {
                        "This removes the interface from the config " strong { (self.config.label.as_str()) }
                        @if let Some(vpc) = &self.interface.vpc { " and releases the address " code { (write_address(vpc.address)) } }
                        "."
                    }
                    @if self.config.interfaces.len() == 1 {
                        p .warning { "The config has no other interface. With this config, the instance uses only its public address." }
                    }
                }))
            }
        }
    }
}
