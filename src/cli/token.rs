//! `garth token …`

use anyhow::Context;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::arguments::{self, duration_seconds, parse_with};
use super::output::Output;
use super::store_args::{OpenStore, StoreArgs};
use crate::model::id::TokenId;
use crate::model::scope::Scopes;
use crate::model::token::{NO_EXPIRY, NewToken, Token, TokenKind};
use crate::rules::{tokens, users};

#[derive(Subcommand)]
pub enum Command {
    /// Create an API token
    ///
    /// Prints the token, which is shown only once.
    Create(Create),
    /// List a user's tokens
    List {
        /// Username of the tokens' owner
        #[arg(long, value_name = "USERNAME")]
        user: String,
    },
    /// Revoke a token
    Revoke {
        /// ID of the token
        #[arg(value_parser = arguments::id)]
        id: i64,
    },
}

#[derive(Args)]
pub struct Create {
    /// Username of the token's owner
    #[arg(long, value_name = "USERNAME")]
    user: String,
    /// Scopes of the token, for example "vpc:read_write account:read_only"; * means all scopes
    #[arg(long, default_value = "*", value_parser = parse_with(Scopes::parse))]
    scopes: Scopes,
    /// Lifetime of the token, for example 45s, 30m, 12h, 30d or 4w [default: never expires]
    #[arg(long, value_name = "DURATION", value_parser = duration_seconds)]
    expiry: Option<i64>,
    /// Label of the token
    #[arg(long, default_value = "")]
    label: String,
}

#[derive(Serialize)]
struct TokenView {
    id: i64,
    scopes: String,
    created: String,
    label: String,
    token: String,
    expiry: String,
}

impl TokenView {
    fn new(token: Token, text: Option<&str>) -> Self {
        Self {
            id: token.id.0,
            scopes: token.scopes.to_string(),
            created: token.created.to_string(),
            label: token.label,
            token: text.map_or(token.prefix, str::to_owned),
            expiry: token
                .expiry
                .map_or(NO_EXPIRY.to_owned(), |expiry| expiry.to_string()),
        }
    }
}

pub async fn run(store: &StoreArgs, output: Output, command: Command) -> anyhow::Result<()> {
    let store = store.open()?;
    match command {
        Command::Create(options) => create(&store, output, options).await,
        Command::List { user } => {
            let listed = {
                let user = user.clone();
                store.read(move |tx| tokens::list(tx, &user)).await
            };
            let listed = listed.with_context(|| format!("user {user}"))?;
            let views: Vec<_> = listed
                .into_iter()
                .map(|token| TokenView::new(token, None))
                .collect();
            output.many(
                &views,
                &["ID", "LABEL", "TOKEN", "SCOPES", "CREATED", "EXPIRES"],
                |view| {
                    let TokenView {
                        id,
                        label,
                        token,
                        scopes,
                        created,
                        expiry,
                    } = view;
                    let token = format!("{token}…");
                    vec![
                        id.to_string(),
                        label.clone(),
                        token,
                        scopes.clone(),
                        created.clone(),
                        format_expiry(expiry),
                    ]
                },
            )
        }
        Command::Revoke { id } => {
            let revoked = store.write(move |tx| tokens::revoke(tx, TokenId(id))).await;
            revoked.with_context(|| format!("token {id}"))?;
            output.one(&serde_json::json!({}), &format!("revoked token {id}"))
        }
    }
}

async fn create(store: &OpenStore, output: Output, options: Create) -> anyhow::Result<()> {
    // Times are whole seconds. The current second has partly passed, so it does not count toward the
    // lifetime.
    let expiry = options
        .expiry
        .map(|seconds| store.now().to_second().plus_seconds(seconds + 1));
    let Create {
        user, scopes, label, ..
    } = options;
    let created = {
        let user = user.clone();
        store
            .write(move |tx| {
                let new = NewToken {
                    user: users::load(tx, &user)?.id,
                    kind: TokenKind::Personal,
                    label: label.clone(),
                    scopes: scopes.clone(),
                    expiry,
                };
                tokens::create(tx, &new, None)
            })
            .await
    };
    let (token, text) = created.with_context(|| format!("user {user}"))?;
    let text = text.reveal();
    output.one(&TokenView::new(token, Some(text)), text)
}

/// Formats the expiry. For a token that never expires, the API returns a date in 2999.
fn format_expiry(expiry: &str) -> String {
    match expiry {
        NO_EXPIRY => "never".to_owned(),
        expiry => expiry.to_owned(),
    }
}
