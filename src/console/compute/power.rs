//! Booting, rebooting and shutting down an instance.

use axum::extract::State;
use maud::{Markup, html};

use crate::console::error_page::{ErrorPage, PageResult};
use crate::console::forms::{self, FormData};
use crate::console::instances;
use crate::console::layout::redirect_with_notice;
use crate::console::threads;
use crate::console::visit::Visit;
use crate::model::config::Config;
use crate::model::id::InstanceId;
use crate::model::input::Input;
use crate::model::instance::{Instance, Status};
use crate::rules::caller::Caller;
use crate::rules::request::Request;
use crate::rules::{self, Result};
use crate::store::WriteTx;
use crate::web::App;
use crate::web::extract::At;

#[derive(Clone, Copy)]
enum PowerAction {
    Boot,
    Reboot,
    Shutdown,
}

impl PowerAction {
    fn parse(raw: &str) -> Option<Self> {
        match raw {
            "boot" => Some(Self::Boot),
            "reboot" => Some(Self::Reboot),
            "shutdown" => Some(Self::Shutdown),
            _ => None,
        }
    }

    fn run(self, tx: &mut WriteTx, caller: &Caller, id: InstanceId, request: &Request) -> Result<()> {
        match self {
            Self::Boot => rules::power::boot(tx, caller, id, request),
            Self::Reboot => rules::power::reboot(tx, caller, id, request),
            Self::Shutdown => rules::power::shutdown(tx, caller, id, request),
        }
    }

    fn notice(self) -> &'static str {
        match self {
            Self::Boot => "instance-boot",
            Self::Reboot => "instance-reboot",
            Self::Shutdown => "instance-shutdown",
        }
    }
}

pub async fn change(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<InstanceId>,
    data: FormData,
) -> PageResult {
    let action = PowerAction::parse(data.text("action")).ok_or_else(ErrorPage::not_found)?;
    let config = data.text("config_id").parse().ok().map(Input::Integer);
    let config = config.map(|config| ("config_id".to_owned(), config));
    let request = data.request(config.into_iter().collect());
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            action.run(tx, caller, id, &request)
        })
        .await;
    match changed {
        Ok(()) => Ok(redirect_with_notice(&instances::url(id), action.notice())),
        Err(error) => {
            let form_state = forms::from_error(data, error)?;
            instances::render_view(&app, &visit, caller, id, &form_state).await
        }
    }
}

/// The buttons for the state of the instance. Without a config, an instance cannot boot.
pub fn buttons(visit: &Visit, instance: &Instance, configs: &[Config]) -> Markup {
    let label = instance.label.as_str();
    html! {
        @match instance.status {
            Status::Offline if !configs.is_empty() => {
                form .inline method="post" novalidate action=(url(instance.id)) {
                    (visit.form_token())
                    (config_choice(instance, configs, "boot-config"))
                    button .main type="submit" name="action" value="boot" { "Boot" }
                }
            }
            Status::Running => {
                (threads::confirmation("Reboot", (false, None), &html! {
                    form method="post" novalidate action=(url(instance.id)) {
                        (visit.form_token())
                        p { "Reboot " strong { (label) } "? It is not reachable while it reboots." }
                        (config_choice(instance, configs, "reboot-config"))
                        button .main type="submit" name="action" value="reboot" { "Reboot " (label) }
                    }
                }))
                (threads::confirmation("Shut down", (false, None), &html! {
                    form method="post" novalidate action=(url(instance.id)) {
                        (visit.form_token())
                        p { "Shut down " strong { (label) } "? It is not reachable until you boot it again." }
                        button .main type="submit" name="action" value="shutdown" { "Shut down " (label) }
                    }
                }))
            }
            _ => {}
        }
    }
}

fn url(id: InstanceId) -> String {
    format!("{}/power", instances::url(id))
}

/// The choice between several configs. The config of the last boot is preselected.
fn config_choice(instance: &Instance, configs: &[Config], id: &str) -> Markup {
    let preselected = instance.running.or(instance.last_booted);
    html! {
        @if configs.len() > 1 {
            label for=(id) .hidden { "Config" }
            select #(id) name="config_id" {
                @for config in configs {
                    option value=(config.id) selected[Some(config.id) == preselected] { (config.label.as_str()) }
                }
            }
        }
    }
}
