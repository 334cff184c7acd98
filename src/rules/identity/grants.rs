//! Grants: the permissions of restricted users.

use std::collections::{HashMap, HashSet};

use crate::model::entity::Entity;
use crate::model::event::Action;
use crate::model::event_change::Changes;
use crate::model::grant::{EntityGrant, Global, GrantKind, Permission};
use crate::model::id::{InstanceId, VpcId};
use crate::model::policy::Policy;
use crate::model::reason::{Code, Reason};
use crate::model::user::User;
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::request::{Drafted, FromForm};
use crate::rules::{events, not_offered, users};
use crate::store::{self, ReadTx, WriteTx};

/// A grant to add to a user.
#[derive(Clone, Copy, Debug)]
pub enum Grant {
    Global(Global),
    AccountAccess(Permission),
    Vpc(VpcId, Permission),
    Linode(InstanceId, Permission),
}

impl Grant {
    /// The kind and the ID of its object.
    fn object(&self) -> Option<(&'static str, i64)> {
        match self {
            Grant::Global(_) | Grant::AccountAccess(_) => None,
            Grant::Vpc(vpc, _) => Some(("vpc", vpc.0)),
            Grant::Linode(instance, _) => Some(("linode", instance.0)),
        }
    }
}

/// The changes of an event that adds these grants. The earlier values are not known.
pub fn changes_of(grants: &[Grant]) -> Changes {
    let mut changes = Changes::default();
    for grant in grants {
        match grant {
            Grant::Global(global) => changes.add(global.word(), "", true),
            Grant::AccountAccess(access) => changes.add("account_access", "", access.word()),
            Grant::Vpc(vpc, permission) => changes.add(format!("vpc {vpc}"), "", permission.word()),
            Grant::Linode(instance, permission) => {
                changes.add(format!("linode {instance}"), "", permission.word());
            }
        }
    }
    changes
}

/// Adds all of these grants to a user, or none of them.
pub fn add(tx: &mut WriteTx, username: &str, grants: &[Grant]) -> Result<User> {
    let user = users::load(tx, username)?;
    let Some(account) = user.account else {
        return Err(invalid_grant("user", "Staff users cannot have grants"));
    };
    let mut objects = HashSet::new();
    for (kind, id) in grants.iter().filter_map(Grant::object) {
        if !objects.insert((kind, id)) {
            return Err(invalid_grant(kind, format!("{kind} {id} is repeated")));
        }
    }
    for grant in grants {
        match *grant {
            Grant::Global(global) => store::grants::add_global(tx, user.id, global)?,
            Grant::AccountAccess(access) => store::grants::set_account_access(tx, user.id, Some(access))?,
            Grant::Vpc(vpc, permission) => {
                let found = store::vpcs::find(tx, account, vpc)?.is_some();
                require_found(found, "vpc", format!("The user's account has no VPC {vpc}"))?;
                store::grants::set(tx, user.id, GrantKind::Vpc, vpc.0, permission)?;
            }
            Grant::Linode(instance, permission) => {
                let found = store::instances::find(tx, account, instance)?.is_some();
                require_found(
                    found,
                    "linode",
                    format!("The user's account has no instance {instance}"),
                )?;
                store::grants::set(tx, user.id, GrantKind::Linode, instance.0, permission)?;
            }
        }
    }
    match user.restricted {
        true => users::load(tx, username),
        false => Err(Error::whole(unrestricted())),
    }
}

fn unrestricted() -> Reason {
    let text = "Grants are not available for unrestricted users";
    Reason::new(Code::GrantsUnrestricted, text)
}

fn require_found(found: bool, field: &str, error_text: String) -> Result<()> {
    match found {
        true => Ok(()),
        false => Err(invalid_grant(field, error_text)),
    }
}

fn invalid_grant(field: &str, text: impl Into<String>) -> Error {
    Error::on(field, Reason::new(Code::GrantInvalid, text))
}

/// All grants of a restricted user.
#[derive(Clone, Debug, Hash)]
pub struct Grants {
    pub account_access: Option<Permission>,
    pub globals: Vec<Global>,
    pub linodes: Vec<EntityGrant>,
    pub vpcs: Vec<EntityGrant>,
}

