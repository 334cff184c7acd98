//! Parses the configs in requests, and merges them with the current settings.

use crate::model::config::{ConfigLabel, DEVICES, HELPERS, ROOT_DEVICES, Settings};
use crate::model::id::DiskId;
use crate::model::input::Input;
use crate::model::instance::Instance;
use crate::model::kernel::KERNELS;
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason};
use crate::rules::error::Result;
use crate::rules::form::{Form, one_of, short_text};
use crate::rules::interfaces;
use crate::rules::not_offered::refuse_field;
use crate::rules::request::FromForm;
use crate::store::{self, ReadTx};

const RUN_LEVELS: [&str; 3] = ["default", "single", "binbash"];
const NO_INITRD: &str = "Garth has no initial RAM disks: leave this field out";
const NO_VOLUMES: &str = "Garth has no volumes: leave this field out";
const VIRT_MODES: [&str; 2] = ["paravirt", "fullvirt"];

/// The valid fields of a config in a request.
#[derive(Debug)]
pub struct Draft {
    pub label: Option<ConfigLabel>,
    pub settings: SettingsDraft,
    pub interfaces: Option<Vec<Option<interfaces::Draft>>>,
}

/// A new config. The label is required.
#[derive(Debug)]
pub struct New(pub Draft);

impl FromForm for New {
    fn read(form: &mut Form, _: &Policy) -> Self {
        let label = form.required("label", ConfigLabel::parse);
        New(Draft::read(form, label))
    }
}

/// A change of a config.
#[derive(Debug)]
pub struct Change(pub Draft);

impl FromForm for Change {
    fn read(form: &mut Form, _: &Policy) -> Self {
        let label = form.optional("label", ConfigLabel::parse);
        Change(Draft::read(form, label))
    }
}

impl Draft {
    fn read(form: &mut Form, label: Option<ConfigLabel>) -> Self {
        Self {
            label,
            settings: SettingsDraft::read(form),
            interfaces: interfaces::read_all(form),
        }
    }
}

/// Reads the ID of a kernel.
pub fn read_kernel(form: &mut Form) -> Option<String> {
    let known = KERNELS.map(|kernel| kernel.id);
    form.optional("kernel", |raw| one_of(raw, &known).map(str::to_owned))
}

/// The settings in a request body; `None` leaves a setting unchanged.
#[derive(Debug)]
pub struct SettingsDraft {
    kernel: Option<String>,
    comments: Option<String>,
    memory_limit: Option<i64>,
    root_device: Option<String>,
    run_level: Option<String>,
    virt_mode: Option<String>,
    /// Whether each helper is enabled, in the order of `HELPERS`.
    helpers: [Option<bool>; HELPERS.len()],
    /// The disk of each device, in the order of `DEVICES`. The list replaces all current devices.
    devices: Option<[Option<DiskId>; DEVICES.len()]>,
}

impl SettingsDraft {
    fn read(form: &mut Form) -> Self {
        let kernel = read_kernel(form);
        let comments = form.optional("comments", short_text);
        let memory_limit = form.integer("memory_limit");
        if memory_limit.is_some_and(|limit| limit < 0) {
            let reason = Reason::new(Code::OutOfRange, "Must not be negative");
            form.refuse("memory_limit", reason);
        }
        let root_device = form.optional("root_device", |raw| one_of(raw, &ROOT_DEVICES).map(str::to_owned));
        let run_level = form.optional("run_level", |raw| one_of(raw, &RUN_LEVELS).map(str::to_owned));
        let virt_mode = form.optional("virt_mode", |raw| one_of(raw, &VIRT_MODES).map(str::to_owned));
        let helpers = form.within("helpers", |form| HELPERS.map(|name| form.boolean(name)));
        let devices = read_devices(form);
        refuse_field(form, "initrd", NO_INITRD);
        refuse_field(form, "init_rd", NO_INITRD);
        Self {
            kernel,
            comments,
            memory_limit,
            root_device,
            run_level,
            virt_mode,
            helpers: helpers.unwrap_or_default(),
            devices,
        }
    }

    /// Returns the settings with the changes of this draft. Adds an error for each value that does not fit the
    /// instance.
    pub fn over(
        &self,
        tx: &mut ReadTx,
        form: &mut Form,
        instance: &Instance,
        mut settings: Settings,
    ) -> Result<Settings> {
        self.refuse_memory(tx, form, instance, &settings);
        self.refuse_devices(tx, form, instance)?;
        let replace = |text: &Option<String>, current: &mut String| {
            if let Some(text) = text {
                current.clone_from(text);
            }
        };
        replace(&self.kernel, &mut settings.kernel);
        replace(&self.comments, &mut settings.comments);
        replace(&self.root_device, &mut settings.root_device);
        replace(&self.run_level, &mut settings.run_level);
        replace(&self.virt_mode, &mut settings.virt_mode);
        settings.memory_limit = self.memory_limit.unwrap_or(settings.memory_limit);
        for (helper, enabled) in settings.helpers.iter_mut().zip(self.helpers) {
            *helper = enabled.unwrap_or(*helper);
        }
        settings.devices = self.devices.unwrap_or(settings.devices);
        Ok(settings)
    }

    /// A config of an earlier build can have a higher limit, which clients send back.
    fn refuse_memory(&self, tx: &ReadTx, form: &mut Form, instance: &Instance, current: &Settings) {
        let plan = tx.policy().plans.iter().find(|plan| plan.id == instance.plan);
        if let (Some(limit), Some(plan)) = (self.memory_limit, plan)
            && limit != current.memory_limit
            && limit > plan.memory
        {
            let text = format!(
                "Must be 0 to {}, the memory of the plan in MB; 0 is no limit",
                plan.memory
            );
            form.refuse("memory_limit", Reason::new(Code::PlanMemory, text));
        }
    }

    /// Disks must belong to the instance, and each can be only one device.
    fn refuse_devices(&self, tx: &mut ReadTx, form: &mut Form, instance: &Instance) -> Result<()> {
        let Some(devices) = self.devices else {
            return Ok(());
        };
        let disks = store::disks::of_instance(tx, instance.id)?;
        for (at, (device, name)) in devices.iter().zip(DEVICES).enumerate() {
            let Some(disk) = device else { continue };
            let same = devices.iter().take(at).position(|other| other == device);
            let text = match same {
                Some(first) => format!("The disk is already the device {}", DEVICES[first]),
                None if disks.iter().any(|known| known.id == *disk) => continue,
                None => "disk_id is not valid".to_owned(),
            };
            let reason = Reason::new(Code::DeviceInvalid, text);
            form.refuse(format!("devices.{name}.disk_id"), reason);
        }
        Ok(())
    }
}

/// The disk of each device; `None` if the body has no devices.
fn read_devices(form: &mut Form) -> Option<[Option<DiskId>; DEVICES.len()]> {
    let disk = |form: &mut Form| {
        refuse_field(form, "volume_id", NO_VOLUMES);
        form.integer("disk_id").map(DiskId)
    };
    let devices = form.within("devices", |form| {
        DEVICES.map(|name| form.within(name, disk).flatten())
    });
    if let Some(Input::Object(entries)) = form.value("devices") {
        let is_unknown =
            |(name, device): &&(String, Input)| *device != Input::Null && !DEVICES.contains(&name.as_str());
        for (name, _) in entries.iter().filter(is_unknown) {
            let text = "Garth has the devices sda to sdh: leave this one out";
            form.refuse_with(|| (format!("devices.{name}"), Reason::new(Code::NotOffered, text)));
        }
    }
    devices
}
