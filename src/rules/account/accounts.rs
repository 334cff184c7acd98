//! Accounts: quotas, the desk's view, and the first account.

use crate::model::account::contact::{Contact, Country};
use crate::model::account::status::AccountStatus;
use crate::model::account::{Account, DeskAccount, QuotaChange, QuotaOverride};
use crate::model::event::Action;
use crate::model::grant::Permission;
use crate::model::id::AccountId;
use crate::model::page::Paged;
use crate::model::policy::Quota;
use crate::model::reason::{Code, Reasons};
use crate::model::scope::Scopes;
use crate::model::text::OptionalLine;
use crate::model::token::{NewToken, TokenKind, TokenText};
use crate::model::traffic::Month;
use crate::model::user::{Email, Membership, NewUser, Username};
use crate::rules::caller::Caller;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{event_changes, events, tokens, users};
use crate::store::{self, ReadTx, WriteTx};

/// An account's quota and its current use.
#[derive(Debug, Hash)]
pub struct QuotaUse {
    pub quota: Quota,
    /// The number of VPCs in each region that has VPCs.
    pub vpcs: Vec<(String, i64)>,
    pub attachment_bytes: i64,
}

/// The quota of an account: the provider's default with the overrides of this account (decision 0006).
pub fn quota(tx: &mut ReadTx, account: AccountId) -> Result<Quota> {
    let overrides = load(tx, account)?.quota;
    Ok(overrides.over(tx.policy().quota))
}

pub fn quota_use(tx: &mut ReadTx, caller: &Caller) -> Result<QuotaUse> {
    quota_use_of(tx, caller.account)
}

fn quota_use_of(tx: &mut ReadTx, account: AccountId) -> Result<QuotaUse> {
    Ok(QuotaUse {
        quota: quota(tx, account)?,
        vpcs: store::vpcs::counts(tx, account)?,
        attachment_bytes: store::attachments::bytes_of(tx, account)?,
    })
}

/// An account's quota and its use, for operators.
#[derive(Debug)]
pub struct QuotaReport {
    pub usage: QuotaUse,
    /// The number of subnets in the VPC with the most subnets.
    pub most_subnets: i64,
    /// The overrides of this account.
    pub set: QuotaOverride,
    /// The provider's defaults.
    pub default: Quota,
}

pub fn quota_report(tx: &mut ReadTx, account: AccountId) -> Result<QuotaReport> {
    Ok(QuotaReport {
        usage: quota_use_of(tx, account)?,
        most_subnets: store::subnets::max_per_vpc(tx, account)?,
        set: load(tx, account)?.quota,
        default: tx.policy().quota,
    })
}

/// The network transfer of an account in this month, in gigabytes.
#[derive(Debug, Hash)]
pub struct Transfer {
    /// The sum of the transfer quotas of all instances.
    pub quota: i64,
    /// The traffic of the instances on hosts.
    pub used: i64,
}

const BYTES_PER_GIGABYTE: i64 = 1_000_000_000;

pub fn transfer(tx: &mut ReadTx, caller: &Caller) -> Result<Transfer> {
    let counts = store::instances::count_by_plan(tx, caller.account)?;
    let plans = &tx.policy().plans;
    let transfer_of = |id: &str| {
        plans
            .iter()
            .find(|plan| plan.id == id)
            .map_or(0, |plan| plan.transfer)
    };
    let quota = counts
        .iter()
        .map(|(plan, count)| transfer_of(plan).saturating_mul(*count));
    let quota = quota.fold(0, i64::saturating_add);
    let month = Month::of(tx.now());
    Ok(Transfer {
        quota,
        used: store::traffic::bytes_of_account(tx, caller.account, month)? / BYTES_PER_GIGABYTE,
    })
}

pub fn list(tx: &mut ReadTx) -> Result<Vec<Account>> {
    Ok(store::accounts::list(tx)?)
}

/// A page of all accounts, for the desk.
pub fn desk_list(tx: &mut ReadTx, list: &ListRequest) -> Result<Paged<DeskAccount>> {
    let query = list.read(tx.policy(), &store::accounts::FIELDS)?;
    Ok(store::accounts::desk_list(tx, &query)?)
}

pub fn desk_view(tx: &mut ReadTx, id: AccountId) -> Result<DeskAccount> {
    store::accounts::desk_find(tx, id)?.ok_or(Error::NotFound)
}

/// The caller's account. A restricted user needs account access.
pub fn view(tx: &mut ReadTx, caller: &Caller) -> Result<Account> {
    caller.account_access().ok_or(Error::Forbidden)?;
    load(tx, caller.account)
}

