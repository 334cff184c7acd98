//! The connection to the server: joining, receiving the desired state and sending reports.
//!
//! The agent stores each received state in its folder, where `run` reads it. It works without the server.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::BodyExt;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::credential::Credential;
use super::http_client::{HttpClient, RequestError};
use super::retry_delay::retry_delay;
use super::state_folder::StateFolder;
use crate::agent_protocol::{
    HostState, JoinRequest, JoinResponse, PROTOCOL_VERSION, StateMessage, StatusReport,
};

/// The server sends a heartbeat every 15 seconds. Without a message for this time, the connection is dead.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(50);
/// The longest delay between attempts to connect.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(20);
/// The time after which the last report is sent again. The server regards a host without reports for a minute as offline.
const REPORT_INTERVAL: Duration = Duration::from_secs(20);
const CREDENTIAL_REFUSED: &str = "the server refuses this host's credential: it was revoked or the host was deleted; \
    join again with a new token";
const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;

/// Exchanges a join token for a credential. The server refuses a token of another host than the expected one.
pub async fn join(
    server: &str,
    token: &str,
    certificate: Option<String>,
    expected_host: Option<i64>,
) -> Result<Credential, String> {
    let client = HttpClient::new(server, certificate.as_deref())?;
    let request = JoinRequest {
        protocol: PROTOCOL_VERSION,
        token: token.to_owned(),
        agent_version: env!("CARGO_PKG_VERSION").to_owned(),
        host_id: expected_host,
    };
    let body = serde_json::to_vec(&request).map_err(|e| e.to_string())?;
    let response = client.post("/v4/agent/join", None, body).await;
    let response = response.map_err(|error| match error.status {
        Some(401) => "the token is not valid: it was used, has expired, or was replaced".to_owned(),
        _ => error.text,
    })?;
    let joined: JoinResponse =
        serde_json::from_slice(&response).map_err(|e| format!("invalid response: {e}"))?;
    if joined.protocol > PROTOCOL_VERSION {
        return Err("the server needs a newer agent".to_owned());
    }
    Ok(Credential {
        server: server.to_owned(),
        host_id: joined.host_id,
        label: joined.label,
        credential: joined.credential,
        certificate,
    })
}

/// The answer of the server since the agent was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstAnswer {
    #[default]
    None,
    /// The server does not accept the credential, and has sent no state before.
    Refusal,
    /// The server has sent the current state.
    State,
}

pub struct ServerLink {
    access: Mutex<Arc<Access>>,
    folder: Arc<StateFolder>,
    first_answer: watch::Sender<FirstAnswer>,
    /// Why the server cannot be used, as the folder has it.
    problem: Mutex<Option<String>>,
    /// Identifies this process in its reports.
    run: String,
}

/// 128 random bits. They are not stored, so that a copy of the folder has another identifier.
fn random_identifier() -> Result<String, String> {
    let mut random = [0; 16];
    #[expect(
        clippy::disallowed_methods,
        reason = "an agent has no store, and tests need no fixed identifier"
    )]
    getrandom::fill(&mut random).map_err(|error| error.to_string())?;
    Ok(format!("{:032x}", u128::from_be_bytes(random)))
}

/// A client of the server, and the credential of the host.
struct Access {
    client: HttpClient,
    credential: String,
}

impl Access {
    fn new(credential: Credential) -> Result<Self, String> {
        Ok(Self {
            client: HttpClient::new(&credential.server, credential.certificate.as_deref())?,
            credential: credential.credential,
        })
    }
}

impl ServerLink {
    pub fn new(credential: Credential, folder: Arc<StateFolder>) -> Result<Self, String> {
        let access = Arc::new(Access::new(credential)?);
        // A refusal is valid until the server sends a state, so that a host without a network restores nothing then.
        let (first_answer, problem) = match folder.is_refused() {
            true => (FirstAnswer::Refusal, Some(CREDENTIAL_REFUSED.to_owned())),
            false => (FirstAnswer::None, None),
        };
        let stored = folder.set_server_problem(problem.as_deref());
        stored.map_err(|e| e.to_string())?;
        Ok(Self {
            access: Mutex::new(access),
            folder,
            first_answer: watch::Sender::new(first_answer),
            problem: Mutex::new(problem),
            run: random_identifier()?,
        })
    }

    pub fn first_answer(&self) -> watch::Receiver<FirstAnswer> {
        self.first_answer.subscribe()
    }

    /// Stores why the server cannot be used, for `garth agent status`.
    fn set_problem(&self, problem: Option<String>) {
        let mut stored = self.problem.lock().unwrap_or_else(PoisonError::into_inner);
        if *stored == problem {
            return;
        }
        if let Err(error) = self.folder.set_server_problem(problem.as_deref()) {
            tracing::warn!(error = %error, "problem of the server not stored");
        }
        *stored = problem;
    }

    /// Logs and stores why the stream cannot be followed.
    fn note_failure(&self, error: &RequestError) {
        if error.is_refused() {
            tracing::error!("{CREDENTIAL_REFUSED}");
            let is_first = self.first_answer.send_if_modified(|answer| {
                let is_first = *answer == FirstAnswer::None;
                if is_first {
                    *answer = FirstAnswer::Refusal;
                }
                is_first
            });
            // After the answer: the loop of passes then knows which ports remain.
            if let Err(error) = self.folder.set_refused(true) {
                tracing::warn!(error = %error, "refusal not stored");
            }
            // The last report is that of a host which may run nothing now.
            if is_first && let Err(error) = self.folder.forget_status() {
                tracing::warn!(error = %error, "last report not removed");
            }
            self.set_problem(Some(CREDENTIAL_REFUSED.to_owned()));
        } else {
            tracing::warn!(error = %error, "server not reachable");
            self.set_problem(Some(format!("the server is not reachable: {error}")));
        }
    }

