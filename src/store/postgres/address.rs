//! Parses the database URL, and connects to the database.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{Client, Connection, Socket};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::failure::{Failure, FailureKind, message_of};
use super::tls;
use crate::store::database::Database;
use crate::store::error::StoreError;

/// The parameters that tokio-postgres parses. This module parses `sslmode` and `sslrootcert`.
const DRIVER_PARAMETERS: [&str; 17] = [
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
/// The timeout for connecting to one host. After this time, the driver tries the next host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// If the server does not acknowledge data for this time, the connection is lost.
const TCP_TIMEOUT: Duration = Duration::from_secs(10);

/// The settings of every session.
///
/// - `enable_seqscan = off`: in a SERIALIZABLE transaction, a sequential scan takes a predicate lock on the
///   whole table. This lock would conflict with transactions of other accounts. Index scans lock less.
/// - `jit = off`: with `enable_seqscan = off`, a query that no index supports has a very high estimated cost.
///   With JIT, PostgreSQL would compile every such query.
const SESSION_SETTINGS: &str = "SET statement_timeout = '15s'; SET lock_timeout = '5s';
    SET idle_in_transaction_session_timeout = '30s'; SET enable_seqscan = off; SET jit = off";

/// The part of a connection that moves bytes between the client and its socket.
pub type Wire = Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>;

pub struct Address {
    config: Config,
    tls: MakeRustlsConnect,
}

impl Address {
    pub fn new(database: &Database) -> Result<Self, StoreError> {
        Self::parse(database).map_err(|error| StoreError::Schema(format!("invalid database URL: {error}")))
    }

    fn parse(database: &Database) -> Result<Self, String> {
        let url = database.url.reveal();
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err("must begin with postgres://".to_owned());
        }
        let (base, parameters) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut root_file) = ("prefer".to_owned(), None);
        let mut forwarded = form_urlencoded::Serializer::new(String::new());
        for (name, value) in form_urlencoded::parse(parameters.as_bytes()) {
            match name.as_ref() {
                "sslmode" => mode = value.into_owned(),
                "sslrootcert" => root_file = Some(value.into_owned()),
                name if DRIVER_PARAMETERS.contains(&name) => drop(forwarded.append_pair(name, &value)),
                name => tracing::warn!(parameter = name, "database url parameter ignored"),
            }
        }
        // The driver decodes %20 as a space, but not the + of URL-encoded forms.
        let forwarded = forwarded.finish().replace('+', "%20");
        let mut config: Config = format!("{base}?{forwarded}")
            .parse()
            .map_err(|e: tokio_postgres::Error| message_of(&e))?;
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
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        config.keepalives_idle(TCP_TIMEOUT);
        config.keepalives_interval(TCP_TIMEOUT / 5);
        config.keepalives_retries(3);
        config.tcp_user_timeout(TCP_TIMEOUT);
        Ok(Self { config, tls })
    }

    pub async fn connect(&self) -> Result<(Client, Wire), Failure> {
        let connected = self.config.connect(self.tls.clone()).await;
        connected.map_err(|cause| Failure {
            kind: FailureKind::Lost,
            text: message_of(&cause),
        })
    }

    /// Applies the session settings. A task that drives the connection must already be running.
    pub async fn prepare(client: &Client) -> Result<(), Failure> {
        client
            .batch_execute(SESSION_SETTINGS)
            .await
            .map_err(|e| Failure::new(&e))
    }
}
