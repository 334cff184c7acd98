//! `garth user …`

use std::io::Read;

use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::arguments::{self, duration_seconds, parse_with};
use super::output::Output;
use super::store_args::{OpenStore, StoreArgs, describe_error};
use crate::model::event_change::Changes;
use crate::model::grant::{Global, Permission};
use crate::model::id::{AccountId, InstanceId, VpcId};
use crate::model::oauth_grant::OauthGrant;
use crate::model::staff_role::StaffRole;
use crate::model::token::Secret;
use crate::model::user::{Email, Membership, NewUser, User, Username};
use crate::rules::grants::{self, Grant};
use crate::rules::{account_users, apps, passwords, staff, users};
use crate::store::WriteTx;

#[derive(Subcommand)]
pub enum Command {
    /// Create a user of an account, or a member of the provider's staff
    Create(Create),
    /// List all users
    List,
    /// Set a user's password
    ///
    /// Ends the user's sessions and revokes the applications that the user has authorized. Personal tokens remain valid.
    Password {
        /// Username
        username: String,
        /// Read the password from standard input
        #[arg(long, required = true)]
        password_stdin: bool,
    },
    /// Print a one-time link to set a user's password
    Link {
        /// Username
        username: String,
        /// Lifetime of the link, for example 45s, 30m, 12h, 30d or 4w
        #[arg(
            long,
            value_name = "DURATION",
            default_value = "1h",
            value_parser = duration_seconds
        )]
        expiry: i64,
    },
    /// Set the role of a member of the provider's staff
    ///
    /// A role includes the permissions of the lower roles. The last admin cannot get a lower role.
    Role {
        /// Username
        username: String,
        /// support, operator or admin
        #[arg(value_parser = parse_with(StaffRole::parse))]
        role: StaffRole,
    },
    /// Disable a user
    ///
    /// The user's tokens and sessions are refused until the user is enabled again. The last admin cannot be disabled.
    Disable {
        /// Username
        username: String,
    },
    /// Enable a disabled user
    Enable {
        /// Username
        username: String,
    },
    /// Add grants to a restricted user
    ///
    /// If one of the grants is invalid, no grants are added.
    Grant(GrantOptions),
    /// Restrict a user to their grants
    ///
    /// A newly restricted user has no grants. Add them with `garth user grant`.
    Restrict {
        /// Username
        username: String,
    },
    /// Give a user full access to their account
    ///
    /// Deletes the user's grants.
    Unrestrict {
        /// Username
        username: String,
    },
    /// List or revoke the applications that a user has authorized
    Apps {
        /// Username
        username: String,
        /// Revoke the application with this ID and all its tokens
        #[arg(long, value_name = "ID", value_parser = arguments::id)]
        revoke: Option<i64>,
    },
    /// Delete a user
    ///
    /// Revokes the user's tokens. Tickets and replies of the user remain.
    Delete {
        /// Username
        username: String,
    },
}

#[derive(Args)]
pub struct Create {
    /// ID of the account to which the user belongs
    #[arg(long, value_name = "ID", value_parser = arguments::id, required_unless_present = "staff", conflicts_with = "staff")]
    account: Option<i64>,
    /// Create a member of the provider's staff, who belongs to no account
    #[arg(long)]
    staff: bool,
    /// Role of the member of staff: support, operator or admin
    #[arg(long, value_parser = parse_with(StaffRole::parse), default_value = "admin", requires = "staff", conflicts_with = "account")]
    role: StaffRole,
    /// Username, 3 to 32 letters, digits, dashes and underscores
    #[arg(long, value_parser = parse_with(Username::parse))]
    username: Username,
    /// The user's e-mail address
    #[arg(long, value_parser = parse_with(Email::parse))]
    email: Email,
    /// Restrict the user to their grants
    #[arg(long, conflicts_with = "staff")]
    restricted: bool,
    /// Read the user's password from standard input
    #[arg(long)]
    password_stdin: bool,
}

