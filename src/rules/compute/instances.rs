//! Instances: listing, creating, viewing, changing, deleting. `power.rs` starts and stops them.

use std::collections::HashSet;

use crate::model::config::{ConfigLabel, Settings};
use crate::model::event::{Action, Entity};
use crate::model::grant::{Global, Granted, Permission};
use crate::model::id::{ConfigId, InstanceId};
use crate::model::image::Image;
use crate::model::input::Input;
use crate::model::instance::{Instance, InstanceLabel, NewInstance};
use crate::model::interface::Interface;
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::token::hex;
use crate::rules::caller::Caller;
use crate::rules::configs::{self, read_interfaces};
use crate::rules::error::{Error, Result};
use crate::rules::events;
use crate::rules::form::{Form, short_text};
use crate::rules::interfaces::Site;
use crate::rules::lists::ListRequest;
use crate::rules::power;
use crate::rules::request::Request;
use crate::store::vpc_ips::{Only, VpcIp};
use crate::store::{self, ReadTx, WriteTx};

pub fn list(tx: &mut ReadTx, caller: &Caller, list: &ListRequest) -> Result<Paged<Instance>> {
    let wanted = list.read(tx.policy(), &store::instances::FIELDS)?;
    Ok(store::instances::list(
        tx,
        caller.account,
        caller.sight(),
        &wanted,
    )?)
}

/// Creates an instance. From an image it gets a disk and a config; interfaces make a config too.
pub fn create(tx: &mut WriteTx, caller: &Caller, request: &Request) -> Result<Instance> {
    caller.must_hold(Global::AddLinodes)?;
    let wish = read_new(tx, caller, request)?;

    let random = tx.random();
    let id = store::instances::insert(tx, caller.account, &wish.new, &hex(&random[..20]))?;
    if caller.is_restricted() {
        store::grants::set(tx, caller.user(), Granted::Linode, id.0, Permission::ReadWrite)?;
    }
    store::instances::take_public(tx, id, wish.address)?;
    let mut instance = load(tx, caller, id)?;
    if wish.new.label.is_none() {
        instance.label = free_label(tx, caller, id)?;
        store::instances::update(tx, &instance)?;
    }
    let config = add_config(tx, &instance, &wish)?;

    let boot = config.filter(|_| wish.boot);
    power::provision(tx, caller, instance, boot)?;
    load(tx, caller, id)
}

