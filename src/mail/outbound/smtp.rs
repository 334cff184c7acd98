//! A session with the mail server: one connection for each mail.
//!
//! Errors have the status of the server, and never its text, because the text can contain addresses.

use std::future::Future;

use lettre::Address;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, TlsParameters};
use lettre::transport::smtp::commands::{Data, Mail, Rcpt};
use lettre::transport::smtp::extension::{ClientId, Extension, MailParameter};
use tokio::time::timeout;

use super::server::{Encryption, SmtpServer};
use crate::model::outgoing_mail::{SendResult, is_bad_recipient};

/// The steps of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Connect,
    Encrypt,
    LogIn,
    Sender,
    Recipient,
    /// The server agrees to receive the content.
    Data,
    /// The server has received the content.
    Content,
}

/// Why a delivery ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub step: Step,
    /// An SMTP code with an enhanced status code, such as `550 5.1.1`, or a word.
    pub status: String,
    /// Whether the server has answered with a permanent error (5xx).
    is_permanent: bool,
    /// Whether the server has answered.
    has_answer: bool,
}

impl Failure {
    fn word(step: Step, word: &str) -> Self {
        Self {
            step,
            status: word.to_owned(),
            is_permanent: false,
            has_answer: false,
        }
    }

    /// The effect on the mail. An error before the recipient is named is one of the settings or of the server, even if
    /// it is permanent: an operator can correct it, and the mail is sent then. The same is true if the server refuses
    /// the recipient because of the sender, a policy or relaying.
    pub fn into_result(self) -> SendResult {
        let is_about_mail = match self.step {
            Step::Connect | Step::Encrypt | Step::LogIn | Step::Sender => false,
            Step::Recipient => !self.has_answer || is_bad_recipient(&self.status),
            Step::Data | Step::Content => true,
        };
        match self.is_permanent && is_about_mail {
            true => SendResult::Refused { status: self.status },
            false => SendResult::Retry {
                maybe_sent: self.step == Step::Content && !self.has_answer,
                status: self.status,
            },
        }
    }
}

/// A mail with its envelope.
pub struct Delivery<'a> {
    pub sender: &'a str,
    pub recipient: &'a str,
    pub content: &'a [u8],
}

/// Sends a mail. Calls `report` after each step.
pub async fn deliver(
    server: &SmtpServer,
    delivery: &Delivery<'_>,
    report: &mut (dyn FnMut(Step) + Send),
) -> Result<(), Failure> {
    let recipient = address(delivery.recipient, Step::Recipient)?;
    let sender = address(delivery.sender, Step::Sender)?;
    let mut connection = connect(server, report).await?;
    let parameters = match delivery.recipient.is_ascii() {
        true => Vec::new(),
        false if connection.server_info().supports_feature(Extension::SmtpUtfEight) => {
            vec![MailParameter::SmtpUtfEight]
        }
        false => return Err(invalid_address(Step::Recipient)),
    };
    let mail = connection.command(Mail::new(Some(sender), parameters));
    run(server, Step::Sender, mail, report).await?;
    let rcpt = connection.command(Rcpt::new(recipient, Vec::new()));
    run(server, Step::Recipient, rcpt, report).await?;
    run(server, Step::Data, connection.command(Data), report).await?;
    run(
        server,
        Step::Content,
        connection.message(delivery.content),
        report,
    )
    .await?;
    // The mail is accepted, whatever the server answers now.
    let _ = timeout(server.timeout, connection.quit()).await;
    Ok(())
}

/// Connects, encrypts the connection and logs in.
pub async fn connect(
    server: &SmtpServer,
    report: &mut (dyn FnMut(Step) + Send),
) -> Result<AsyncSmtpConnection, Failure> {
    let client = ClientId::default();
    let tls = match server.encryption {
        Encryption::None => None,
        Encryption::Tls | Encryption::StartTls => Some(tls(server).await?),
    };
    let (implicit, upgrade) = match server.encryption {
        Encryption::Tls => (tls, None),
        _ => (None, tls),
    };
    let is_implicit = implicit.is_some();
    let address = (server.host.as_str(), server.port);
    let connecting =
        AsyncSmtpConnection::connect_tokio1(address, Some(server.timeout), &client, implicit, None);
    let mut connection = run(server, Step::Connect, connecting, report).await?;
    if is_implicit {
        report(Step::Encrypt);
    }
    if let Some(tls) = upgrade {
        if !connection.can_starttls() {
            return Err(Failure::word(Step::Encrypt, "no_starttls"));
        }
        run(server, Step::Encrypt, connection.starttls(tls, &client), report).await?;
    }
    if let Some((user, password)) = &server.login {
        let credentials = Credentials::new(user.clone(), password.reveal().to_owned());
        let mechanisms = [Mechanism::Plain, Mechanism::Login];
        let login = connection.auth(&mechanisms, &credentials);
        run(server, Step::LogIn, login, report).await?;
    }
    Ok(connection)
}

