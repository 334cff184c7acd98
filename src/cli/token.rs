//! `garth token …`

use anyhow::Context;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::output::Output;
use super::place::{Opened, Place, parse_with};
use crate::model::id::TokenId;
use crate::model::scope::Scopes;
use crate::model::token::{NO_EXPIRY, NewToken, Token, TokenKind};
use crate::rules::{tokens, users};

#[derive(Subcommand)]
pub enum Command {
    /// Make a token and print it; it is not shown again
    Create(Create),
    /// List a user's tokens
    List {
        /// The name of the user
        #[arg(long)]
        user: String,
    },
    /// End a token at once
    Revoke {
        /// The token's id
        id: i64,
    },
}

#[derive(Args)]
pub struct Create {
    /// The name of the user it acts for
    #[arg(long)]
    user: String,
    /// What it may be used for, for example "vpc:read_write account:read_only"; * is everything
    #[arg(long, default_value = "*", value_parser = parse_with(Scopes::parse))]
    scopes: Scopes,
    /// When it ends: 45s, 30m, 12h, 30d or 4w from now [default: never]
    #[arg(long, value_name = "DURATION", value_parser = seconds)]
    expiry: Option<i64>,
    /// A name to tell it by
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

pub async fn run(place: &Place, output: Output, command: Command) -> anyhow::Result<()> {
    let store = place.open()?;
    match command {
        Command::Create(options) => create(&store, output, options).await,
        Command::List { user } => {
            let listed = {
                let user = user.clone();
                store.read(move |tx| tokens::list(tx, &user)).await
            };
            let listed = listed.with_context(|| format!("listing the tokens of {user}"))?;
            let views: Vec<_> = listed
                .into_iter()
                .map(|token| TokenView::new(token, None))
                .collect();
            output.many(
                &views,
                &["ID", "LABEL", "TOKEN", "SCOPES", "CREATED", "EXPIRY"],
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
                        expiry.clone(),
                    ]
                },
            )
        }
        Command::Revoke { id } => {
            let revoked = store.write(move |tx| tokens::revoke(tx, TokenId(id))).await;
            revoked.with_context(|| format!("revoking token {id}"))?;
            output.one(&serde_json::json!({}), &format!("revoked token {id}"))
        }
    }
}

async fn create(store: &Opened, output: Output, options: Create) -> anyhow::Result<()> {
    // Times are whole seconds: the one that has begun is not taken from what was asked for.
    let expiry = options
        .expiry
        .map(|seconds| store.now().to_second().plus_seconds(seconds + 1));
    let Create {
        user, scopes, label, ..
    } = options;
    let made = {
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
    let (token, text) = made.with_context(|| format!("making a token for {user}"))?;
    let text = text.reveal();
    output.one(&TokenView::new(token, Some(text)), text)
}

pub fn seconds(raw: &str) -> Result<i64, String> {
    let wrong = || format!("{raw:?} is no duration: write 45s, 30m, 12h, 30d or 4w");
    let unit = raw.chars().last().ok_or_else(wrong)?;
    let each: i64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 24 * 3600,
        'w' => 7 * 24 * 3600,
        _ => return Err(wrong()),
    };
    let number: u32 = raw[..raw.len() - 1].parse().map_err(|_| wrong())?;
    if number == 0 {
        return Err("what ends at once is of no use".to_owned());
    }
    Ok(i64::from(number) * each)
}
