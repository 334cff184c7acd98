//! `garth user …`

use std::io::Read;

use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::output::Output;
use super::place::{Opened, Place, in_words, parse_with};
use super::token::seconds;
use crate::model::grant::{Global, Permission};
use crate::model::id::{AccountId, InstanceId, VpcId};
use crate::model::oauth_grant::OauthGrant;
use crate::model::token::Secret;
use crate::model::user::{Email, NewUser, User, Username};
use crate::rules::grants::{self, Grant};
use crate::rules::{apps, passwords, users};

#[derive(Subcommand)]
pub enum Command {
    /// Make a user of an account, or one of the provider's staff
    Create(Create),
    /// List all users
    List,
    /// Set a user's password; its sessions and what it has let applications do end
    Password {
        /// The user's name
        username: String,
        /// Read the password from standard input
        #[arg(long, required = true)]
        password_stdin: bool,
    },
    /// Make a link with which a user can choose a password once, and print it
    Link {
        /// The user's name
        username: String,
        /// For how long it is good: 45s, 30m, 12h, 30d or 4w
        #[arg(long, value_name = "DURATION", default_value = "1h", value_parser = seconds)]
        expiry: i64,
    },
    /// Allow a restricted user something; all that is given at once, or nothing
    Grant(GrantOptions),
    /// Let a user do only what it is granted from now on
    Restrict {
        /// The user's name
        username: String,
    },
    /// Let a user do everything in its account
    Unrestrict {
        /// The user's name
        username: String,
    },
    /// List the applications a user has let act for it, or take that back
    Apps {
        /// The user's name
        username: String,
        /// End what this application was allowed, with all tokens that came of it
        #[arg(long, value_name = "ID")]
        revoke: Option<i64>,
    },
    /// Delete a user; its tokens end at once, what it wrote stays
    Delete {
        /// The user's name
        username: String,
    },
}

#[derive(Args)]
pub struct Create {
    /// The id of the account the user belongs to
    #[arg(long, required_unless_present = "staff", conflicts_with = "staff")]
    account: Option<i64>,
    /// Make one of the provider's staff
    #[arg(long)]
    staff: bool,
    /// What the user is called; 3 to 32 letters, digits, dashes and underscores
    #[arg(long, value_parser = parse_with(Username::parse))]
    username: Username,
    /// Where the user is written to
    #[arg(long, value_parser = parse_with(Email::parse))]
    email: Email,
    /// May do only what is granted
    #[arg(long, conflicts_with = "staff")]
    restricted: bool,
    /// Read a password from standard input
    #[arg(long)]
    password_stdin: bool,
}

#[derive(Args)]
#[command(arg_required_else_help = true)]
pub struct GrantOptions {
    /// The user's name
    username: String,
    /// A grant on the account as a whole, for example add_vpcs
    #[arg(long, value_parser = parse_with(Global::parse))]
    global: Vec<Global>,
    /// Access to the account itself: read_only or read_write
    #[arg(long, value_name = "PERMISSION", value_parser = parse_with(Permission::parse))]
    account_access: Option<Permission>,
    /// Access to one VPC, for example 12=read_write
    #[arg(long, value_name = "ID=PERMISSION", value_parser = on_vpc)]
    vpc: Vec<(VpcId, Permission)>,
    /// Access to one instance, for example 12=read_only
    #[arg(long, value_name = "ID=PERMISSION", value_parser = on_instance)]
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
            account_access: user.account_access.map(Permission::word),
            global: user.globals.into_iter().map(Global::word).collect(),
            created: user.created.to_string(),
        }
    }
}

pub async fn run(place: &Place, output: Output, command: Command) -> anyhow::Result<()> {
    let store = place.open()?;
    match command {
        Command::Create(options) => create(&store, output, options).await,
        Command::Password { username, .. } => set_password(&store, output, username).await,
        Command::Link { username, expiry } => link(&store, output, username, expiry).await,
        Command::Grant(options) => grant(&store, output, options).await,
        Command::List => list(&store, output).await,
        Command::Restrict { username } => restrict(&store, output, username, true).await,
        Command::Unrestrict { username } => restrict(&store, output, username, false).await,
        Command::Apps { username, revoke } => match revoke {
            None => apps(&store, output, username).await,
            Some(id) => revoke_app(&store, output, username, id).await,
        },
        Command::Delete { username } => delete(&store, output, username).await,
    }
}

async fn create(store: &Opened, output: Output, options: Create) -> anyhow::Result<()> {
    let password = options.password_stdin.then(read_password).transpose()?;
    let new = NewUser {
        account: options.account.map(AccountId),
        username: options.username,
        email: options.email,
        restricted: options.restricted,
        password: password
            .map(|password| passwords::hash(&password))
            .transpose()
            .map_err(in_words)?,
    };
    let account = new.account;
    let made = store.write(move |tx| users::create(tx, &new)).await;
    let user = made.with_context(|| match account {
        Some(account) => format!("making a user of account {account}"),
        None => "making a user".to_owned(),
    })?;
    let sentence = format!("made user {}", user.username.as_str());
    output.one(&UserView::from(user), &sentence)
}

async fn set_password(store: &Opened, output: Output, username: String) -> anyhow::Result<()> {
    let hash = passwords::hash(&read_password()?).map_err(in_words)?;
    let set = {
        let username = username.clone();
        store.write(move |tx| passwords::set(tx, &username, &hash)).await
    };
    let user = set.with_context(|| format!("setting the password of {username}"))?;
    output.one(&UserView::from(user), &format!("set the password of {username}"))
}

#[derive(Serialize)]
struct LinkView<'a> {
    username: &'a str,
    /// The path on the server.
    link: &'a str,
    /// The whole address, if the command can know where the server is.
    url: Option<&'a str>,
}