#[derive(Args)]
#[command(arg_required_else_help = true)]
pub struct GrantOptions {
    /// Username of the restricted user
    username: String,
    /// Account-wide grant, for example add_vpcs; can be repeated
    #[arg(long, value_parser = parse_with(Global::parse))]
    global: Vec<Global>,
    /// Access to the account and its tickets: read_only or read_write
    #[arg(long, value_name = "PERMISSION", value_parser = parse_with(Permission::parse))]
    account_access: Option<Permission>,
    /// Access to a VPC, for example 12=read_write; can be repeated
    #[arg(long, value_name = "ID=PERMISSION", value_parser = vpc_grant)]
    vpc: Vec<(VpcId, Permission)>,
    /// Access to an instance, for example 12=read_only; can be repeated
    #[arg(long, value_name = "ID=PERMISSION", value_parser = instance_grant)]
    linode: Vec<(InstanceId, Permission)>,
}

#[derive(Serialize)]
struct UserView {
    id: i64,
    account_id: Option<i64>,
    username: String,
    email: String,
    restricted: bool,
    staff: bool,
    role: Option<&'static str>,
    disabled: bool,
    account_access: Option<&'static str>,
    global: Vec<&'static str>,
    created: String,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        Self {
            id: user.id.0,
            account_id: user.account.map(|account| account.0),
            username: user.username.as_str().to_owned(),
            email: user.email.as_str().to_owned(),
            restricted: user.restricted,
            staff: user.account.is_none(),
            role: user.role.map(StaffRole::word),
            disabled: user.disabled,
            account_access: user.account_access.map(Permission::word),
            global: user.globals.into_iter().map(Global::word).collect(),
            created: user.created.to_string(),
        }
    }
}

pub async fn run(store: &StoreArgs, output: Output, command: Command) -> anyhow::Result<()> {
    let store = store.open()?;
    match command {
        Command::Create(options) => create(&store, output, options).await,
        Command::Password { username, .. } => set_password(&store, output, username).await,
        Command::Link { username, expiry } => link(&store, output, username, expiry).await,
        Command::Grant(options) => grant(&store, output, options).await,
        Command::List => list(&store, output).await,
        Command::Role { username, role } => set_role(&store, output, username, role).await,
        Command::Disable { username } => set_disabled(&store, output, username, true).await,
        Command::Enable { username } => set_disabled(&store, output, username, false).await,
        Command::Restrict { username } => restrict(&store, output, username, true).await,
        Command::Unrestrict { username } => restrict(&store, output, username, false).await,
        Command::Apps { username, revoke } => match revoke {
            None => apps(&store, output, username).await,
            Some(id) => revoke_app(&store, output, username, id).await,
        },
        Command::Delete { username } => delete(&store, output, username).await,
    }
}

async fn create(store: &OpenStore, output: Output, options: Create) -> anyhow::Result<()> {
    let password = options.password_stdin.then(read_password).transpose()?;
    let new = NewUser {
        membership: match options.account {
            Some(account) => Membership::Account(AccountId(account)),
            None => Membership::Staff(options.role),
        },
        username: options.username,
        email: options.email,
        restricted: options.restricted,
        password: password
            .map(|password| passwords::hash(&password))
            .transpose()
            .map_err(describe_error)?,
    };
    let account = new.membership.account();
    let created = store
        .write(move |tx| account_users::create_by_command(tx, &new))
        .await;
    let user = created.with_context(|| match account {
        Some(account) => format!("account {account}"),
        None => "staff user".to_owned(),
    })?;
    let message = format!("created user {}", user.username.as_str());
    output.one(&UserView::from(user), &message)
}

async fn set_password(store: &OpenStore, output: Output, username: String) -> anyhow::Result<()> {
    let hash = passwords::hash(&read_password()?).map_err(describe_error)?;
    let set = {
        let username = username.clone();
        store.write(move |tx| passwords::set(tx, &username, &hash)).await
    };
    let user = set.with_context(|| format!("user {username}"))?;
    output.one(&UserView::from(user), &format!("set the password of {username}"))
}

