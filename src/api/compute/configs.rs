//! JSON views of configs.

use axum::response::Response;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::api::handlers::ViewContext;
use crate::api::interfaces::InterfaceView;
use crate::model::config::{Config, DEVICES, HELPERS};
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::model::time::Time;
use crate::web::answer;

#[derive(Serialize)]
struct ConfigView<'a> {
    id: i64,
    label: &'a str,
    helpers: Map<String, Value>,
    kernel: &'a str,
    comments: &'a str,
    memory_limit: i64,
    #[serde(serialize_with = "answer::time")]
    created: Time,
    #[serde(serialize_with = "answer::time")]
    updated: Time,
    root_device: &'a str,
    devices: Map<String, Value>,
    initrd: Option<i64>,
    run_level: &'a str,
    virt_mode: &'a str,
    interfaces: Vec<InterfaceView<'a>>,
}

impl<'a> ConfigView<'a> {
    fn new(config: &'a Config, policy: &Policy) -> Self {
        let interface = |interface| InterfaceView::new(interface, policy);
        let settings = &config.settings;
        let helpers = HELPERS
            .iter()
            .zip(settings.helpers)
            .map(|(name, on)| ((*name).to_owned(), json!(on)));
        let devices = DEVICES.iter().zip(settings.devices).map(|(name, disk)| {
            let device = disk.map_or(Value::Null, |disk| json!({"disk_id": disk.0, "volume_id": null}));
            ((*name).to_owned(), device)
        });
        Self {
            id: config.id.0,
            label: config.label.as_str(),
            helpers: helpers.collect(),
            kernel: &settings.kernel,
            comments: &settings.comments,
            memory_limit: settings.memory_limit,
            created: config.created,
            updated: config.updated,
            root_device: &settings.root_device,
            devices: devices.collect(),
            initrd: None,
            run_level: &settings.run_level,
            virt_mode: &settings.virt_mode,
            interfaces: config.interfaces.iter().map(interface).collect(),
        }
    }
}

pub fn one(config: &Config, context: &ViewContext) -> Response {
    answer::one(config, &ConfigView::new(config, context.policy))
}

pub fn page(configs: &Paged<Config>, context: &ViewContext) -> Response {
    answer::page(configs, |config| ConfigView::new(config, context.policy))
}
