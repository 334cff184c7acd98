//! Parses new and changed instances.

use std::collections::HashSet;

use super::upkeep::{UpkeepDraft, refuse_backups};
use crate::model::account::settings::AccountSettings;
use crate::model::config::Settings;
use crate::model::image::Image;
use crate::model::input::Input;
use crate::model::instance::{InstanceLabel, NewInstance};
use crate::model::object_tag::TagLabel;
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::region::Region;
use crate::model::upkeep::{DiskEncryption, Upkeep};
use crate::rules::configs::read_kernel;
use crate::rules::deployment::{
    image_named, read_credentials, refuse_scripts, refuse_without_image, too_small_for,
};
use crate::rules::form::{Form, short_text};
use crate::rules::interfaces;
use crate::rules::not_offered::{refuse_field, refuse_other_than};
use crate::rules::request::FromForm;
use crate::rules::ssh_keys::AuthorizedUsers;
use crate::rules::tags::{MAX_TAGS_PER_OBJECT, too_many_tags};

/// The default size of the swap disk of an instance with an image, in megabytes.
const DEFAULT_SWAP_SIZE: i64 = 512;

/// The valid fields of a new instance.
#[derive(Debug)]
pub struct Draft {
    pub plan: Option<String>,
    pub region: Option<String>,
    pub label: Option<InstanceLabel>,
    pub group: Option<String>,
    pub image: Option<Image>,
    pub tags: Vec<String>,
    pub booted: Option<bool>,
    pub has_user_data: bool,
    pub upkeep: UpkeepDraft,
    pub disk_encryption: DiskEncryption,
    /// The kernel of the config; `None` for the default.
    pub kernel: Option<String>,
    /// Whether the config enables the network helper; `None` for the account's default.
    pub network_helper: Option<bool>,
    /// In megabytes.
    pub swap_size: i64,
    /// In megabytes; `None` for the plan's space minus the swap disk.
    pub boot_size: Option<i64>,
    pub authorized_users: AuthorizedUsers,
    /// Whether the instance also gets a private address.
    pub private_ip: bool,
    pub interfaces: Option<Vec<Option<interfaces::Draft>>>,
}

impl FromForm for Draft {
    fn read(form: &mut Form, policy: &Policy) -> Self {
        let plan = form.required("type", |raw| plan_named(policy, raw));
        let region = form.required("region", |raw| region_named(policy, raw));
        let label = form.optional("label", InstanceLabel::parse);
        let group = form.optional("group", short_text);
        let image = form.optional("image", |raw| image_named(policy, raw));
        let tags = read_tags(form).unwrap_or_default();
        let booted = form.boolean("booted");
        let user_data = |form: &mut Form| form.optional("user_data", parse_user_data);
        let has_user_data = form.within("metadata", user_data).flatten().unwrap_or(false);
        let authorized_users = read_credentials(form);
        let disk = plan_disk(policy, plan.as_deref());
        let swap_size = read_disk_size(form, "swap_size", 0, disk);
        let boot_size = read_disk_size(
            form,
            "boot_size",
            1,
            disk - swap_size.unwrap_or(DEFAULT_SWAP_SIZE),
        );
        let sizes = DiskSizes {
            space: disk,
            swap: swap_size,
            boot: boot_size,
        };
        sizes.check(form, image.as_ref());
        let kernel = read_kernel(form);
        let network_helper = form.boolean("network_helper");
        refuse_without_config(form);
        let disk_encryption = form.optional("disk_encryption", DiskEncryption::parse);
        let default_encryption = default_encryption(policy, region.as_deref());
        let upkeep = UpkeepDraft::read(form);
        let private_ip = form.boolean("private_ip").unwrap_or(false);
        refuse_not_offered(form);
        Self {
            plan,
            region,
            label,
            group,
            image,
            tags,
            booted,
            has_user_data,
            upkeep,
            disk_encryption: disk_encryption.unwrap_or(default_encryption),
            kernel,
            network_helper,
            swap_size: swap_size.unwrap_or(DEFAULT_SWAP_SIZE),
            boot_size,
            authorized_users,
            private_ip,
            interfaces: interfaces::read_all(form),
        }
    }
}