/// The TLS settings with the certificates of the system, which are read from files.
async fn tls(server: &SmtpServer) -> Result<TlsParameters, Failure> {
    let host = server.host.clone();
    let read = tokio::task::spawn_blocking(move || TlsParameters::new(host)).await;
    match read {
        Ok(Ok(tls)) => Ok(tls),
        Ok(Err(_)) | Err(_) => Err(Failure::word(Step::Encrypt, "no_certificates")),
    }
}

async fn run<T>(
    server: &SmtpServer,
    step: Step,
    work: impl Future<Output = Result<T, lettre::transport::smtp::Error>>,
    report: &mut (dyn FnMut(Step) + Send),
) -> Result<T, Failure> {
    match timeout(server.timeout, work).await {
        Ok(Ok(value)) => {
            report(step);
            Ok(value)
        }
        Ok(Err(error)) => Err(failure(step, &error)),
        Err(_) => Err(Failure::word(step, "timed_out")),
    }
}

/// lettre reports a failed handshake as a failed connection, with the error of rustls as its cause.
fn is_tls(error: &lettre::transport::smtp::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(current) = cause {
        let inner = current.downcast_ref().and_then(std::io::Error::get_ref);
        if inner.is_some_and(|inner| inner.is::<rustls::Error>()) {
            return true;
        }
        cause = current.source();
    }
    error.is_tls()
}

fn failure(step: Step, error: &lettre::transport::smtp::Error) -> Failure {
    let Some(code) = error.status() else {
        let word = match error {
            error if error.is_timeout() => "timed_out",
            error if is_tls(error) => "tls_failed",
            error if error.is_client() => "not_supported",
            _ => "connection_failed",
        };
        return Failure::word(step, word);
    };
    let text = std::error::Error::source(error).map(ToString::to_string);
    let status = match text.as_deref().and_then(enhanced_status) {
        Some(enhanced) => format!("{code} {enhanced}"),
        None => code.to_string(),
    };
    Failure {
        step,
        status,
        is_permanent: error.is_permanent(),
        has_answer: true,
    }
}

/// The enhanced status code at the start of an answer (RFC 3463): a class, a subject and a detail.
fn enhanced_status(text: &str) -> Option<&str> {
    let word = text.split_whitespace().next()?;
    let parts: Vec<_> = word.split('.').collect();
    let is_number = |part: &&str| (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let is_status = parts.len() == 3 && parts.iter().all(is_number) && matches!(parts[0], "2" | "4" | "5");
    is_status.then_some(word)
}

fn address(raw: &str, step: Step) -> Result<Address, Failure> {
    raw.parse().map_err(|_| invalid_address(step))
}

/// The address can never receive mail.
fn invalid_address(step: Step) -> Failure {
    Failure {
        is_permanent: true,
        ..Failure::word(step, "address_not_supported")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_recipient_is_final_only_if_the_status_is_about_the_address() {
        let refused = |status: &str| Failure {
            step: Step::Recipient,
            status: status.to_owned(),
            is_permanent: true,
            has_answer: true,
        };
        let is_final = |failure: Failure| matches!(failure.into_result(), SendResult::Refused { .. });
        for status in [
            "550 5.1.1",
            "550 5.1.2",
            "553 5.1.3",
            "551 5.1.6",
            "556 5.1.10",
            "550 5.2.1",
            "550 5.4.4",
            "550",
            "551",
            "553",
        ] {
            assert!(is_final(refused(status)), "{status}");
        }
        for status in [
            "554 5.7.1",
            "550 5.7.26",
            "550 5.1.7",
            "550 5.1.8",
            "530 5.7.0",
            "550 5.0.0",
            "554",
            "530",
            "503",
        ] {
            assert!(!is_final(refused(status)), "{status}");
        }
        assert!(is_final(invalid_address(Step::Recipient)));
    }

    #[test]
    fn only_the_status_of_an_answer_is_read() {
        assert_eq!(enhanced_status("5.1.1 <ada@example.com> unknown"), Some("5.1.1"));
        for text in [
            "",
            "ada@example.com 5.1.1",
            "10.0.0.1 blocked",
            "5.1",
            "5.1.1234 x",
            "3.1.1",
        ] {
            assert_eq!(enhanced_status(text), None, "{text}");
        }
    }

    #[test]
    fn only_an_answer_about_the_mail_is_final() {
        let answer = |step, is_permanent| Failure {
            step,
            status: "550".to_owned(),
            is_permanent,
            has_answer: true,
        };
        let status = "550".to_owned();
        let retry = SendResult::Retry {
            status: status.clone(),
            maybe_sent: false,
        };
        for step in [Step::Connect, Step::Encrypt, Step::LogIn, Step::Sender] {
            assert_eq!(answer(step, true).into_result(), retry, "{step:?}");
        }
        for step in [Step::Recipient, Step::Data, Step::Content] {
            let refused = SendResult::Refused {
                status: status.clone(),
            };
            assert_eq!(answer(step, true).into_result(), refused, "{step:?}");
            assert_eq!(answer(step, false).into_result(), retry, "{step:?}");
        }
        let lost = Failure::word(Step::Content, "connection_failed").into_result();
        assert!(
            matches!(lost, SendResult::Retry { maybe_sent: true, .. }),
            "{lost:?}"
        );
    }
}
