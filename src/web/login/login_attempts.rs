//! Log-in attempts: throttling, verifying the password, creating the session, and the device cookie.
//!
//! An attempt with an unknown username takes the same steps, and the same time, as an attempt with a wrong password.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use axum::http::{Extensions, HeaderMap, header};

use crate::model::client::Client;
use crate::model::device::Device;
use crate::model::id::UserId;
use crate::model::token::{Secret, TokenText};
use crate::rules::sessions::LoginPlace;
use crate::rules::{Error, Result, passwords, sessions};
use crate::store::StoreError;
use crate::store::logins::Credentials;
use crate::web::cookies::DeviceCookie;
use crate::web::hashing::PermitRequest;
use crate::web::login_throttle::{KnownClient, Reservation, Source};
use crate::web::origin::Peer;
use crate::web::proxies::client_network;
use crate::web::throttle::seconds;
use crate::web::{App, cookies};

/// The submitted username and password, with the client network and the cookies.
pub struct LoginAttempt {
    username: String,
    password: Secret,
    /// The network of the client.
    address: IpAddr,
    headers: HeaderMap,
}

impl LoginAttempt {
    pub fn new(headers: &HeaderMap, address: IpAddr, username: &str, password: Secret) -> Self {
        Self {
            username: username.to_owned(),
            password,
            address,
            headers: headers.clone(),
        }
    }
}

/// `wait` is the number of seconds to wait before the next attempt.
pub enum AttemptOutcome {
    /// The password was not verified.
    Throttled {
        wait: u64,
    },
    WrongCredentials {
        wait: u64,
    },
    LoggedIn(LoggedIn),
}

pub struct LoggedIn {
    session: TokenText,
    device: DeviceCookie,
}

impl LoggedIn {
    pub fn set_cookies(&self, headers: &mut HeaderMap) {
        cookies::set(headers, cookies::SESSION, &self.session);
        self.device.set(headers);
    }
}

async fn log_failure(app: &App, username: &str, address: IpAddr) -> Result<()> {
    let options = app.options();
    let name = options.login_names.logged(username, app.device_key().await?);
    let client = options.client_address.logged(address);
    tracing::warn!(
        name,
        client = client.map(tracing::field::display),
        "log-in failed"
    );
    Ok(())
}

/// The client address to store with a log-in. The setting `log.client_address` determines whether it is
/// complete, truncated or empty.
fn recorded_address(app: &App, address: IpAddr) -> String {
    let recorded = app.options().client_address.logged(address);
    recorded.map(|address| address.to_string()).unwrap_or_default()
}

/// The client, as security notices describe it.
pub fn describe_client(app: &App, headers: &HeaderMap, address: IpAddr) -> Client {
    let user_agent = headers.get(header::USER_AGENT);
    let user_agent = user_agent
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    Client::new(recorded_address(app, address), user_agent)
}