impl Draft {
    /// The new instance. The default of its maintenance policy is a setting of the account.
    pub fn finish(&self, account: AccountSettings) -> Option<NewInstance> {
        let defaults = Upkeep {
            maintenance: account.maintenance_policy,
            ..Upkeep::default()
        };
        Some(NewInstance {
            label: self.label.clone(),
            group: self.group.clone().unwrap_or_default(),
            region: self.region.clone()?,
            plan: self.plan.clone()?,
            image: self.image.as_ref().map(|image| image.id.clone()),
            tags: self.tags.clone(),
            watchdog: self.upkeep.watchdog.unwrap_or(true),
            upkeep: self.upkeep.over(defaults),
            disk_encryption: self.disk_encryption,
            has_user_data: self.has_user_data,
        })
    }

    /// The settings of the config. The default of the network helper is a setting of the account.
    pub fn settings(&self, account: AccountSettings) -> Settings {
        let mut settings = Settings::new(self.network_helper.unwrap_or(account.network_helper));
        settings.kernel = self.kernel.clone().unwrap_or(settings.kernel);
        settings
    }
}

/// A change of an instance.
#[derive(Clone, Debug)]
pub struct Change {
    pub label: Option<InstanceLabel>,
    pub group: Option<String>,
    pub tags: Option<Vec<String>>,
    pub upkeep: UpkeepDraft,
}

impl FromForm for Change {
    fn read(form: &mut Form, _: &Policy) -> Self {
        let change = Self {
            label: form.optional("label", InstanceLabel::parse),
            group: form.optional("group", short_text),
            tags: read_tags(form),
            upkeep: UpkeepDraft::read(form),
        };
        refuse_field(form, "placement_group", NO_PLACEMENT_GROUPS);
        refuse_locks(form);
        change
    }
}

/// The sizes of the disks of a new instance, in megabytes.
struct DiskSizes {
    /// The space of the plan.
    space: i64,
    swap: Option<i64>,
    boot: Option<i64>,
}

impl DiskSizes {
    /// Refuses sizes without an image, and a boot disk that is smaller than its image.
    fn check(&self, form: &mut Form, image: Option<&Image>) {
        if self.swap.is_some_and(|size| size > 0) {
            refuse_without_image(form, "swap_size");
        }
        if self.boot.is_some() {
            refuse_without_image(form, "boot_size");
        }
        let remaining = self.space - self.swap.unwrap_or(DEFAULT_SWAP_SIZE);
        if let Some(image) = image
            && self.boot.unwrap_or(remaining) < image.size
        {
            let field = match (self.boot, self.swap) {
                (Some(_), _) => "boot_size",
                (None, Some(_)) => "swap_size",
                (None, None) => "image",
            };
            form.refuse(field, too_small_for(image));
        }
    }
}

/// Refuses settings of the config, if the instance gets none.
fn refuse_without_config(form: &mut Form) {
    for name in ["kernel", "network_helper"] {
        if form.has(name) && !form.has("image") && form.count("interfaces") == 0 {
            let text = "Without an image or interfaces, the instance has no config: leave this field out";
            form.refuse(name, Reason::new(Code::ConfigMissing, text));
        }
    }
}

const NO_PLACEMENT_GROUPS: &str = "Garth has no placement groups: leave this field out";

/// Refuses fields of the public service that Garth does not have.
fn refuse_not_offered(form: &mut Form) {
    refuse_other_than(
        form,
        "interface_generation",
        "legacy_config",
        "Garth has only interfaces of configs: leave this field out, or send legacy_config",
    );
    refuse_scripts(form);
    refuse_backups(form);
    for (name, text) in [
        (
            "backup_id",
            "Garth makes no backups of instances: leave this field out",
        ),
        ("placement_group", NO_PLACEMENT_GROUPS),
        ("firewall_id", "Garth has no firewalls: leave this field out"),
        ("ipv4", "Garth has no reserved addresses: leave this field out"),
    ] {
        refuse_field(form, name, text);
    }
    refuse_locks(form);
}

