//! Accounts as the provider manages them: create, change, suspend and close (decision 0034).

use crate::model::account::status::AccountStatus;
use crate::model::account::{Account, MAX_ATTACHMENT_QUOTA, MAX_OBJECT_QUOTA, QuotaChange, QuotaValue};
use crate::model::event::Action;
use crate::model::id::AccountId;
use crate::model::page::Paged;
use crate::model::policy::Quota;
use crate::model::reason::{Code, Reason};
use crate::model::text::OptionalLine;
use crate::model::user::{Email, Membership, NewUser, Username};
use crate::rules::account_users;
use crate::rules::accounts;
use crate::rules::agent::Agent;
use crate::rules::error::{Error, Result};
use crate::rules::event_changes;
use crate::rules::events;
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::users;
use crate::store::{self, ReadTx, WriteTx};

/// An account with the number of its objects.
#[derive(Clone, Debug, Hash)]
pub struct AccountDetails {
    pub account: Account,
    pub usage: AccountUsage,
}

/// The number of objects of an account.
#[derive(Clone, Debug, Hash)]
pub struct AccountUsage {
    pub users: i64,
    /// The number of VPCs in each region that has VPCs.
    pub vpcs: Vec<(String, i64)>,
    pub subnets: i64,
    /// The number of subnets in the VPC with the most subnets.
    pub most_subnets: i64,
    pub instances: i64,
    pub tickets: i64,
    pub open_tickets: i64,
    pub attachment_bytes: i64,
}

pub fn list(tx: &mut ReadTx, list: &ListRequest) -> Result<Paged<Account>> {
    let query = list.read(tx.policy(), &store::accounts::PROVIDER_FIELDS)?;
    Ok(store::accounts::page(tx, &query)?)
}

/// The number of objects of an account in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectCounts {
    pub vpcs: i64,
    pub instances: i64,
}

/// The number of objects of each account.
pub fn object_counts(tx: &mut ReadTx, accounts: &[Account]) -> Result<Vec<ObjectCounts>> {
    let ids: Vec<AccountId> = accounts.iter().map(|account| account.id).collect();
    let vpcs = store::account_usage::vpcs_of_each(tx, &ids)?;
    let instances = store::account_usage::instances_of_each(tx, &ids)?;
    let counts = ids.iter().map(|id| ObjectCounts {
        vpcs: vpcs.get(id).copied().unwrap_or_default(),
        instances: instances.get(id).copied().unwrap_or_default(),
    });
    Ok(counts.collect())
}

pub fn view(tx: &mut ReadTx, id: AccountId) -> Result<AccountDetails> {
    let account = accounts::load(tx, id)?;
    let desk = accounts::desk_view(tx, id)?;
    let quotas = accounts::quota_report(tx, id)?;
    let usage = AccountUsage {
        users: desk.users,
        vpcs: quotas.usage.vpcs,
        subnets: store::account_usage::subnets(tx, id)?,
        most_subnets: quotas.most_subnets,
        instances: store::account_usage::instances(tx, id)?,
        tickets: desk.tickets,
        open_tickets: desk.tickets_open,
        attachment_bytes: quotas.usage.attachment_bytes,
    };
    Ok(AccountDetails { account, usage })
}

/// The quota that applies to an account.
pub fn quota(account: &Account, defaults: Quota) -> Quota {
    account.quota.over(defaults)
}

/// Creates an account. With a username, also creates its first user, who is unrestricted and gets an invitation.
pub fn create(tx: &mut WriteTx, staff: &Agent, request: &Request) -> Result<AccountDetails> {
    let mut form = request.form()?;
    let email = form.required("email", Email::parse);
    let company = form.optional("company", OptionalLine::<128>::parse);
    let username = form.optional("username", Username::parse);
    users::refuse_taken_username(tx, &mut form, username.as_ref(), None)?;
    let email = form.finish(|| email)?;

    let company = company.as_ref().map_or("", OptionalLine::as_str);
    let account = accounts::create(tx, company, &email)?;
    if let Some(username) = username {
        let new = NewUser {
            membership: Membership::Account(account.id),
            username,
            email,
            restricted: false,
            password: None,
        };
        account_users::add(tx, staff, account.id, &new)?;
    }
    view(tx, account.id)
}

/// Changes the e-mail address and the company.
pub fn update(
    tx: &mut WriteTx,
    staff: Option<&Agent>,
    id: AccountId,
    request: &Request,
) -> Result<AccountDetails> {
    let before = load_open(tx, id, request)?;
    let mut account = before.clone();
    let mut form = request.form()?;
    let email = form.optional("email", Email::parse);
    let company = form.optional("company", OptionalLine::<128>::parse);
    form.finish(|| Some(()))?;

    account.email = email.map_or(account.email, |email| email.as_str().to_owned());
    account.company = company.map_or(account.company, |company| company.as_str().to_owned());
    store::accounts::update(tx, &account)?;
    changed(tx, staff, &before)
}