#[derive(Serialize)]
struct LinkView<'a> {
    username: &'a str,
    /// The path on the server.
    link: &'a str,
    /// The whole URL, if the server's URL is known.
    url: Option<&'a str>,
}

async fn link(store: &OpenStore, output: Output, username: String, seconds: i64) -> anyhow::Result<()> {
    let created = {
        let username = username.clone();
        store
            .write(move |tx| passwords::make_link(tx, &username, seconds))
            .await
    };
    let secret = created.with_context(|| format!("user {username}"))?;
    let link = format!("/oauth/password/{}", secret.reveal());
    let url = store.server_url().map(|url| format!("{url}{link}"));
    let view = LinkView {
        username: &username,
        link: &link,
        url: url.as_deref(),
    };
    output.one(&view, url.as_deref().unwrap_or(&link))?;
    if url.is_none() && !output.json {
        output.hint("Append this path to the URL of your server. To print the whole URL, set public_url.")?;
    }
    Ok(())
}

async fn grant(store: &OpenStore, output: Output, options: GrantOptions) -> anyhow::Result<()> {
    let mut grants: Vec<Grant> = options.global.into_iter().map(Grant::Global).collect();
    grants.extend(options.account_access.map(Grant::AccountAccess));
    grants.extend(
        options
            .vpc
            .into_iter()
            .map(|(vpc, permission)| Grant::Vpc(vpc, permission)),
    );
    let linodes = options.linode.into_iter();
    grants.extend(linodes.map(|(linode, permission)| Grant::Linode(linode, permission)));
    ensure!(
        !grants.is_empty(),
        "no grants: set at least one of --global, --account-access, --vpc and --linode"
    );
    let (username, message) = (
        options.username.clone(),
        format!("added grants to {}", options.username),
    );
    let changes = grants::changes_of(&grants);
    let granted = store
        .write(move |tx| {
            account_users::change_by_command(tx, &username, &changes, |tx| {
                grants::add(tx, &username, &grants)
            })
        })
        .await;
    let user = granted.with_context(|| format!("user {}", options.username))?;
    output.one(&UserView::from(user), &message)
}

#[derive(Serialize)]
struct ListedView {
    id: i64,
    account_id: Option<i64>,
    username: String,
    email: String,
    restricted: bool,
    staff: bool,
    role: Option<&'static str>,
    disabled: bool,
    created: String,
}

async fn list(store: &OpenStore, output: Output) -> anyhow::Result<()> {
    let listed = store.read(users::list_all).await?;
    let view = |user: User| ListedView {
        id: user.id.0,
        account_id: user.account.map(|account| account.0),
        username: user.username.as_str().to_owned(),
        email: user.email.as_str().to_owned(),
        restricted: user.restricted,
        staff: user.account.is_none(),
        role: user.role.map(StaffRole::word),
        disabled: user.disabled,
        created: user.created.to_string(),
    };
    let views: Vec<_> = listed.into_iter().map(view).collect();
    let header = [
        "USERNAME",
        "ACCOUNT",
        "ROLE",
        "EMAIL",
        "RESTRICTED",
        "DISABLED",
        "CREATED",
    ];
    output.many(&views, &header, |view| {
        vec![
            view.username.clone(),
            view.account_id.map_or("staff".to_owned(), |id| id.to_string()),
            view.role.unwrap_or_default().to_owned(),
            view.email.clone(),
            view.restricted.to_string(),
            view.disabled.to_string(),
            view.created.clone(),
        ]
    })
}

async fn set_role(
    store: &OpenStore,
    output: Output,
    username: String,
    role: StaffRole,
) -> anyhow::Result<()> {
    let name = username.clone();
    let changed = store.write(move |tx| staff::set_role(tx, &name, role)).await;
    let user = changed.with_context(|| format!("user {username}"))?;
    let message = format!("{username} has the role {}", role.word());
    output.one(&UserView::from(user), &message)
}

