//! `garth client …`

use anyhow::Context;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::arguments::{self, parse_with};
use super::output::Output;
use super::store_args::{OpenStore, StoreArgs};
use crate::model::id::AccountId;
use crate::model::oauth::{ClientLabel, OauthClient, RedirectUri};
use crate::rules::oauth_clients::{self, NewClient};

#[derive(Subcommand)]
pub enum Command {
    /// Create an OAuth client
    ///
    /// Prints the client's ID and secret. The secret is shown only once.
    Create(Create),
    /// List all OAuth clients
    List,
    /// Replace a client's secret
    ///
    /// Prints the new secret, which is shown only once. Revokes all authorizations of the client.
    ResetSecret {
        /// ID of the client
        id: String,
    },
    /// Delete a client and revoke all its authorizations
    Delete {
        /// ID of the client
        id: String,
    },
}

#[derive(Args)]
pub struct Create {
    /// Name that users see on the authorization page
    #[arg(long, value_parser = parse_with(ClientLabel::parse))]
    label: ClientLabel,
    /// URI to which the browser is redirected after authorization: https, or http on a loopback address
    #[arg(long, value_name = "URI", value_parser = parse_with(RedirectUri::register))]
    redirect_uri: RedirectUri,
    /// Create a public client, for single-page and native applications, which cannot store a secret
    #[arg(long)]
    public: bool,
    /// ID of the account that owns the client [default: owned by the provider]
    #[arg(long, value_name = "ID", value_parser = arguments::id)]
    account: Option<i64>,
    /// Client ID to use, 20 lower-case hexadecimal digits [default: random]
    #[arg(long, value_parser = client_id)]
    id: Option<String>,
}

#[derive(Serialize)]
struct ClientView {
    id: String,
    account_id: Option<i64>,
    label: String,
    redirect_uri: String,
    secret: String,
    public: bool,
    status: String,
}

impl ClientView {
    fn new(client: OauthClient, secret: &str) -> Self {
        Self {
            id: client.id,
            account_id: client.account.map(|account| account.0),
            label: client.label.as_str().to_owned(),
            redirect_uri: client.redirect_uri.as_str().to_owned(),
            secret: secret.to_owned(),
            public: client.public,
            status: client.status,
        }
    }
}

pub async fn run(store: &StoreArgs, output: Output, command: Command) -> anyhow::Result<()> {
    let store = store.open()?;
    match command {
        Command::Create(options) => create(&store, output, options).await,
        Command::ResetSecret { id } => {
            let named = id.clone();
            let reset = store
                .write(move |tx| oauth_clients::renew_secret(tx, &named))
                .await;
            let (client, secret) = reset.with_context(|| format!("client {id}"))?;
            output.one(&ClientView::new(client, secret.reveal()), secret.reveal())
        }
        Command::Delete { id } => {
            let named = id.clone();
            let deleted = store.write(move |tx| oauth_clients::remove(tx, &named)).await;
            deleted.with_context(|| format!("client {id}"))?;
            output.one(&serde_json::json!({}), &format!("deleted client {id}"))
        }
        Command::List => {
            let clients = store.read(oauth_clients::list_all).await?;
            let views: Vec<_> = clients
                .into_iter()
                .map(|client| ClientView::new(client, "<REDACTED>"))
                .collect();
            output.many(
                &views,
                &["ID", "ACCOUNT", "LABEL", "REDIRECT URI", "PUBLIC", "STATUS"],
                |view| {
                    vec![
                        view.id.clone(),
                        view.account_id.map_or("-".to_owned(), |id| id.to_string()),
                        view.label.clone(),
                        view.redirect_uri.clone(),
                        view.public.to_string(),
                        view.status.clone(),
                    ]
                },
            )
        }
    }
}

async fn create(store: &OpenStore, output: Output, options: Create) -> anyhow::Result<()> {
    let new = NewClient {
        id: options.id,
        account: options.account.map(AccountId),
        label: options.label,
        redirect_uri: options.redirect_uri,
        public: options.public,
    };
    let account = new.account;
    let created = store.write(move |tx| oauth_clients::register(tx, &new)).await;
    let (client, secret) = created.with_context(|| match account {
        Some(account) => format!("account {account}"),
        None => "client".to_owned(),
    })?;
    let message = match client.public {
        true => format!("id      {}", client.id),
        false => format!("id      {}\nsecret  {}", client.id, secret.reveal()),
    };
    output.one(&ClientView::new(client, secret.reveal()), &message)
}

fn client_id(raw: &str) -> Result<String, String> {
    match OauthClient::is_id(raw) {
        true => Ok(raw.to_owned()),
        false => Err("must be 20 lower-case hexadecimal digits".to_owned()),
    }
}