/// The caller's grants; `None` for an unrestricted user.
pub fn view_own(tx: &mut ReadTx, caller: &Caller) -> Result<Option<Grants>> {
    if !caller.is_restricted() {
        return Ok(None);
    }
    let user = store::users::find_by_id(tx, caller.user())?.ok_or(Error::NotFound)?;
    let mut grants = load(tx, caller, &user)?;
    grants
        .linodes
        .retain(|entity_grant| entity_grant.permission.is_some());
    grants
        .vpcs
        .retain(|entity_grant| entity_grant.permission.is_some());
    Ok(Some(grants))
}

/// The grants of another user; `None` for an unrestricted user. Also lists the objects of the account on
/// which the user has no grant.
pub fn view(tx: &mut ReadTx, caller: &Caller, username: &str) -> Result<Option<Grants>> {
    let user = users::view(tx, caller, username)?;
    match user.restricted {
        true => load(tx, caller, &user).map(Some),
        false => Ok(None),
    }
}

/// The valid fields of a change of grants.
#[derive(Debug)]
pub struct Change {
    globals: Option<Globals>,
    linodes: Vec<Option<Entry>>,
    vpcs: Vec<Option<Entry>>,
}

impl FromForm for Change {
    fn read(form: &mut Form, _: &Policy) -> Self {
        let globals = form.within("global", read_globals);
        let (linodes, vpcs) = (read_entries(form, "linode"), read_entries(form, "vpc"));
        for kind in OTHER_KINDS {
            let entries = read_entries(form, kind);
            refuse_wrong_ids(form, kind, &entries, &[]);
        }
        Self {
            globals,
            linodes,
            vpcs,
        }
    }
}

/// Changes the grants of another user. Missing fields are not changed.
pub fn update(
    tx: &mut WriteTx,
    caller: &Caller,
    username: &str,
    request: &Drafted<Change>,
) -> Result<Grants> {
    let user = users::view(tx, caller, username)?;
    let before = load(tx, caller, &user)?;
    request.check_if_match(&before)?;
    let (change, mut form) = request.open()?;
    refuse_wrong_ids(&mut form, "linode", &change.linodes, &before.linodes);
    refuse_wrong_ids(&mut form, "vpc", &change.vpcs, &before.vpcs);
    if !user.restricted {
        form.refuse_whole(unrestricted());
    }
    form.finish(|| Some(()))?;

    if let Some((access, globals)) = &change.globals {
        set_globals(tx, &user, *access, globals)?;
    }
    set_entries(tx, &user, GrantKind::Linode, &change.linodes, &before.linodes)?;
    set_entries(tx, &user, GrantKind::Vpc, &change.vpcs, &before.vpcs)?;
    let user = users::view(tx, caller, username)?;
    let after = load(tx, caller, &user)?;
    let entity = Entity::user(&user);
    let changes = differences(&before, &after);
    events::record_account_update(tx, caller, Action::UserUpdate, Some(&entity), &changes)?;
    Ok(after)
}

/// The permissions that differ.
fn differences(before: &Grants, after: &Grants) -> Changes {
    let mut changes = Changes::default();
    let word = |permission: Option<Permission>| permission.map_or("none", Permission::word);
    changes.add(
        "account_access",
        word(before.account_access),
        word(after.account_access),
    );
    for global in Global::ALL {
        let held = |grants: &Grants| grants.globals.contains(&global);
        changes.add(global.word(), held(before), held(after));
    }
    for (kind, before, after) in [
        (GrantKind::Linode, &before.linodes, &after.linodes),
        (GrantKind::Vpc, &before.vpcs, &after.vpcs),
    ] {
        // Both lists have the same objects: the transaction changes only permissions.
        for (old, new) in before.iter().zip(after) {
            let field = format!("{} {} ({})", kind.word(), new.label, new.id);
            changes.add(field, word(old.permission), word(new.permission));
        }
    }
    changes
}

