//! The `app_user` table.

use std::collections::HashSet;

use crate::model::change::ChangeKind;
use crate::model::grant::Permission;
use crate::model::id::{AccountId, UserId};
use crate::model::page::Paged;
use crate::model::staff_role::StaffRole;
use crate::model::user::{Login, NewUser, User, Username};
use crate::store::changes::Owner;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind, contains_pattern};
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};
use crate::store::{grants, saved_views, ssh_keys, tokens};

pub(super) const COLUMNS: &str =
    "id, account, username, email, restricted, account_access, created, timezone,
    email_notifications, lish_auth_method, authorized_keys, password_created, last_login, last_login_status,
    staff_role, disabled";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("app_user", COLUMNS, |row| read(row).map(drop));

pub static FIELDS: [Field; 3] = [
    Field::new("username", Kind::Text, "username"),
    Field::new("email", Kind::Text, "email"),
    Field::new("restricted", Kind::Boolean, "restricted"),
];

/// The first users of all accounts whose name or e-mail address contains a text.
pub fn containing(tx: &mut ReadTx, text: &str, limit: i64) -> Result<Vec<User>, StoreError> {
    let pattern = contains_pattern(&Value::from(text.to_owned()));
    let sql = format!(
        "SELECT {COLUMNS} FROM app_user
         WHERE account IS NOT NULL AND (lower(username) LIKE $1 ESCAPE '\\' OR lower(email) LIKE $1 ESCAPE '\\')
         ORDER BY lower(username), id LIMIT $2"
    );
    tx.read(&sql, args![pattern, limit], read)
}

/// The users of an account.
pub fn list(tx: &mut ReadTx, account: AccountId, query: &ListQuery) -> Result<Paged<User>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "app_user",
        condition: "account = $1".to_owned(),
        args: args![account].to_vec(),
        key: &["id"],
        order: None,
        tallied: None,
    };
    let mut users = collection.page(tx, query, read)?;
    let ids: Vec<UserId> = users.items.iter().map(|user| user.id).collect();
    let mut labels = ssh_keys::labels(tx, &ids)?;
    for user in &mut users.items {
        user.ssh_keys = labels.remove(&user.id).unwrap_or_default();
    }
    Ok(users)
}

/// All users of an account, ordered by name, without their grants.
pub fn all_of_account(tx: &mut ReadTx, account: AccountId) -> Result<Vec<User>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM app_user WHERE account = $1 ORDER BY lower(username)");
    tx.read(&sql, args![account], read)
}

/// All tenants and all staff users, ordered by creation, without their grants.
pub fn list_all(tx: &mut ReadTx) -> Result<Vec<User>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM app_user ORDER BY id");
    tx.read(&sql, args![], read)
}

pub fn find_by_id(tx: &mut ReadTx, id: UserId) -> Result<Option<User>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM app_user WHERE id = $1");
    find_with(tx, &sql, args![id])
}

/// The users who can be the author of a message from an e-mail address, in lower case, but at most two. A customer can
/// give a new user the address of another person, so that users of accounts without a password count only if no other
/// user has the address.
pub fn authors_with_email(tx: &mut ReadTx, email: &str) -> Result<Vec<UserId>, StoreError> {
    let confirmed = "SELECT id FROM app_user
         WHERE lower(email) = $1 AND (account IS NULL OR password_created IS NOT NULL) ORDER BY id LIMIT 2";
    let authors = tx.read(confirmed, args![email], |row| row.take())?;
    if !authors.is_empty() {
        return Ok(authors);
    }
    let sql = "SELECT id FROM app_user WHERE lower(email) = $1 ORDER BY id LIMIT 2";
    tx.read(sql, args![email], |row| row.take())
}

/// The first users with an e-mail address, in lower case, without their grants.
pub fn all_with_email(tx: &mut ReadTx, email: &str, limit: i64) -> Result<Vec<User>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM app_user WHERE lower(email) = $1 ORDER BY id LIMIT $2");
    tx.read(&sql, args![email, limit], read)
}

pub fn find(tx: &mut ReadTx, username: &str) -> Result<Option<User>, StoreError> {
    if !is_username(username) {
        return Ok(None);
    }
    let sql = format!("SELECT {COLUMNS} FROM app_user WHERE lower(username) = lower($1)");
    find_with(tx, &sql, args![username])
}

/// The user of an account with this name. The duration of the query does not reveal whether a user of another account
/// has the name.
pub fn find_in(tx: &mut ReadTx, account: AccountId, username: &str) -> Result<Option<User>, StoreError> {
    if !is_username(username) {
        return Ok(None);
    }
    let sql = format!("SELECT {COLUMNS} FROM app_user WHERE lower(username) = lower($1) AND account = $2");
    find_with(tx, &sql, args![username, account])
}

/// Whether a text has the form of a username. Other texts are not looked up: PostgreSQL refuses a text with a NUL
/// character.
fn is_username(raw: &str) -> bool {
    Username::parse(raw).is_ok()
}

/// Finds a user and reads the user's global grants and the labels of the SSH keys.
fn find_with(tx: &mut ReadTx, sql: &str, args: &[Value]) -> Result<Option<User>, StoreError> {
    let Some(mut row) = tx.find(sql, args)? else {
        return Ok(None);
    };
    let mut user = read(&mut row)?;
    user.globals = grants::globals(tx, user.id)?;
    user.ssh_keys = ssh_keys::labels(tx, &[user.id])?
        .remove(&user.id)
        .unwrap_or_default();
    Ok(Some(user))
}