async fn link(store: &Opened, output: Output, username: String, seconds: i64) -> anyhow::Result<()> {
    let made = {
        let username = username.clone();
        store
            .write(move |tx| passwords::make_link(tx, &username, seconds))
            .await
    };
    let made = made.with_context(|| format!("making a link for {username}"))?;
    let link = format!("/oauth/password/{}", made.reveal());
    let url = store.url().map(|url| format!("{url}{link}"));
    let view = LinkView {
        username: &username,
        link: &link,
        url: url.as_deref(),
    };
    output.one(&view, url.as_deref().unwrap_or(&link))?;
    if url.is_none() && !output.json {
        output.aside("Put this after your server's address, or set public_url to get the whole address.")?;
    }
    Ok(())
}

async fn grant(store: &Opened, output: Output, options: GrantOptions) -> anyhow::Result<()> {
    let mut wanted: Vec<Grant> = options.global.into_iter().map(Grant::Global).collect();
    wanted.extend(options.account_access.map(Grant::AccountAccess));
    wanted.extend(
        options
            .vpc
            .into_iter()
            .map(|(vpc, permission)| Grant::Vpc(vpc, permission)),
    );
    let linodes = options.linode.into_iter();
    wanted.extend(linodes.map(|(linode, permission)| Grant::Linode(linode, permission)));
    ensure!(
        !wanted.is_empty(),
        "say what to grant: --global, --account-access, --vpc or --linode"
    );
    let (username, sentence) = (
        options.username.clone(),
        format!("granted to {}", options.username),
    );
    let given = store.write(move |tx| grants::give(tx, &username, &wanted)).await;
    let user = given.with_context(|| format!("granting to {}", options.username))?;
    output.one(&UserView::from(user), &sentence)
}

#[derive(Serialize)]
struct ListedView {
    id: i64,
    account_id: Option<i64>,
    username: String,
    email: String,
    restricted: bool,
    staff: bool,
    created: String,
}

async fn list(store: &Opened, output: Output) -> anyhow::Result<()> {
    let listed = store.read(users::all).await?;
    let view = |user: User| ListedView {
        id: user.id.0,
        account_id: user.account.map(|account| account.0),
        username: user.username.as_str().to_owned(),
        email: user.email.as_str().to_owned(),
        restricted: user.restricted,
        staff: user.account.is_none(),
        created: user.created.to_string(),
    };
    let views: Vec<_> = listed.into_iter().map(view).collect();
    let heads = ["USERNAME", "ACCOUNT", "EMAIL", "RESTRICTED", "CREATED"];
    output.many(&views, &heads, |view| {
        vec![
            view.username.clone(),
            view.account_id.map_or("staff".to_owned(), |id| id.to_string()),
            view.email.clone(),
            view.restricted.to_string(),
            view.created.clone(),
        ]
    })
}

async fn restrict(store: &Opened, output: Output, username: String, restricted: bool) -> anyhow::Result<()> {
    let does = if restricted { "restricted" } else { "unrestricted" };
    let name = username.clone();
    let done = store
        .write(move |tx| users::restrict(tx, &name, restricted))
        .await;
    let user = done.with_context(|| format!("changing {username}"))?;
    output.one(&UserView::from(user), &format!("{does} {username}"))
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

async fn apps(store: &Opened, output: Output, username: String) -> anyhow::Result<()> {
    let name = username.clone();
    let listed = store.read(move |tx| apps::of(tx, &name)).await;
    let listed = listed.with_context(|| format!("listing the applications of {username}"))?;
    let view = |app: OauthGrant| AppView {
        id: app.id,
        label: app.client_label,
        client_id: app.client,
        scopes: app.scopes.to_string(),
        created: app.created.to_string(),
        expiry: app.expiry.map(|expiry| expiry.to_string()),
    };
    let views: Vec<_> = listed.into_iter().map(view).collect();
    let heads = ["ID", "LABEL", "CLIENT", "SCOPES", "CREATED", "EXPIRY"];
    output.many(&views, &heads, |view| {
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

async fn revoke_app(store: &Opened, output: Output, username: String, id: i64) -> anyhow::Result<()> {
    let name = username.clone();
    let revoked = store.write(move |tx| apps::revoke(tx, &name, id)).await;
    revoked.with_context(|| format!("revoking application {id} of {username}"))?;
    let sentence = format!("revoked application {id} of {username}");
    output.one(&serde_json::json!({}), &sentence)
}

async fn delete(store: &Opened, output: Output, username: String) -> anyhow::Result<()> {
    let name = username.clone();
    let deleted = store.write(move |tx| users::remove(tx, &name)).await;
    deleted.with_context(|| format!("deleting {username}"))?;
    output.one(&serde_json::json!({}), &format!("deleted user {username}"))
}

fn read_password() -> anyhow::Result<Secret> {
    let mut password = String::new();
    std::io::stdin()
        .read_to_string(&mut password)
        .context("reading the password")?;
    Ok(Secret::new(password.trim_end_matches(['\r', '\n']).to_owned()))
}

fn on_vpc(raw: &str) -> Result<(VpcId, Permission), String> {
    on_one(raw).map(|(id, permission)| (VpcId(id), permission))
}

fn on_instance(raw: &str) -> Result<(InstanceId, Permission), String> {
    on_one(raw).map(|(id, permission)| (InstanceId(id), permission))
}

fn on_one(raw: &str) -> Result<(i64, Permission), String> {
    let (id, permission) = raw.split_once('=').ok_or("must look like 12=read_write")?;
    let id = id.parse().map_err(|_| format!("{id:?} is no id"))?;
    Ok((id, parse_with(Permission::parse)(permission)?))
}
