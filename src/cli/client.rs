//! `garth client …`

use anyhow::Context;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::output::Output;
use super::place::{Opened, Place, parse_with};
use crate::model::id::AccountId;
use crate::model::oauth::{ClientLabel, OauthClient, RedirectUri};
use crate::rules::oauth_clients::{self, NewClient};

#[derive(Subcommand)]
pub enum Command {
    /// Make a client and print its id and its secret; the secret is not shown again
    Create(Create),
    /// List all clients
    List,
    /// Give a client another secret and print it; all that it was granted ends, and the secret is not shown again
    ResetSecret {
        /// The client's id
        id: String,
    },
    /// Delete a client; all that it was granted ends
    Delete {
        /// The client's id
        id: String,
    },
}

#[derive(Args)]
pub struct Create {
    /// What users see of it when they are asked
    #[arg(long, value_parser = parse_with(ClientLabel::parse))]
    label: ClientLabel,
    /// Where browsers are sent back to: https, or http on the user's own machine
    #[arg(long, value_name = "URI", value_parser = parse_with(RedirectUri::register))]
    redirect_uri: RedirectUri,
    /// It can keep no secret, like a program in a browser
    #[arg(long)]
    public: bool,
    /// The id of the account it belongs to [default: the provider's own]
    #[arg(long)]
    account: Option<i64>,
    /// Its id, for a program that has one built in: 20 hexadecimal digits [default: a new one]
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

pub async fn run(place: &Place, output: Output, command: Command) -> anyhow::Result<()> {
    let store = place.open()?;
    match command {
        Command::Create(options) => create(&store, output, options).await,
        Command::ResetSecret { id } => {
            let named = id.clone();
            let renewed = store
                .write(move |tx| oauth_clients::renew_secret(tx, &named))
                .await;
            let (client, secret) = renewed.with_context(|| format!("resetting the secret of {id}"))?;
            output.one(&ClientView::new(client, secret.reveal()), secret.reveal())
        }
        Command::Delete { id } => {
            let named = id.clone();
            let deleted = store.write(move |tx| oauth_clients::remove(tx, &named)).await;
            deleted.with_context(|| format!("deleting client {id}"))?;
            output.one(&serde_json::json!({}), &format!("deleted client {id}"))
        }
        Command::List => {
            let clients = store.read(oauth_clients::all).await?;
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

async fn create(store: &Opened, output: Output, options: Create) -> anyhow::Result<()> {
    let new = NewClient {
        id: options.id,
        account: options.account.map(AccountId),
        label: options.label,
        redirect_uri: options.redirect_uri,
        public: options.public,
    };
    let made = store.write(move |tx| oauth_clients::register(tx, &new)).await;
    let (client, secret) = made.context("making a client")?;
    let sentence = match client.public {
        true => format!("id      {}", client.id),
        false => format!("id      {}\nsecret  {}", client.id, secret.reveal()),
    };
    output.one(&ClientView::new(client, secret.reveal()), &sentence)
}

fn client_id(raw: &str) -> Result<String, String> {
    let hex_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    match raw.len() == 20 && raw.bytes().all(hex_digit) {
        true => Ok(raw.to_owned()),
        false => Err("must be 20 lower-case hexadecimal digits".to_owned()),
    }
}