    fn access(&self) -> Arc<Access> {
        self.access.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the credential again if the server has refused it: `garth agent join` may have renewed it. Returns whether
    /// there is another one.
    fn renew_access(&self, error: &RequestError) -> bool {
        if !error.is_refused() {
            return false;
        }
        let stored = self.folder.credential().ok().flatten();
        let Some(stored) = stored.filter(|stored| stored.credential != self.access().credential) else {
            return false;
        };
        match Access::new(stored) {
            Ok(access) => {
                tracing::info!("credential renewed");
                *self.access.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(access);
                true
            }
            Err(error) => {
                tracing::error!(error, "credential not usable");
                false
            }
        }
    }

    /// Receives the desired state and sends the reports, until `stop` is ready.
    pub async fn run(&self, reports: watch::Receiver<StatusReport>, stop: impl Future<Output = ()>) {
        tokio::select! {
            () = stop => {}
            () = self.follow() => {}
            () = self.send_reports(reports) => {}
        }
    }

    /// Follows the stream, and connects again with back-off when it ends.
    async fn follow(&self) {
        let mut failures = 0;
        // An earlier version of the agent can have stored a state without the fields that it did not know.
        let mut needs_snapshot = true;
        loop {
            match self.follow_once(needs_snapshot, &mut failures).await {
                Ok(missed) => needs_snapshot = missed,
                Err(error) if self.renew_access(&error) => {}
                Err(error) => self.note_failure(&error),
            }
            failures += 1;
            sleep(retry_delay(failures, MAX_RETRY_DELAY)).await;
        }
    }

    /// Follows one stream to its end. Returns whether the agent missed a message and needs a snapshot.
    async fn follow_once(&self, needs_snapshot: bool, failures: &mut u32) -> Result<bool, RequestError> {
        let mut state = self.folder.desired().ok().flatten();
        let path = match &state {
            Some(state) if !needs_snapshot => format!("/v4/agent/state?after={}", state.revision),
            _ => "/v4/agent/state".to_owned(),
        };
        let access = self.access();
        let mut body = access.client.get(&path, &access.credential).await?.into_body();
        let mut buffer = Vec::new();
        loop {
            let frame = match timeout(SILENCE_TIMEOUT, body.frame()).await {
                Ok(Some(Ok(frame))) => frame,
                _ => return Ok(false),
            };
            let Ok(data) = frame.into_data() else { continue };
            buffer.extend_from_slice(&data);
            while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = buffer.drain(..=end).collect();
                match self.receive(&mut state, &line) {
                    true => {
                        *failures = 0;
                        self.set_problem(None);
                        if let Err(error) = self.folder.set_refused(false) {
                            tracing::warn!(error = %error, "refusal not removed");
                        }
                        self.first_answer.send_replace(FirstAnswer::State);
                    }
                    false => return Ok(true),
                }
            }
            if buffer.len() > MAX_LINE_BYTES {
                return Ok(true);
            }
        }
    }

    /// Applies a message to the state and stores it. Returns false if the agent needs a snapshot.
    fn receive(&self, state: &mut Option<HostState>, line: &[u8]) -> bool {
        let message: StateMessage = match serde_json::from_slice(line) {
            Ok(message) => message,
            Err(error) => {
                tracing::error!(error = %error, "invalid message of the server");
                return false;
            }
        };
        let is_change = !matches!(message, StateMessage::Heartbeat { .. } | StateMessage::Unknown);
        let is_current = match (state.as_mut(), message) {
            (_, StateMessage::Snapshot(snapshot)) if snapshot.protocol > PROTOCOL_VERSION => {
                tracing::error!(protocol = snapshot.protocol, "the server needs a newer agent");
                return false;
            }
            (_, StateMessage::Snapshot(snapshot)) => {
                *state = Some(snapshot);
                true
            }
            (Some(state), message) => state.apply(message),
            (None, _) => false,
        };
        if let (true, Some(state)) = (is_change, state.as_ref())
            && let Err(error) = self.folder.set_desired(state)
        {
            tracing::error!(error = %error, "desired state not stored");
            return false;
        }
        is_current
    }

    /// Sends each new report, and the last report again at an interval.
    async fn send_reports(&self, mut reports: watch::Receiver<StatusReport>) {
        let mut failures = 0;
        let mut wait = REPORT_INTERVAL;
        loop {
            if let Ok(Err(_)) = timeout(wait, reports.changed()).await {
                // The loop of passes has ended.
                return std::future::pending().await;
            }
            let mut report = reports.borrow_and_update().clone();
            if report.protocol == 0 {
                // There was no pass yet.
                continue;
            }
            report.agent_run = Some(self.run.clone());
            let access = self.access();
            let sent = match serde_json::to_vec(&report) {
                Ok(body) => {
                    access
                        .client
                        .post("/v4/agent/status", Some(&access.credential), body)
                        .await
                }
                Err(error) => return tracing::error!(error = %error, "report not encoded"),
            };
            match sent {
                Ok(_) => (failures, wait) = (0, REPORT_INTERVAL),
                Err(error) => {
                    // The loop that follows the stream logs a refused credential.
                    if !self.renew_access(&error) && !error.is_refused() {
                        tracing::warn!(error = %error, "report not sent");
                    }
                    failures += 1;
                    wait = retry_delay(failures, REPORT_INTERVAL);
                }
            }
        }
    }
}