/// The names in `names` that are usernames of the account, in lower case. Only the first 128 names are looked up.
pub fn known_names(
    tx: &mut ReadTx,
    account: AccountId,
    names: &[String],
) -> Result<HashSet<String>, StoreError> {
    const MAX_NAMES: usize = 128;
    let mut args: Vec<Value> = names
        .iter()
        .take(MAX_NAMES)
        .filter(|name| is_username(name))
        .map(|name| Value::from(name.to_ascii_lowercase()))
        .collect();
    let Some(last) = args.last().cloned() else {
        return Ok(HashSet::new());
    };
    // The last element is repeated until the length is a power of two, so that lists of all lengths need only
    // a few prepared statements.
    args.resize(args.len().next_power_of_two(), last);
    let placeholders: Vec<_> = (1..=args.len()).map(|number| format!("${number}")).collect();
    args.push(account.into());
    let sql = format!(
        "SELECT lower(username) FROM app_user WHERE lower(username) IN ({}) AND account = ${}",
        placeholders.join(", "),
        args.len()
    );
    Ok(tx.read(&sql, &args, |row| row.take())?.into_iter().collect())
}

pub fn exists(tx: &mut ReadTx, username: &Username) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM app_user WHERE lower(username) = lower($1)";
    Ok(tx.find(sql, args![username])?.is_some())
}

/// Whether the store has no users.
pub fn is_empty(tx: &mut ReadTx) -> Result<bool, StoreError> {
    Ok(tx.find("SELECT 1 FROM app_user LIMIT 1", args![])?.is_none())
}

pub fn insert(tx: &mut WriteTx, new: &NewUser) -> Result<UserId, StoreError> {
    let now = tx.now();
    let (account, password) = (new.membership.account(), new.password.as_deref());
    let id: UserId = tx
        .one(
            "INSERT INTO app_user (account, username, email, restricted, password, created, password_created,
                 staff_role)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id",
            args![
                account,
                &new.username,
                &new.email,
                new.restricted,
                password,
                now,
                password.map(|_| now),
                new.membership.role().map(StaffRole::word),
            ],
        )?
        .take()?;
    tx.changed(account, ChangeKind::User, id.0)?;
    tokens::invalidate_identities(tx, account)?;
    Ok(id)
}

/// Updates the columns that users can change. Invalidates cached identities.
pub fn update(tx: &mut WriteTx, user: &User) -> Result<(), StoreError> {
    let changed = tx.execute(
        "UPDATE app_user SET username = $2, email = $3, restricted = $4, timezone = $5,
             email_notifications = $6, lish_auth_method = $7, authorized_keys = $8
         WHERE id = $1 AND (username <> $2 OR email <> $3 OR restricted <> $4 OR timezone <> $5
             OR email_notifications <> $6 OR lish_auth_method <> $7 OR authorized_keys IS DISTINCT FROM $8)",
        args![
            user.id,
            &user.username,
            &user.email,
            user.restricted,
            user.timezone.as_str(),
            user.email_notifications,
            user.lish_auth_method.as_str(),
            user.authorized_keys.as_deref(),
        ],
    )?;
    if changed == 0 {
        return Ok(());
    }
    tx.changed(user.account, ChangeKind::User, user.id.0)?;
    tokens::invalidate_identities(tx, user.account)
}

/// Deletes a user with the user's tokens, sessions and grants. The user's tickets, replies and events remain.
pub fn delete(tx: &mut WriteTx, id: UserId) -> Result<(), StoreError> {
    tx.changed(Owner::User(id), ChangeKind::User, id.0)?;
    tokens::invalidate_identities(tx, Owner::User(id))?;
    saved_views::delete_private(tx, id)?;
    tx.execute("DELETE FROM app_user WHERE id = $1", args![id])?;
    Ok(())
}

/// The preferences of a user: JSON that a client has stored.
pub fn preferences(tx: &mut ReadTx, id: UserId) -> Result<String, StoreError> {
    tx.one("SELECT preferences FROM app_user WHERE id = $1", args![id])?
        .take()
}

pub fn set_preferences(tx: &mut WriteTx, id: UserId, json: &str) -> Result<(), StoreError> {
    let sql = "UPDATE app_user SET preferences = $2 WHERE id = $1 AND preferences <> $2";
    match tx.execute(sql, args![id, json])? {
        0 => Ok(()),
        _ => tx.changed(Owner::User(id), ChangeKind::User, id.0),
    }
}

pub(super) fn read(row: &mut Row) -> Result<User, StoreError> {
    Ok(User {
        id: row.take()?,
        account: row.take()?,
        username: row.take()?,
        email: row.take()?,
        restricted: row.take()?,
        account_access: row.take()?,
        globals: Vec::new(),
        created: row.take()?,
        timezone: row.take()?,
        email_notifications: row.take()?,
        lish_auth_method: row.take()?,
        authorized_keys: row.take()?,
        ssh_keys: Vec::new(),
        password_created: row.take()?,
        last_login: read_login(row)?,
        role: row.take()?,
        disabled: row.take()?,
    })
}

fn read_login(row: &mut Row) -> Result<Option<Login>, StoreError> {
    let (at, status): (Option<_>, Option<_>) = (row.take()?, row.take()?);
    Ok(at.zip(status).map(|(at, status)| Login { at, status }))
}

impl FromValue for StaffRole {
    fn from_value(value: Value) -> Option<Self> {
        StaffRole::parse(value.as_text()?).ok()
    }
}

impl FromValue for Permission {
    fn from_value(value: Value) -> Option<Self> {
        Permission::parse(value.as_text()?).ok()
    }
}
