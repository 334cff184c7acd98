//! Creates the sample data through the rules, while the store's clock advances.

use anyhow::{Context, anyhow};
use serde_json::Value;

use crate::cli::store_args::describe_error;
use crate::files::Files;
use crate::model::attachment::FileName;
use crate::model::id::TicketId;
use crate::model::input::Input;
use crate::model::scope::Scopes;
use crate::model::time::Time;
use crate::model::token::{NewToken, Secret, TokenKind, TokenText};
use crate::rules::agent::Agent;
use crate::rules::caller::{Caller, Principal, Requirements, authenticate};
use crate::rules::request::{Prepared, Request};
use crate::rules::{self, Result};
use crate::store::{ReadTx, Store, WriteTx};
use crate::uploads::{ReceivedFile, Uploads};

/// Credentials for the demo. The store contains only their hashes.
pub struct Credentials {
    /// The password of all users.
    pub password: Secret,
    /// An API token of the user mara.
    pub token: TokenText,
}

pub struct DemoBuilder {
    store: Store,
    files: Files,
    /// The clock does not advance beyond this time.
    end: Time,
}

/// A user of an account and the token that authenticates it.
#[derive(Clone)]
pub struct Actor {
    pub token: TokenText,
    id: crate::model::id::TokenId,
}

impl DemoBuilder {
    pub fn new(store: Store, files: Files, end: Time) -> Self {
        Self { store, files, end }
    }

    pub fn policy(&self) -> std::sync::Arc<crate::model::policy::Policy> {
        self.store.policy()
    }

    /// Advances the clock, at most to the end.
    pub fn advance(&self, hours: f64) {
        let clock = &self.store.context().clock;
        let remaining = self.end.seconds() - clock.now().seconds();
        clock.advance(((hours * 3600.0) as i64).min(remaining));
    }

    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut WriteTx) -> Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        self.store.write(work).await.map_err(describe_error)
    }

    /// Creates a token for a user.
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

    /// Revokes the token of an actor.
    pub async fn revoke(&self, actor: Actor) -> anyhow::Result<()> {
        self.write(move |tx| rules::tokens::revoke(tx, actor.id)).await
    }

    /// Runs a rule as a user of an account.
    pub async fn run<I: Prepared, T: Send + 'static>(
        &self,
        actor: &Actor,
        body: Value,
        rule: impl Fn(&mut WriteTx, &Caller, &I) -> Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let hash = actor.token.hash();
        let description = describe(&body);
        let request = I::prepare(request(body), &self.policy());
        let result = self
            .write(move |tx| {
                let caller = Caller::admit(authenticate(tx, hash)?, Requirements::default())?;
                rule(tx, &caller, &request)
            })
            .await;
        self.complete_power_jobs().await?;
        result.context(description)
    }

    /// Runs a rule as a member of the staff.
    pub async fn run_as_staff<T: Send + 'static>(
        &self,
        agent: &'static str,
        body: Value,
        rule: impl Fn(&mut WriteTx, &Agent, &Request) -> Result<T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let description = describe(&body);
        let request = request(body);
        let result = self
            .write(move |tx| {
                let agent = Agent::at_terminal(tx, agent)?;
                rule(tx, &agent, &request)
            })
            .await;
        result.context(description)
    }

    /// Completes pending changes of power state, which take time if `compute.settle_ms` is set.
    async fn complete_power_jobs(&self) -> anyhow::Result<()> {
        if self.policy().settle_ms > 0 {
            self.advance(self.policy().settle_ms as f64 / 3_600_000.0 + 0.001);
        }
        while self.write(rules::power::run_due_jobs).await? {}
        Ok(())
    }

    /// Attaches a text file to a ticket.
    pub async fn attach(
        &self,
        actor: &Actor,
        ticket: TicketId,
        name: &str,
        text: &str,
    ) -> anyhow::Result<()> {
        let mut spool = self.files.spool().await?;
        spool.write(text.as_bytes()).await?;
        let file = ReceivedFile {
            name: FileName::parse(name).map_err(|_| anyhow!("{name} is not a valid file name"))?,
            spooled: spool.finish().await?,
        };
        let hash = actor.token.hash();
        let admit = move |tx: &mut ReadTx| Caller::admit(authenticate(tx, hash)?, Requirements::default());
        let caller = self.store.read(admit).await.map_err(describe_error)?;
        let uploads = Uploads {
            store: self.store.clone(),
            files: self.files.clone(),
            scanner: None,
        };
        let attached = uploads.attach(&caller.into(), ticket, None, file).await;
        attached.map_err(describe_error)
    }

    pub fn password(&self) -> Secret {
        random_password(&self.store)
    }
}

/// A random password: four groups of five letters and digits, without characters that look alike.
pub fn random_password(store: &Store) -> Secret {
    const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let bytes = store.context().random.bytes();
    let character = |byte: &u8| char::from(ALPHABET[usize::from(byte % 32)]);
    let groups = bytes[..20].chunks(5);
    let groups: Vec<String> = groups
        .map(|group| group.iter().map(character).collect())
        .collect();
    Secret::new(groups.join("-"))
}

/// The resource that a request is about, for error messages.
fn describe(body: &Value) -> String {
    let name = body.get("label").or(body.get("summary")).and_then(Value::as_str);
    name.unwrap_or("a ticket or an instance").to_owned()
}

fn request(body: Value) -> Request {
    Request {
        expected: None,
        body: Ok(input(body)),
    }
}

fn input(value: Value) -> Input {
    match value {
        Value::Null => Input::Null,
        Value::Bool(value) => Input::Bool(value),
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