async fn set_disabled(
    store: &OpenStore,
    output: Output,
    username: String,
    disabled: bool,
) -> anyhow::Result<()> {
    let action = if disabled { "disabled" } else { "enabled" };
    let name = username.clone();
    let changed = store
        .write(move |tx| {
            let change = |tx: &mut WriteTx| staff::set_disabled(tx, &name, disabled);
            account_users::change_by_command(tx, &name, &Changes::default(), change)
        })
        .await;
    let user = changed.with_context(|| format!("user {username}"))?;
    output.one(&UserView::from(user), &format!("{action} {username}"))
}

async fn restrict(
    store: &OpenStore,
    output: Output,
    username: String,
    restricted: bool,
) -> anyhow::Result<()> {
    let action = if restricted { "restricted" } else { "unrestricted" };
    let name = username.clone();
    let changed = store
        .write(move |tx| {
            let change = |tx: &mut WriteTx| users::restrict(tx, &name, restricted);
            account_users::change_by_command(tx, &name, &Changes::default(), change)
        })
        .await;
    let user = changed.with_context(|| format!("user {username}"))?;
    output.one(&UserView::from(user), &format!("{action} {username}"))
}

#[derive(Serialize)]
struct AppView {
    id: i64,
    label: String,
    client_id: String,
    scopes: String,
    created: String,
    expiry: Option<String>,
}

async fn apps(store: &OpenStore, output: Output, username: String) -> anyhow::Result<()> {
    let name = username.clone();
    let listed = store.read(move |tx| apps::list_of_user(tx, &name)).await;
    let listed = listed.with_context(|| format!("user {username}"))?;
    let view = |app: OauthGrant| AppView {
        id: app.id,
        label: app.client_label,
        client_id: app.client,
        scopes: app.scopes.to_string(),
        created: app.created.to_string(),
        expiry: app.expiry.map(|expiry| expiry.to_string()),
    };
    let views: Vec<_> = listed.into_iter().map(view).collect();
    let header = ["ID", "LABEL", "CLIENT", "SCOPES", "CREATED", "EXPIRES"];
    output.many(&views, &header, |view| {
        vec![
            view.id.to_string(),
            view.label.clone(),
            view.client_id.clone(),
            view.scopes.clone(),
            view.created.clone(),
            view.expiry.clone().unwrap_or_default(),
        ]
    })
}

async fn revoke_app(store: &OpenStore, output: Output, username: String, id: i64) -> anyhow::Result<()> {
    let name = username.clone();
    let revoked = store.write(move |tx| apps::revoke(tx, &name, id)).await;
    revoked.with_context(|| format!("application {id} of {username}"))?;
    let message = format!("revoked application {id} of {username}");
    output.one(&serde_json::json!({}), &message)
}

async fn delete(store: &OpenStore, output: Output, username: String) -> anyhow::Result<()> {
    let name = username.clone();
    let deleted = store
        .write(move |tx| account_users::delete_by_command(tx, &name))
        .await;
    deleted.with_context(|| format!("user {username}"))?;
    output.one(&serde_json::json!({}), &format!("deleted user {username}"))
}

fn read_password() -> anyhow::Result<Secret> {
    let mut password = String::new();
    std::io::stdin()
        .read_to_string(&mut password)
        .context("cannot read the password from standard input")?;
    Ok(Secret::new(password.trim_end_matches(['\r', '\n']).to_owned()))
}

fn vpc_grant(raw: &str) -> Result<(VpcId, Permission), String> {
    resource_grant(raw).map(|(id, permission)| (VpcId(id), permission))
}

fn instance_grant(raw: &str) -> Result<(InstanceId, Permission), String> {
    resource_grant(raw).map(|(id, permission)| (InstanceId(id), permission))
}

fn resource_grant(raw: &str) -> Result<(i64, Permission), String> {
    let invalid =
        || "must be an ID and a permission (read_only or read_write), such as 12=read_write".to_owned();
    let (id, permission) = raw.split_once('=').ok_or_else(invalid)?;
    let id = arguments::id(id).map_err(|_| invalid())?;
    let permission = parse_with(Permission::parse)(permission).map_err(|_| invalid())?;
    Ok((id, permission))
}