/// Changes the e-mail address, company and contact details of the account. A restricted user needs read-write
/// access to the account.
pub fn update(tx: &mut WriteTx, caller: &Caller, request: &Request) -> Result<Account> {
    require_change(caller)?;
    let mut account = load(tx, caller.account)?;
    request.check_if_match(&account)?;
    let before = account.clone();
    let mut form = request.form()?;
    let email = form.optional("email", Email::parse);
    let company = form.optional("company", OptionalLine::<128>::parse);
    change_contact(&mut form, &mut account.contact);
    form.finish(|| Some(()))?;

    account.email = email.map_or(account.email, |email| email.as_str().to_owned());
    account.company = company.map_or(account.company, |company| company.as_str().to_owned());
    store::accounts::update(tx, &account)?;
    let changes = event_changes::of_account(&before, &account);
    events::record_account_update(tx, caller, Action::AccountUpdate, None, &changes)?;
    Ok(account)
}

fn change_contact(form: &mut Form, contact: &mut Contact) {
    set(form, "first_name", OptionalLine::parse, &mut contact.first_name);
    set(form, "last_name", OptionalLine::parse, &mut contact.last_name);
    set(form, "address_1", OptionalLine::parse, &mut contact.address_1);
    set(form, "address_2", OptionalLine::parse, &mut contact.address_2);
    set(form, "city", OptionalLine::parse, &mut contact.city);
    set(form, "state", OptionalLine::parse, &mut contact.state);
    set(form, "zip", OptionalLine::parse, &mut contact.zip);
    set(form, "country", Country::parse, &mut contact.country);
    set(form, "phone", OptionalLine::parse, &mut contact.phone);
    set(form, "tax_id", OptionalLine::parse, &mut contact.tax_id);
}

fn set<T>(form: &mut Form, name: &'static str, parse: fn(&str) -> Result<T, Reasons>, field: &mut T) {
    if let Some(value) = form.optional(name, parse) {
        *field = value;
    }
}

/// Fails for a restricted user who is not allowed to change the account.
pub fn require_change(caller: &Caller) -> Result<()> {
    match caller.account_access() {
        Some(Permission::ReadWrite) => Ok(()),
        _ => Err(Error::Forbidden),
    }
}

pub fn create(tx: &mut WriteTx, company: &str, email: &Email) -> Result<Account> {
    let id = store::accounts::insert(tx, company, email)?;
    load(tx, id)
}

/// Changes an account's quota. A limit that is `None` in `change` does not change.
pub fn set_quota(tx: &mut WriteTx, id: AccountId, change: QuotaChange) -> Result<()> {
    let quota = change.apply_to(load(tx, id)?.quota);
    Ok(store::accounts::set_quota(tx, id, quota)?)
}

/// The token for the first user.
#[derive(Clone, Debug)]
pub enum FirstToken {
    None,
    Random,
    Given(TokenText),
}

/// The result of creating the first account.
#[derive(Debug)]
pub struct Bootstrapped {
    pub token: Option<TokenText>,
}

/// Creates the first account, its user `admin` and a token, if the store has no user yet.
pub fn bootstrap(tx: &mut WriteTx, first: &FirstToken) -> Result<Option<Bootstrapped>> {
    if !store::users::is_empty(tx)? {
        return Ok(None);
    }
    let email = Email::parse("admin@localhost").expect("the first e-mail address is valid");
    let account = create(tx, "", &email)?;
    let admin = NewUser {
        membership: Membership::Account(account.id),
        username: Username::parse("admin").expect("the first username is valid"),
        email,
        restricted: false,
        password: None,
    };
    let admin = users::create(tx, &admin)?;
    let requested_text = match first {
        FirstToken::None => return Ok(Some(Bootstrapped { token: None })),
        FirstToken::Random => None,
        FirstToken::Given(token) => Some(token),
    };
    let new = NewToken {
        user: admin.id,
        kind: TokenKind::Personal,
        label: "first start".to_owned(),
        scopes: Scopes::Everything,
        expiry: None,
    };
    let (_, text) = tokens::create(tx, &new, requested_text)?;
    Ok(Some(Bootstrapped { token: Some(text) }))
}

pub fn load(tx: &mut ReadTx, id: AccountId) -> Result<Account> {
    store::accounts::find(tx, id)?.ok_or(Error::NotFound)
}

/// Loads an account that is not closed.
pub fn load_open(tx: &mut ReadTx, id: AccountId) -> Result<Account> {
    let account = load(tx, id)?;
    match account.status {
        AccountStatus::Closed => Err(Error::refused(Code::AccountState, "The account is closed")),
        AccountStatus::Active | AccountStatus::Suspended => Ok(account),
    }
}
