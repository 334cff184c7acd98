//! The mail server: the connection, TLS and the log-in.

use std::time::Duration;

use super::advice::Advice;
use crate::cli::settings::Settings;
use crate::cli::{outbox, outgoing_mail};
use crate::mail::outbound::smtp;

const TIMEOUT: Duration = Duration::from_secs(10);

/// Connects and logs in, and sends nothing. Invalid settings of mail are reported as settings.
pub async fn examine(settings: &Settings) -> Option<Advice> {
    let mut server = outgoing_mail::server_of(settings).ok()??;
    server.timeout = TIMEOUT;
    let failure = match smtp::connect(&server, &mut |_| {}).await {
        Ok(mut connection) => {
            // The server has answered all that matters.
            let _ = tokio::time::timeout(TIMEOUT, connection.quit()).await;
            return None;
        }
        Err(failure) => failure,
    };
    Some(Advice::new(
        "mail",
        format!("{}: {}", outbox::name(failure.step), failure.status),
        outbox::advice(&failure),
    ))
}
