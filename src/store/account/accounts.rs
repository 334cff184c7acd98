//! The `account` table.

use crate::model::account::contact::{Contact, Country};
use crate::model::account::settings::AccountSettings;
use crate::model::account::status::AccountStatus;
use crate::model::account::{Account, DeskAccount, QuotaOverride};
use crate::model::change::ChangeKind;
use crate::model::id::AccountId;
use crate::model::page::Paged;
use crate::model::user::Email;
use crate::store::error::StoreError;
use crate::store::filter::{Field, Kind};
use crate::store::list::{Collection, ListQuery};
use crate::store::model_rows::ModelRows;
use crate::store::tokens;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str =
    "id, company, email, COALESCE(first_email, email), first_name, last_name, address_1, address_2,
    city, state, zip, country, phone, tax_id, network_helper, maintenance_policy, created, vpcs_per_region,
    subnets_per_vpc, attachment_bytes, status";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new("account", COLUMNS, |row| read(row).map(drop));

const DESK_COLUMNS: &str = "a.id, a.company, a.email, a.created,
    (SELECT count(*) FROM ticket t WHERE t.account = a.id AND t.is_closed = 0),
    (SELECT count(*) FROM ticket t WHERE t.account = a.id),
    (SELECT count(*) FROM app_user u WHERE u.account = a.id)";

pub static FIELDS: [Field; 4] = [
    Field::new("id", Kind::Integer, "a.id"),
    Field::new("company", Kind::Text, "a.company"),
    Field::new("email", Kind::Text, "a.email"),
    Field::new("created", Kind::Time, "a.created"),
];

/// A page of all accounts, with the columns for the desk.
pub fn desk_list(tx: &mut ReadTx, query: &ListQuery) -> Result<Paged<DeskAccount>, StoreError> {
    let collection = Collection {
        columns: DESK_COLUMNS,
        from: "account a",
        condition: "1 = 1".to_owned(),
        args: Vec::new(),
        key: &["a.id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read_desk)
}

pub fn desk_find(tx: &mut ReadTx, id: AccountId) -> Result<Option<DeskAccount>, StoreError> {
    let sql = format!("SELECT {DESK_COLUMNS} FROM account a WHERE a.id = $1");
    tx.find(&sql, args![id])?.as_mut().map(read_desk).transpose()
}

pub static PROVIDER_FIELDS: [Field; 7] = [
    Field::new("id", Kind::Integer, "a.id"),
    Field::new("company", Kind::Text, "a.company"),
    Field::new("email", Kind::Text, "a.email"),
    Field::new("status", Kind::Text, "a.status"),
    Field::new("created", Kind::Time, "a.created"),
    Field::new(
        "usage.vpcs",
        Kind::Integer,
        "(SELECT count(*) FROM vpc v WHERE v.account = a.id)",
    ),
    Field::new(
        "usage.instances",
        Kind::Integer,
        "(SELECT count(*) FROM instance i WHERE i.account = a.id)",
    ),
];

/// A page of all accounts.
pub fn page(tx: &mut ReadTx, query: &ListQuery) -> Result<Paged<Account>, StoreError> {
    let collection = Collection {
        columns: COLUMNS,
        from: "account a",
        condition: "1 = 1".to_owned(),
        args: Vec::new(),
        key: &["a.id"],
        order: None,
        tallied: None,
    };
    collection.page(tx, query, read)
}

pub fn list(tx: &mut ReadTx) -> Result<Vec<Account>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM account ORDER BY id");
    tx.read(&sql, args![], read)
}

pub fn find(tx: &mut ReadTx, id: AccountId) -> Result<Option<Account>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM account WHERE id = $1");
    tx.find(&sql, args![id])?.as_mut().map(read).transpose()
}

pub fn insert(tx: &mut WriteTx, company: &str, email: &Email) -> Result<AccountId, StoreError> {
    let now = tx.now();
    let sql = "INSERT INTO account (company, email, created) VALUES ($1, $2, $3) RETURNING id";
    let id: AccountId = tx.one(sql, args![company, email, now])?.take()?;
    tx.changed(id, ChangeKind::Account, id.0)?;
    Ok(id)
}