/// Changes the quotas. A quota that is null in the body gets the provider's default.
pub fn update_quotas(
    tx: &mut WriteTx,
    staff: Option<&Agent>,
    id: AccountId,
    request: &Request,
) -> Result<AccountDetails> {
    let before = load_open(tx, id, request)?;
    let mut form = request.form()?;
    let change = QuotaChange {
        vpcs_per_region: read_quota(&mut form, "vpcs_per_region", MAX_OBJECT_QUOTA),
        subnets_per_vpc: read_quota(&mut form, "subnets_per_vpc", MAX_OBJECT_QUOTA),
        attachment_bytes: read_quota(&mut form, "attachment_bytes", MAX_ATTACHMENT_QUOTA),
    };
    form.finish(|| Some(()))?;
    accounts::set_quota(tx, id, change)?;
    changed(tx, staff, &before)
}

/// Changes the quotas for a command on the server.
pub fn set_quotas(tx: &mut WriteTx, id: AccountId, change: QuotaChange) -> Result<AccountDetails> {
    let before = accounts::load_open(tx, id)?;
    accounts::set_quota(tx, id, change)?;
    changed(tx, None, &before)
}

fn read_quota(form: &mut Form, name: &'static str, max: i64) -> Option<QuotaValue> {
    if form.is_null(name) {
        return Some(QuotaValue::Default);
    }
    match form.integer(name)? {
        limit if (0..=max).contains(&limit) => Some(QuotaValue::Limit(limit)),
        _ => {
            let text = format!("Must be from 0 to {max}");
            form.refuse(name, Reason::new(Code::OutOfRange, text));
            None
        }
    }
}

/// Ends the access of all users of the account. The network of the account continues to run.
pub fn suspend(
    tx: &mut WriteTx,
    staff: Option<&Agent>,
    id: AccountId,
    request: &Request,
) -> Result<AccountDetails> {
    set_status(tx, staff, id, request, AccountStatus::Suspended)
}

/// Gives the users of a suspended account access again.
pub fn reactivate(
    tx: &mut WriteTx,
    staff: Option<&Agent>,
    id: AccountId,
    request: &Request,
) -> Result<AccountDetails> {
    set_status(tx, staff, id, request, AccountStatus::Active)
}

/// Closes an account without instances and VPCs, permanently. Its users, tickets and events remain.
pub fn close(
    tx: &mut WriteTx,
    staff: Option<&Agent>,
    id: AccountId,
    request: &Request,
) -> Result<AccountDetails> {
    let before = load_open(tx, id, request)?;
    request.require_valid_body()?;
    let instances = store::account_usage::instances(tx, id)?;
    let vpcs: i64 = store::vpcs::counts(tx, id)?.iter().map(|(_, count)| count).sum();
    if instances > 0 || vpcs > 0 {
        let parts = [(instances, "instance"), (vpcs, "VPC")].into_iter();
        let parts = parts.filter(|(count, _)| *count > 0).map(|(count, one)| {
            let plural = if count == 1 { "" } else { "s" };
            format!("{count} {one}{plural}")
        });
        let parts: Vec<_> = parts.collect();
        let them = if instances + vpcs == 1 { "it" } else { "them" };
        let text = format!(
            "The account has {}; a user of the account must delete {them} first",
            parts.join(" and ")
        );
        return Err(Error::refused(Code::AccountInUse, text));
    }
    store::accounts::set_status(tx, id, AccountStatus::Closed)?;
    changed(tx, staff, &before)
}

fn set_status(
    tx: &mut WriteTx,
    staff: Option<&Agent>,
    id: AccountId,
    request: &Request,
    status: AccountStatus,
) -> Result<AccountDetails> {
    let account = load_open(tx, id, request)?;
    request.require_valid_body()?;
    if account.status == status {
        let text = format!("The account is already {}", status.word());
        return Err(Error::refused(Code::AccountState, text));
    }
    store::accounts::set_status(tx, id, status)?;
    changed(tx, staff, &account)
}

/// Loads an account for a change. A closed account cannot be changed.
fn load_open(tx: &mut ReadTx, id: AccountId, request: &Request) -> Result<Account> {
    let details = view(tx, id)?;
    request
        .check_if_match(&details)
        .or_else(|_| request.check_if_match(&details.account))?;
    accounts::load_open(tx, id)
}

/// Records the event if something has changed, and returns the account. `staff` is `None` for a command on the server.
fn changed(tx: &mut WriteTx, staff: Option<&Agent>, before: &Account) -> Result<AccountDetails> {
    let details = view(tx, before.id)?;
    let changes = event_changes::of_account(before, &details.account);
    if !changes.is_empty() {
        let author = staff.map(|agent| agent.user);
        events::record_by_provider(tx, author, before.id, Action::AccountUpdate, None, &changes)?;
    }
    Ok(details)
}