pub fn view(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> Result<Instance> {
    load_for(tx, caller, id, Permission::ReadOnly)
}

pub fn update(tx: &mut WriteTx, caller: &Caller, id: InstanceId, request: &Request) -> Result<Instance> {
    let mut instance = load_for(tx, caller, id, Permission::ReadWrite)?;
    request.unchanged(&instance)?;
    let mut form = request.form()?;
    let label = form.optional("label", InstanceLabel::parse);
    let group = form.optional("group", short_text);
    let tags = read_tags(&mut form);
    let watchdog = form.truth("watchdog_enabled");
    refuse_taken(tx, caller, &mut form, label.as_ref(), Some(id))?;
    form.finish(|| Some(()))?;

    instance.label = label.unwrap_or(instance.label);
    instance.group = group.unwrap_or(instance.group);
    instance.tags = tags.unwrap_or(instance.tags);
    instance.watchdog = watchdog.unwrap_or(instance.watchdog);
    instance.updated = tx.now_after(instance.updated);
    store::instances::update(tx, &instance)?;
    store::tickets::rename_entity(tx, caller.account, &Entity::instance(&instance))?;
    events::record_instance(tx, caller, Action::InstanceUpdate, &instance, None)?;
    Ok(instance)
}

/// Deletes an instance with all it has, in whatever state it is.
pub fn delete(tx: &mut WriteTx, caller: &Caller, id: InstanceId, request: &Request) -> Result<()> {
    let instance = load_for(tx, caller, id, Permission::ReadWrite)?;
    request.unchanged(&instance)?;
    request.asks_nothing()?;
    for (config, _) in store::configs::names(tx, id)? {
        if let Some(config) = store::configs::find(tx, id, config)? {
            configs::remove(tx, &config)?;
        }
    }
    power::abandon(tx, id)?;
    store::instances::delete(tx, &instance)?;
    events::record_instance(tx, caller, Action::InstanceDelete, &instance, None)
}

/// The addresses of an instance: its public ones with their translations, and those in VPCs.
pub fn addresses(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> Result<(Instance, Vec<VpcIp>)> {
    let instance = load_for(tx, caller, id, Permission::ReadOnly)?;
    let all = ListRequest {
        page_size: Some("500".to_owned()),
        ..ListRequest::default()
    };
    let wanted = all.read(tx.policy(), &store::vpc_ips::FIELDS)?;
    let found = store::vpc_ips::list(tx, caller.account, caller.sight(), Only::Instance(id), &wanted)?;
    Ok((instance, found.items))
}

/// The instance, if the caller may do that much with it.
pub fn load_for(tx: &mut ReadTx, caller: &Caller, id: InstanceId, access: Permission) -> Result<Instance> {
    let instance = load(tx, caller, id)?;
    caller.may(tx, Granted::Linode, id.0, access)?;
    Ok(instance)
}

fn load(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> Result<Instance> {
    store::instances::find(tx, caller.account, id)?.ok_or(Error::NotFound)
}

/// An instance as it was asked for.
struct Wish {
    new: NewInstance,
    image: Option<Image>,
    interfaces: Vec<Interface>,
    /// The public address it gets.
    address: u32,
    boot: bool,
}

fn read_new(tx: &mut ReadTx, caller: &Caller, request: &Request) -> Result<Wish> {
    let policy = tx.policy();
    let mut form = request.form()?;
    let plan = form.required("type", |raw| plan_named(policy, raw));
    let region = form.required("region", |raw| region_named(policy, raw));
    let label = form.optional("label", InstanceLabel::parse);
    let group = form.optional("group", short_text).unwrap_or_default();
    let image = form.optional("image", |raw| image_named(policy, raw));
    let tags = read_tags(&mut form).unwrap_or_default();
    let booted = form.truth("booted");
    let user_data = |form: &mut Form| form.optional("user_data", |_| Ok(())).is_some();
    let has_user_data = form.within("metadata", user_data).unwrap_or(false);
    if !read_credentials(&mut form) && form.has("image") {
        let text = "Must provide valid root_pass, authorized_keys, or authorized_users";
        form.refuse("root_pass", Reason::new(Code::CredentialsMissing, text));
    }
    refuse_taken(tx, caller, &mut form, label.as_ref(), None)?;
    let address = free_public_address(tx)?;
    if address.is_none() {
        let text = "The provider has no public address left";
        form.refuse_whole(Reason::new(Code::AddressesExhausted, text));
    }
    let site = Site {
        owner: None,
        region: region.as_deref().unwrap_or_default(),
        public: address.as_slice(),
        present: &[],
    };
    let interfaces = read_interfaces(tx, caller, &mut form, &site)?;
    form.finish(|| {
        let new = NewInstance {
            label,
            group,
            region: region?,
            plan: plan?,
            image: image.as_ref().map(|image| image.id.clone()),
            tags,
            has_user_data,
        };
        let boot = booted.unwrap_or(image.is_some());
        let interfaces = interfaces.unwrap_or(Some(Vec::new()))?;
        Some(Wish {
            new,
            image,
            interfaces,
            address: address?,
            boot,
        })
    })
}

/// Whether there is something to log in with. It is looked at no further, and not kept.
fn read_credentials(form: &mut Form) -> bool {
    let text = |input: &Input| matches!(input, Input::Text(_)).then_some(Ok(()));
    form.optional("root_pass", |_| Ok(()));
    let lists = ["authorized_keys", "authorized_users"];
    for name in lists {
        form.values(name, "a string", text);
    }
    ["root_pass"].iter().chain(&lists).any(|name| form.has(name))
}

/// The first of the usual names that no other instance has.
fn free_label(tx: &mut ReadTx, caller: &Caller, id: InstanceId) -> Result<InstanceLabel> {
    for label in InstanceLabel::usual(id) {
        if !store::instances::has_label(tx, caller.account, &label, Some(id))? {
            return Ok(label);
        }
    }
    unreachable!("there is no end of names")
}

fn add_config(tx: &mut WriteTx, instance: &Instance, wish: &Wish) -> Result<Option<ConfigId>> {
    if wish.image.is_none() && wish.interfaces.is_empty() {
        return Ok(None);
    }
    let mut settings = Settings::default();
    let label = match &wish.image {
        Some(image) => {
            let plan = tx.policy().plans.iter().find(|plan| plan.id == instance.plan);
            let size = plan.map_or(0, |plan| plan.disk);
            let disk = store::instances::add_disk(tx, instance.id, &format!("{} Disk", image.label), size)?;
            settings.devices[0] = Some(disk);
            format!("My {} Disk Profile", image.label)
        }
        None => format!(
            "My {} Profile",
            instance.label.as_str().chars().take(37).collect::<String>()
        ),
    };
    let label = ConfigLabel::stored(label);
    Ok(Some(configs::insert(
        tx,
        instance,
        &label,
        &settings,
        wish.interfaces.clone(),
    )?))
}

fn free_public_address(tx: &mut ReadTx) -> Result<Option<u32>> {
    for range in &tx.policy().public_ranges {
        // The first address is the network, the second its gateway, the last the broadcast.
        let (first, last) = (range.first() + 2, range.last() - 1);
        if let Some(address) = store::instances::free_public(tx, first, last)? {
            return Ok(Some(address));
        }
    }
    Ok(None)
}

fn read_tags(form: &mut Form) -> Option<Vec<String>> {
    let tags = form.values("tags", "a string", |item| match item {
        Input::Text(tag) => {
            let good = (3..=50).contains(&tag.chars().count()) && !tag.chars().any(char::is_control);
            let text = "A tag has 3 to 50 characters";
            Some(if good {
                Ok(tag.clone())
            } else {
                Err(vec![Reason::new(Code::TagInvalid, text)])
            })
        }
        _ => None,
    });
    tags.map(|tags| {
        let mut known = HashSet::new();
        tags.into_iter().filter(|tag| known.insert(tag.clone())).collect()
    })
}

fn refuse_taken(
    tx: &mut ReadTx,
    caller: &Caller,
    form: &mut Form,
    label: Option<&InstanceLabel>,
    except: Option<InstanceId>,
) -> Result<()> {
    if let Some(label) = label
        && store::instances::has_label(tx, caller.account, label, except)?
    {
        form.refuse(
            "label",
            Reason::new(Code::LabelTaken, "Label must be unique among your Linodes"),
        );
    }
    Ok(())
}

fn plan_named(policy: &Policy, raw: &str) -> Result<String, Reasons> {
    let found = policy.plans.iter().find(|plan| plan.id == raw);
    found.map(|plan| plan.id.clone()).ok_or_else(|| {
        let text = "A valid plan type by that ID was not found";
        vec![Reason::new(Code::PlanInvalid, text)]
    })
}

fn region_named(policy: &Policy, raw: &str) -> Result<String, Reasons> {
    let found = policy
        .regions
        .iter()
        .find(|region| region.id == raw && region.can("Linodes"));
    found.map(|region| region.id.clone()).ok_or_else(|| {
        let able: Vec<_> = policy
            .regions
            .iter()
            .filter(|region| region.can("Linodes"))
            .collect();
        let able: Vec<_> = able.iter().map(|region| region.id.as_str()).collect();
        let text = format!("region is not valid; choose one of {}", able.join(", "));
        vec![Reason::new(Code::RegionInvalid, text)]
    })
}

fn image_named(policy: &Policy, raw: &str) -> Result<Image, Reasons> {
    let found = policy.images.iter().find(|image| image.id == raw).cloned();
    found.ok_or_else(|| vec![Reason::new(Code::ImageInvalid, "image is not valid")])
}
