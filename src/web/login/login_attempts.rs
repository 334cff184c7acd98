//! One attempt to log in: the throttle, the comparison of the password, the session, and the device.
//!
//! A guess at the password of a user takes the same steps, and the same time, as one for an unknown name.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use axum::http::{Extensions, HeaderMap};

use crate::model::device::Device;
use crate::model::id::UserId;
use crate::model::token::{Secret, TokenText};
use crate::rules::{Error, Result, passwords, sessions};
use crate::store::StoreError;
use crate::store::logins::Credentials;
use crate::web::hashing::Place;
use crate::web::login_throttle::{Known, Reservation, Source};
use crate::web::origin::Peer;
use crate::web::proxies::client_network;
use crate::web::throttle::seconds;
use crate::web::{App, cookies};

/// The submitted username and password, and their origin.
pub struct Guess {
    username: String,
    password: Secret,
    /// The network of the client.
    address: IpAddr,
    headers: HeaderMap,
}

impl Guess {
    pub fn new(headers: &HeaderMap, address: IpAddr, username: &str, password: Secret) -> Self {
        Self {
            username: username.to_owned(),
            password,
            address,
            headers: headers.clone(),
        }
    }
}

/// The result of an attempt, with the seconds to wait before the next one.
pub enum Attempted {
    /// The attempt was throttled, and the password was not compared.
    Locked {
        wait: u64,
    },
    Wrong {
        wait: u64,
    },
    Right(LoggedIn),
}

pub struct LoggedIn {
    session: TokenText,
    device: String,
}

impl LoggedIn {
    pub fn set_cookies(&self, headers: &mut HeaderMap) {
        cookies::set(headers, cookies::SESSION, &self.session);
        cookies::set_device(headers, &self.device);
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

/// The address that is stored with a log-in, as the setting of the log says; empty if it is not stored.
fn recorded_address(app: &App, address: IpAddr) -> String {
    let shown = app.options().client_address.logged(address);
    shown.map(|address| address.to_string()).unwrap_or_default()
}

/// The network of a request's client, which the throttle counts.
pub fn client_address(extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<Peer>().map(|peer| peer.0.ip());
    client_network(peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
}

/// Tries to log in. The attempt continues if the client disconnects, so that every guess is counted.
pub async fn attempt(app: &App, guess: Guess) -> Result<Attempted> {
    let app = app.clone();
    let attempt = tokio::spawn(async move { run(&app, guess).await });
    attempt.await.map_err(|_| Error::Store(StoreError::Stopped))?
}

async fn run(app: &App, guess: Guess) -> Result<Attempted> {
    let device = find_device(app, &guess.headers).await?;
    let fresh = Source::Fresh {
        name: passwords::name_hash(&guess.username),
        address: guess.address,
    };
    // Most guesses of an attack end here, without access to the store.
    let early = match device {
        None => Some(reserve(app, fresh)),
        Some(_) => None,
    };
    if let Some(Err(wait)) = early {
        return Ok(Attempted::Locked { wait });
    }
    let name = guess.username.clone();
    let found = app
        .store()
        .read(move |tx| sessions::credentials(tx, &name))
        .await?;
    let own = |device: &Device| found.as_ref().is_some_and(|found| found.user == device.user);
    let device = device.filter(own);
    let reserved = early.unwrap_or_else(|| {
        let known = device.map(|device| Source::Known(Known::Device(device.id)));
        reserve(app, known.unwrap_or(fresh))
    });
    let reservation = match reserved {
        Ok(reservation) => reservation,
        Err(wait) => return Ok(Attempted::Locked { wait }),
    };
    let place = match device {
        Some(device) => Place::known(Known::Device(device.id)),
        None => Place::address(guess.address, reservation.earlier),
    };
    compare(app, guess, found, reservation, place).await
}

async fn compare(
    app: &App,
    guess: Guess,
    found: Option<Credentials>,
    reservation: Reservation,
    place: Place,
) -> Result<Attempted> {
    let ip = recorded_address(app, guess.address);
    let hash = found.as_ref().and_then(|found| found.password.clone());
    let (stored, password) = (hash.clone(), guess.password);
    let right = app
        .hash(place, move || passwords::is_correct(&password, stored.as_deref()))
        .await?;
    if let (Some(found), Some(hash), true) = (&found, hash, right) {
        let (user, old) = (found.user, cookies::read(&guess.headers, cookies::SESSION));
        let (old, ip) = (old.map(|session| session.hash()), ip.clone());
        let session = app
            .store()
            .write(move |tx| sessions::log_in(tx, user, &hash, old, &ip))
            .await?;
        // `None` if the password has changed since it was read.
        if let Some(session) = session {
            succeed(app, reservation);
            let device = device_cookie(app, &guess.headers, user).await?;
            return Ok(Attempted::Right(LoggedIn { session, device }));
        }
    }
    let wait = fail(app, reservation);
    log_failure(app, &guess.username, guess.address).await?;
    if let Some(found) = found {
        record_failure(app, found.user, ip);
    }
    Ok(Attempted::Wrong { wait })
}

/// Records the failure after the response, so that the response time does not reveal whether the user exists.
fn record_failure(app: &App, user: UserId, ip: String) {
    let app = app.clone();
    tokio::spawn(async move {
        if let Err(cause) = app.store().write(move |tx| sessions::fail(tx, user, &ip)).await {
            tracing::warn!(error = ?cause, "log-in failure not recorded");
        }
    });
}

/// The cookie that makes this a known device of the user.
pub async fn device_cookie(app: &App, headers: &HeaderMap, user: UserId) -> Result<String> {
    let before = find_device(app, headers)
        .await?
        .filter(|device| device.user == user);
    let context = app.store().context();
    let id = before.map_or_else(|| fresh_id(context.random.bytes()), |device| device.id);
    let seen = context.clock.now();
    Ok(app.device_key().await?.sign(&Device { id, user, seen }))
}

fn fresh_id(random: [u8; 32]) -> [u8; 16] {
    let mut id = [0; 16];
    id.copy_from_slice(&random[16..]);
    id
}

async fn find_device(app: &App, headers: &HeaderMap) -> Result<Option<Device>> {
    let key = app.device_key().await?;
    Ok(cookies::device(headers, key, app.store().context().clock.now()))
}

/// Reserves an attempt; else the seconds to wait.
pub fn reserve(app: &App, source: Source) -> Result<Reservation, u64> {
    app.login_throttle().reserve(source, now(app)).map_err(seconds)
}

/// Counts a wrong password; the seconds to wait before the next attempt.
pub fn fail(app: &App, reservation: Reservation) -> u64 {
    seconds(reservation.fail(now(app)))
}

pub fn succeed(app: &App, reservation: Reservation) {
    reservation.succeed(now(app));
}

fn now(app: &App) -> Duration {
    app.store().context().clock.monotonic()
}
