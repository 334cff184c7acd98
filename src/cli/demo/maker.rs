//! How the demo is made: people act one after the other, each by the rules, while the clock moves on.

use anyhow::{Context, anyhow};
use serde_json::Value;

use crate::cli::place::in_words;
use crate::files::Files;
use crate::model::attachment::FileName;
use crate::model::id::TicketId;
use crate::model::input::Input;
use crate::model::scope::Scopes;
use crate::model::time::Time;
use crate::model::token::{NewToken, Secret, TokenKind, TokenText};
use crate::rules::agent::Agent;
use crate::rules::caller::{Caller, Principal, authenticate};
use crate::rules::request::{Prepared, Request};
use crate::rules::{self, Result};
use crate::store::{ReadTx, Store, WriteTx};
use crate::uploads::{Upload, Uploads};

/// What whoever looks at the demo must know; nothing of it is kept in clear.
pub struct Made {
    pub password: Secret,
    pub token: TokenText,
}

pub struct Maker {
    store: Store,
    files: Files,
    /// When it all ends: nothing of it may be in the future.
    end: Time,
}

/// Somebody of an account, with the token they act with.
#[derive(Clone)]
pub struct Actor {
    pub token: TokenText,
    id: crate::model::id::TokenId,
}

impl Maker {
    pub fn new(store: Store, files: Files, end: Time) -> Self {
        Self { store, files, end }
    }

    pub fn policy(&self) -> &crate::model::policy::Policy {
        &self.store.world().policy
    }

    /// Lets some time pass, but never more than there is.
    pub fn wait(&self, hours: f64) {
        let clock = &self.store.world().clock;
        let left = self.end.seconds() - clock.now().seconds();
        clock.advance(((hours * 3600.0) as i64).min(left));
    }

    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut WriteTx) -> Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        self.store.write(work).await.map_err(in_words)
    }

    /// Lets somebody of an account act, with a token of their own.
    pub async fn actor(&self, username: &'static str, label: &'static str) -> anyhow::Result<Actor> {
        let (token, text) = self
            .write(move |tx| {
                let new = NewToken {
                    user: rules::users::load(tx, username)?.id,
                    kind: TokenKind::Personal,
                    label: label.to_owned(),
                    scopes: Scopes::Everything,
                    expiry: None,
                };
                rules::tokens::create(tx, &new, None)
            })
            .await?;
        Ok(Actor {
            token: text,
            id: token.id,
        })
    }

    /// Ends what somebody has acted with.
    pub async fn dismiss(&self, actor: Actor) -> anyhow::Result<()> {
        self.write(move |tx| rules::tokens::revoke(tx, actor.id)).await
    }

    /// One thing that somebody of an account does.
    pub async fn does<I: Prepared, T: Send + 'static>(
        &self,
        actor: &Actor,
        said: Value,
        rule: impl Fn(&mut WriteTx, &Caller, &I) -> Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let hash = actor.token.hash();
        let what = what(&said);
        let request = I::prepare(request(said), self.policy());
        let done = self
            .write(move |tx| {
                let caller = Caller::admit(authenticate(tx, hash)?, None)?;
                rule(tx, &caller, &request)
            })
            .await;
        self.settle().await?;
        done.context(what)
    }

    /// One thing that one of the staff does.
    pub async fn staff<T: Send + 'static>(
        &self,
        agent: &'static str,
        said: Value,
        rule: impl Fn(&mut WriteTx, &Agent, &Request) -> Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let what = what(&said);
        let request = request(said);
        let done = self
            .write(move |tx| {
                let agent = Agent::at_terminal(tx, agent)?;
                rule(tx, &agent, &request)
            })
            .await;
        done.context(what)
    }

    /// Instances take a while to start, if the provider wants it so.
    async fn settle(&self) -> anyhow::Result<()> {
        if self.policy().settle_ms > 0 {
            self.wait(self.policy().settle_ms as f64 / 3_600_000.0 + 0.001);
        }
        while self.write(rules::power::run_due_jobs).await? {}
        Ok(())
    }

    /// Attaches a file of text to a ticket.
    pub async fn attaches(
        &self,
        actor: &Actor,
        ticket: TicketId,
        name: &str,
        text: &str,
    ) -> anyhow::Result<()> {
        let mut spool = self.files.spool().await?;
        spool.write(text.as_bytes()).await?;
        let upload = Upload {
            ticket,
            expected: None,
            name: FileName::parse(name).map_err(|_| anyhow!("{name} is no file name"))?,
            spooled: spool.finish().await?,
        };
        let hash = actor.token.hash();
        let admit = move |tx: &mut ReadTx| Caller::admit(authenticate(tx, hash)?, None);
        let caller = self.store.read(admit).await.map_err(in_words)?;
        let uploads = Uploads {
            store: self.store.clone(),
            files: self.files.clone(),
            scanner: None,
        };
        uploads.attach(caller, upload).await.map_err(in_words)
    }

    pub fn password(&self) -> Secret {
        password(&self.store)
    }
}

/// A random password: four groups of five letters and digits that cannot be mistaken for others.
pub fn password(store: &Store) -> Secret {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let bytes = store.world().chance.bytes();
    let letter = |byte: &u8| char::from(LETTERS[usize::from(byte % 32)]);
    let groups = bytes[..20].chunks(5);
    let groups: Vec<String> = groups.map(|group| group.iter().map(letter).collect()).collect();
    Secret::new(groups.join("-"))
}

/// What somebody is at, for the case that it goes wrong.
fn what(said: &Value) -> String {
    let named = said.get("label").or(said.get("summary")).and_then(Value::as_str);
    named.unwrap_or("a ticket or an instance").to_owned()
}

fn request(said: Value) -> Request {
    Request {
        expected: None,
        body: Ok(input(said)),
    }
}

fn input(value: Value) -> Input {
    match value {
        Value::Null => Input::Null,
        Value::Bool(truth) => Input::Bool(truth),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Input::Integer(whole),
            None => Input::Number(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Input::Text(text),
        Value::Array(items) => Input::List(items.into_iter().map(input).collect()),
        Value::Object(entries) => Input::Object(
            entries
                .into_iter()
                .map(|(key, value)| (key, input(value)))
                .collect(),
        ),
    }
}
