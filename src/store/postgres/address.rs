//! From a URL to connections.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::{Failure, Kind, words_of};
use super::tls;
use crate::store::database::Database;
use crate::store::error::StoreError;

/// What tokio-postgres reads by itself; `sslmode` and `sslrootcert` are read here.
const KNOWN: [&str; 17] = [
    "user",
    "password",
    "dbname",
    "options",
    "application_name",
    "host",
    "hostaddr",
    "port",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "channel_binding",
    "load_balance_hosts",
];
/// A host that says nothing is given up after this time, and the next one tried.
const CONNECTING: Duration = Duration::from_secs(2);
/// What was sent and not confirmed after this time will never be.
const SILENCE: Duration = Duration::from_secs(10);

/// How every session begins. Index scans keep what a serializable transaction is said to have read small:
/// reading a short table from end to end would put it in the way of every other account. Where there is no
/// index the planner then thinks a scan so dear that it would compile it.
const SESSION: &str = "SET statement_timeout = '15s'; SET lock_timeout = '5s';
    SET idle_in_transaction_session_timeout = '30s'; SET enable_seqscan = off; SET jit = off";

pub type Wire = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

pub struct Address {
    config: Config,
    tls: MakeRustlsConnect,
}

impl Address {
    pub fn new(database: &Database) -> Result<Self, StoreError> {
        Self::parse(database).map_err(|why| StoreError::Schema(format!("the database's URL: {why}")))
    }

    fn parse(database: &Database) -> Result<Self, String> {
        let url = database.url.reveal();
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err("must begin with postgres://".to_owned());
        }
        let (place, parameters) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut root_file) = ("prefer".to_owned(), None);
        let mut kept = form_urlencoded::Serializer::new(String::new());
        for (name, value) in form_urlencoded::parse(parameters.as_bytes()) {
            match name.as_ref() {
                "sslmode" => mode = value.into_owned(),
                "sslrootcert" => root_file = Some(value.into_owned()),
                name if KNOWN.contains(&name) => drop(kept.append_pair(name, &value)),
                name => tracing::warn!(parameter = name, "database url parameter ignored"),
            }
        }
        // The parser knows %20 for a space, but not the + of forms.
        let kept = kept.finish().replace('+', "%20");
        let mut config: Config = format!("{place}?{kept}")
            .parse()
            .map_err(|e: tokio_postgres::Error| words_of(&e))?;
        if config.get_password().is_none() {
            let password = database
                .password
                .as_ref()
                .map(|password| password.reveal().to_owned());
            if let Some(password) = password.or_else(|| std::env::var("PGPASSWORD").ok()) {
                config.password(password);
            }
        }
        let (mode, tls) = tls::connector(&mode, root_file.as_deref())?;
        config.ssl_mode(mode);
        if config.get_application_name().is_none() {
            config.application_name("garth");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECTING);
        }
        config.keepalives_idle(SILENCE);
        config.keepalives_interval(SILENCE / 5);
        config.keepalives_retries(3);
        config.tcp_user_timeout(SILENCE);
        Ok(Self { config, tls })
    }

    pub async fn connect(&self) -> Result<(Client, Wire), Failure> {
        let connected = self.config.connect(self.tls.clone()).await;
        connected.map_err(|cause| Failure {
            kind: Kind::Lost,
            text: words_of(&cause),
        })
    }

    /// Readies a session whose wire is being looked after.
    pub async fn prepare(client: &Client) -> Result<(), Failure> {
        client.batch_execute(SESSION).await.map_err(|e| Failure::new(&e))
    }
}
