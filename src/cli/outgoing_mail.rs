//! The settings of mails that Garth sends. An invalid setting is an error that begins with its name.

use anyhow::{Context, bail, ensure};

use super::arguments::parse_with;
use super::secret_file;
use super::settings::Settings;
use crate::mail::outbound::server::{SmtpServer, SmtpUrl};
use crate::model::policy::OutgoingMailPolicy;
use crate::model::user::Email;

const MAX_PREFIX_CHARS: usize = 40;

/// The policy for mails; `None` if no mail server is set.
pub fn policy_of(settings: &Settings) -> anyhow::Result<Option<OutgoingMailPolicy>> {
    let mail = &settings.mail;
    if smtp_url(settings)?.is_none() {
        ensure!(
            mail.password_file.is_none(),
            "mail.smtp_url: required with mail.password_file"
        );
        ensure!(is_unset(&mail.from), "mail.smtp_url: required with mail.from");
        return Ok(None);
    }
    let Some(from) = mail.from.as_deref().filter(|from| !from.is_empty()) else {
        bail!("mail.from: required with mail.smtp_url, such as support@example.com");
    };
    let public_url = settings.public_url.as_deref();
    let public_url =
        public_url.context("public_url: required with mail.smtp_url, because mails contain links")?;
    Ok(Some(OutgoingMailPolicy {
        from: sender(from)?,
        subject_prefix: mail
            .subject_prefix
            .as_deref()
            .filter(|prefix| !prefix.is_empty())
            .map(subject_prefix)
            .transpose()?,
        public_url: public_url.trim_end_matches('/').to_owned(),
    }))
}

/// The mail server, with its password.
pub fn server_of(settings: &Settings) -> anyhow::Result<Option<SmtpServer>> {
    let Some(url) = smtp_url(settings)? else {
        return Ok(None);
    };
    let password = match (&url.user, &settings.mail.password_file) {
        (None, None) => None,
        (Some(_), Some(file)) => Some(secret_file::read("mail.password_file", file)?),
        (Some(_), None) => bail!("mail.password_file: required, because mail.smtp_url has a user"),
        (None, Some(_)) => bail!("mail.smtp_url: must have a user, because mail.password_file is set"),
    };
    Ok(Some(url.with_password(password)))
}

fn smtp_url(settings: &Settings) -> anyhow::Result<Option<SmtpUrl>> {
    let Some(raw) = settings.mail.smtp_url.as_deref().filter(|raw| !raw.is_empty()) else {
        return Ok(None);
    };
    // The URL can contain a password by mistake, so that the message does not repeat it.
    let Some(url) = SmtpUrl::parse(raw) else {
        bail!(
            "mail.smtp_url: must be a URL such as smtp://user@mx.example.com:587 or smtps://mx.example.com"
        );
    };
    ensure!(
        url.user.as_ref().is_none_or(|user| !user.contains(':')),
        "mail.smtp_url: must not have a password; set mail.password_file"
    );
    ensure!(
        !url.exposes_password(),
        "mail.smtp_url: must not have both a user and starttls=off, because the password would not be encrypted"
    );
    Ok(Some(url))
}

fn is_unset(setting: &Option<String>) -> bool {
    setting.as_ref().is_none_or(String::is_empty)
}

fn sender(raw: &str) -> anyhow::Result<Email> {
    let invalid = || format!("mail.from: must be an address such as support@example.com, not {raw}");
    let email = parse_with(Email::parse)(raw).ok().with_context(invalid)?;
    raw.parse::<lettre::Address>().ok().with_context(invalid)?;
    ensure!(raw.is_ascii(), invalid());
    Ok(email)
}

fn subject_prefix(raw: &str) -> anyhow::Result<String> {
    let is_valid = raw.chars().count() <= MAX_PREFIX_CHARS
        && !raw.trim().is_empty()
        && !raw.chars().any(|c| c.is_control() || matches!(c, '[' | ']'));
    ensure!(
        is_valid,
        "mail.subject_prefix: must be one line of at most {MAX_PREFIX_CHARS} characters without brackets, not {raw}"
    );
    Ok(raw.trim().to_owned())
}