fn set_globals(
    tx: &mut WriteTx,
    user: &User,
    access: Option<Option<Permission>>,
    globals: &[(Global, bool)],
) -> Result<()> {
    if let Some(access) = access {
        store::grants::set_account_access(tx, user.id, access)?;
    }
    for &(global, held) in globals {
        match held {
            true => store::grants::add_global(tx, user.id, global)?,
            false => store::grants::remove_global(tx, user.id, global)?,
        }
    }
    Ok(())
}

/// Writes the entries that differ from the current grants, so the number of objects limits the number of writes.
fn set_entries(
    tx: &mut WriteTx,
    user: &User,
    kind: GrantKind,
    entries: &[Option<Entry>],
    current: &[EntityGrant],
) -> Result<()> {
    let requested: HashMap<i64, Option<Permission>> = entries.iter().flatten().copied().collect();
    for entity_grant in current {
        match requested.get(&entity_grant.id) {
            Some(permission) if *permission != entity_grant.permission => match permission {
                Some(permission) => store::grants::set(tx, user.id, kind, entity_grant.id, *permission)?,
                None => store::grants::remove(tx, user.id, kind, entity_grant.id)?,
            },
            _ => {}
        }
    }
    Ok(())
}

fn load(tx: &mut ReadTx, caller: &Caller, user: &User) -> Result<Grants> {
    Ok(Grants {
        account_access: user.account_access,
        globals: user.globals.clone(),
        linodes: store::grants::list_by_kind(tx, caller.account, user.id, GrantKind::Linode)?,
        vpcs: store::grants::list_by_kind(tx, caller.account, user.id, GrantKind::Vpc)?,
    })
}

/// Kinds of objects in the Linode API that Garth does not have.
const OTHER_KINDS: [&str; 9] = [
    "domain",
    "nodebalancer",
    "image",
    "longview",
    "stackscript",
    "volume",
    "firewall",
    "database",
    "lkecluster",
];

/// The account access, if it changes, and the global grants to add (true) or remove (false).
type Globals = (Option<Option<Permission>>, Vec<(Global, bool)>);

fn read_globals(form: &mut Form) -> Globals {
    let access = match form.is_null("account_access") {
        true => Some(None),
        false => form.optional("account_access", Permission::parse).map(Some),
    };
    let mut globals = Vec::new();
    for global in Global::ALL {
        globals.extend(form.boolean(global.word()).map(|held| (global, held)));
    }
    // The documentation of the Linode API uses this name.
    if let Some(held) = form.boolean("add_vpc") {
        if globals.contains(&(Global::AddVpcs, !held)) {
            let text = "add_vpcs and add_vpc are the same field, but were sent with different values";
            let field = form.path("add_vpcs");
            form.refuse(field, Reason::new(Code::SpellingConflict, text));
        }
        globals.push((Global::AddVpcs, held));
    }
    let text = "Child accounts are not offered; send null";
    not_offered::refuse_field(form, "child_account_access", text);
    (access, globals)
}

/// The ID of an object, and the permission on it; `None` removes the grant.
type Entry = (i64, Option<Permission>);

fn read_entries(form: &mut Form, kind: &'static str) -> Vec<Option<Entry>> {
    let entries = form.list(kind, |form| {
        let id = form.required_integer("id")?;
        Some((id, form.optional("permissions", Permission::parse)))
    });
    entries.into_iter().map(Option::flatten).collect()
}

/// Adds an error for each entry whose object does not exist, or is in an earlier entry.
fn refuse_wrong_ids(form: &mut Form, kind: &str, entries: &[Option<Entry>], present: &[EntityGrant]) {
    let present: HashSet<_> = present.iter().map(|entity_grant| entity_grant.id).collect();
    let mut earlier = HashSet::new();
    for (at, entry) in entries.iter().enumerate() {
        let Some((id, _)) = *entry else { continue };
        let text = if !present.contains(&id) {
            "id is not valid".to_owned()
        } else if !earlier.insert(id) {
            format!("The object {id} is listed more than once")
        } else {
            continue;
        };
        form.refuse_with(|| (format!("{kind}[{at}].id"), Reason::new(Code::GrantInvalid, text)));
    }
}