/// Updates the columns that users can change.
pub fn update(tx: &mut WriteTx, account: &Account) -> Result<(), StoreError> {
    let contact = &account.contact;
    let changed = tx.execute(
        "UPDATE account SET company = $2, email = $3, first_email = $4, first_name = $5, last_name = $6,
             address_1 = $7, address_2 = $8, city = $9, state = $10, zip = $11, country = $12, phone = $13,
             tax_id = $14
         WHERE id = $1 AND (company <> $2 OR email <> $3 OR first_name <> $5 OR last_name <> $6
             OR address_1 <> $7 OR address_2 <> $8 OR city <> $9 OR state <> $10 OR zip <> $11
             OR country <> $12 OR phone <> $13 OR tax_id <> $14)",
        args![
            account.id,
            account.company.as_str(),
            account.email.as_str(),
            account.first_email.as_str(),
            contact.first_name.as_str(),
            contact.last_name.as_str(),
            contact.address_1.as_str(),
            contact.address_2.as_str(),
            contact.city.as_str(),
            contact.state.as_str(),
            contact.zip.as_str(),
            contact.country.as_str(),
            contact.phone.as_str(),
            contact.tax_id.as_str(),
        ],
    )?;
    match changed {
        0 => Ok(()),
        _ => tx.changed(account.id, ChangeKind::Account, account.id.0),
    }
}

pub fn set_settings(tx: &mut WriteTx, id: AccountId, settings: AccountSettings) -> Result<(), StoreError> {
    let changed = tx.execute(
        "UPDATE account SET network_helper = $2, maintenance_policy = $3
         WHERE id = $1 AND (network_helper <> $2 OR maintenance_policy <> $3)",
        args![id, settings.network_helper, settings.maintenance_policy.word()],
    )?;
    match changed {
        0 => Ok(()),
        _ => tx.changed(id, ChangeKind::Account, id.0),
    }
}

/// Sets the status of an account. Invalidates cached identities.
pub fn set_status(tx: &mut WriteTx, id: AccountId, status: AccountStatus) -> Result<(), StoreError> {
    let sql = "UPDATE account SET status = $2 WHERE id = $1 AND status <> $2";
    if tx.execute(sql, args![id, status.word()])? == 0 {
        return Ok(());
    }
    tx.changed(id, ChangeKind::Account, id.0)?;
    tokens::invalidate_identities(tx, id)
}

pub fn set_quota(tx: &mut WriteTx, id: AccountId, quota: QuotaOverride) -> Result<(), StoreError> {
    let changed = tx.execute(
        "UPDATE account SET vpcs_per_region = $2, subnets_per_vpc = $3, attachment_bytes = $4
         WHERE id = $1 AND (vpcs_per_region IS DISTINCT FROM $2 OR subnets_per_vpc IS DISTINCT FROM $3
             OR attachment_bytes IS DISTINCT FROM $4)",
        args![
            id,
            quota.vpcs_per_region,
            quota.subnets_per_vpc,
            quota.attachment_bytes
        ],
    )?;
    match changed {
        0 => Ok(()),
        _ => tx.changed(id, ChangeKind::Account, id.0),
    }
}

fn read(row: &mut Row) -> Result<Account, StoreError> {
    Ok(Account {
        id: row.take()?,
        company: row.take()?,
        email: row.take()?,
        first_email: row.take()?,
        contact: read_contact(row)?,
        settings: AccountSettings {
            network_helper: row.take()?,
            maintenance_policy: row.take()?,
        },
        created: row.take()?,
        quota: QuotaOverride {
            vpcs_per_region: row.take()?,
            subnets_per_vpc: row.take()?,
            attachment_bytes: row.take()?,
        },
        status: row.take()?,
    })
}

fn read_contact(row: &mut Row) -> Result<Contact, StoreError> {
    Ok(Contact {
        first_name: row.take()?,
        last_name: row.take()?,
        address_1: row.take()?,
        address_2: row.take()?,
        city: row.take()?,
        state: row.take()?,
        zip: row.take()?,
        country: row.take()?,
        phone: row.take()?,
        tax_id: row.take()?,
    })
}

impl FromValue for AccountStatus {
    fn from_value(value: Value) -> Option<Self> {
        AccountStatus::with_word(value.as_text()?)
    }
}

impl FromValue for Country {
    fn from_value(value: Value) -> Option<Self> {
        String::from_value(value).and_then(Self::checked)
    }
}

fn read_desk(row: &mut Row) -> Result<DeskAccount, StoreError> {
    Ok(DeskAccount {
        id: row.take()?,
        company: row.take()?,
        email: row.take()?,
        created: row.take()?,
        tickets_open: row.take()?,
        tickets: row.take()?,
        users: row.take()?,
    })
}