/// The network of the client that sent a request. The throttle counts by this network.
pub fn client_address(extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<Peer>().map(|peer| peer.0.ip());
    client_network(peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
}

/// Tries to log in. The attempt continues even if the client disconnects, so that every failure is counted.
pub async fn try_log_in(app: &App, attempt: LoginAttempt) -> Result<AttemptOutcome> {
    let app = app.clone();
    let task = tokio::spawn(async move { run_attempt(&app, attempt).await });
    task.await.map_err(|_| Error::Store(StoreError::Stopped))?
}

async fn run_attempt(app: &App, attempt: LoginAttempt) -> Result<AttemptOutcome> {
    let devices = find_devices(app, &attempt.headers).await?;
    let unknown = Source::Unknown {
        name: passwords::name_hash(&attempt.username),
        address: attempt.address,
    };
    // The throttle stops most attempts of an attacker here, before they use the store.
    let early_reservation = devices.is_empty().then(|| reserve(app, unknown));
    if let Some(Err(wait)) = early_reservation {
        return Ok(AttemptOutcome::Throttled { wait });
    }
    let name = attempt.username.clone();
    let found = app
        .store()
        .read(move |tx| sessions::credentials(tx, &name))
        .await?;
    let belongs_to_user = |device: &Device| found.as_ref().is_some_and(|found| found.user == device.user);
    let device = devices.into_iter().find(belongs_to_user);
    let reserved = early_reservation.unwrap_or_else(|| {
        let known = device.map(|device| Source::Known(KnownClient::Device(device.id)));
        reserve(app, known.unwrap_or(unknown))
    });
    let reservation = match reserved {
        Ok(reservation) => reservation,
        Err(wait) => return Ok(AttemptOutcome::Throttled { wait }),
    };
    verify(app, attempt, found, reservation, device).await
}

/// Verifies the password. If it is correct, creates a session; otherwise counts and logs the failure.
async fn verify(
    app: &App,
    attempt: LoginAttempt,
    found: Option<Credentials>,
    reservation: Reservation,
    device: Option<Device>,
) -> Result<AttemptOutcome> {
    let permit_request = match device {
        Some(device) => PermitRequest::from_known(KnownClient::Device(device.id)),
        None => PermitRequest::from_address(attempt.address, reservation.earlier_attempts),
    };
    let client = describe_client(app, &attempt.headers, attempt.address);
    let ip = client.address.clone();
    let hash = found.as_ref().and_then(|found| found.password.clone());
    let (stored, password) = (hash.clone(), attempt.password);
    let is_correct = app
        .hash(permit_request, move || {
            passwords::is_correct(&password, stored.as_deref())
        })
        .await?;
    if let (Some(found), Some(hash), true) = (&found, hash, is_correct) {
        let (user, old) = (found.user, cookies::read(&attempt.headers, cookies::SESSION));
        let old = old.map(|session| session.hash());
        let place = LoginPlace {
            client,
            is_known: device.is_some(),
        };
        let session = app
            .store()
            .write(move |tx| sessions::log_in(tx, user, &hash, old, &place))
            .await?;
        // The session is `None` if the password has changed since it was read.
        if let Some(session) = session {
            succeed(app, reservation);
            let device = device_cookie(app, &attempt.headers, user).await?;
            return Ok(AttemptOutcome::LoggedIn(LoggedIn { session, device }));
        }
    }
    let wait = fail(app, reservation);
    log_failure(app, &attempt.username, attempt.address).await?;
    if let Some(found) = found {
        record_failure(app, found.user, ip);
    }
    Ok(AttemptOutcome::WrongCredentials { wait })
}

/// Records the failure in the background, so that the response time does not reveal whether the user exists.
fn record_failure(app: &App, user: UserId, ip: String) {
    let app = app.clone();
    tokio::spawn(async move {
        if let Err(cause) = app
            .store()
            .write(move |tx| sessions::record_failure(tx, user, &ip))
            .await
        {
            tracing::warn!(error = ?cause, "log-in failure not recorded");
        }
    });
}

/// The cookie that marks the browser as a known device of the user.
pub async fn device_cookie(app: &App, headers: &HeaderMap, user: UserId) -> Result<DeviceCookie> {
    let devices = find_devices(app, headers).await?;
    let existing = devices.into_iter().find(|device| device.user == user);
    let context = app.store().context();
    let id = existing.map_or_else(|| new_device_id(context.random.bytes()), |device| device.id);
    let seen = context.clock.now();
    let value = app.device_key().await?.sign(&Device { id, user, seen });
    Ok(DeviceCookie { user, value })
}

fn new_device_id(random: [u8; 32]) -> [u8; 16] {
    let mut id = [0; 16];
    id.copy_from_slice(&random[16..]);
    id
}

async fn find_devices(app: &App, headers: &HeaderMap) -> Result<Vec<Device>> {
    let key = app.device_key().await?;
    Ok(cookies::devices(headers, key, app.store().context().clock.now()))
}

/// Reserves an attempt. The error is the number of seconds to wait.
pub fn reserve(app: &App, source: Source) -> Result<Reservation, u64> {
    app.login_throttle().reserve(source, now(app)).map_err(seconds)
}

/// Counts a failure. Returns the number of seconds to wait before the next attempt.
pub fn fail(app: &App, reservation: Reservation) -> u64 {
    seconds(reservation.fail(now(app)))
}

pub fn succeed(app: &App, reservation: Reservation) {
    reservation.succeed(now(app));
}

fn now(app: &App) -> Duration {
    app.store().context().clock.monotonic()
}