fn refuse_locks(form: &mut Form) {
    let text = "Garth has no locks: leave this field out, or send an empty list";
    refuse_field(form, "locks", text);
}

/// Whether there is user data. Garth does not store it, so it is not decoded.
fn parse_user_data(raw: &str) -> Result<bool, Reasons> {
    let digits = raw.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let is_base64 =
        raw.len().is_multiple_of(4) && raw.len() - digits.len() <= 2 && digits.bytes().all(is_digit);
    if !is_base64 {
        let text = "Must be base64 with padding (RFC 4648, section 4), without line breaks";
        return Err(vec![Reason::new(Code::UserDataInvalid, text)]);
    }
    Ok(!raw.is_empty())
}

fn read_tags(form: &mut Form) -> Option<Vec<String>> {
    let tags = form.values("tags", "a string", |item| match item {
        Input::Text(tag) => Some(TagLabel::parse(tag).map(|_| tag.clone())),
        _ => None,
    });
    if form.count("tags") > MAX_TAGS_PER_OBJECT {
        form.refuse("tags", too_many_tags());
    }
    tags.map(|tags| {
        let mut distinct = HashSet::new();
        tags.into_iter()
            .filter(|tag| distinct.insert(tag.clone()))
            .collect()
    })
}

/// Disks are encrypted by default in regions that support disk encryption.
fn default_encryption(policy: &Policy, region: Option<&str>) -> DiskEncryption {
    let found = policy
        .regions
        .iter()
        .find(|known| Some(known.id.as_str()) == region);
    match found.is_some_and(|region| region.has_capability("Disk Encryption")) {
        true => DiskEncryption::Enabled,
        false => DiskEncryption::Disabled,
    }
}

/// The space for disks in a plan, in megabytes. An unknown plan has no limit here, because `plan_named`
/// reports it.
fn plan_disk(policy: &Policy, plan: Option<&str>) -> i64 {
    let found = policy.plans.iter().find(|known| Some(known.id.as_str()) == plan);
    found.map_or(i64::MAX, |plan| plan.disk)
}

/// The size of the boot or swap disk. A swap disk must leave at least 1 MB for the boot disk.
fn read_disk_size(form: &mut Form, name: &'static str, min: i64, space: i64) -> Option<i64> {
    // `min` is 0 for a swap disk and 1 for a boot disk.
    let max = space - (1 - min);
    let size = form.integer(name)?;
    if !(min..=max).contains(&size) {
        let text = format!("Must be {min} to {max} MB");
        form.refuse(name, Reason::new(Code::DiskSpace, text));
        return None;
    }
    Some(size)
}

fn plan_named(policy: &Policy, raw: &str) -> Result<String, Reasons> {
    let found = policy.plans.iter().find(|plan| plan.id == raw && !plan.retired);
    found.map(|plan| plan.id.clone()).ok_or_else(|| {
        let text = "A valid plan type by that ID was not found";
        vec![Reason::new(Code::PlanInvalid, text)]
    })
}

fn region_named(policy: &Policy, raw: &str) -> Result<String, Reasons> {
    let found = policy
        .regions
        .iter()
        .find(|region| region.id == raw && region.offers(Region::LINODES));
    found.map(|region| region.id.clone()).ok_or_else(|| {
        let regions = policy
            .regions
            .iter()
            .filter(|region| region.offers(Region::LINODES));
        let ids: Vec<_> = regions.map(|region| region.id.as_str()).collect();
        let text = format!("region is not valid; choose one of {}", ids.join(", "));
        vec![Reason::new(Code::RegionInvalid, text)]
    })
}
