//! The options of a server, from its settings. An invalid setting is an error that begins with its name.

use anyhow::{Context, bail, ensure};

use super::bootstrap_token::ConfiguredToken;
use super::continuous_archive::ArchiveSettings;
use super::policy::policy_of;
use super::settings::{FieldNames, LimitSettings, Profile, Settings};
use super::store_args::StoreArgs;
use super::test_mode::TestMode;
use super::{bucket_keys, listeners, logging, open_files, outgoing_mail};
use crate::files::{Files, Scanner};
use crate::web::connections::MaxConnections;
use crate::web::tls::Certificate;
use crate::web::{self, Network, Options, WireNames};

/// Finds the settings that prevent a start of the server, without starting anything.
pub fn find_invalid(store: &StoreArgs, settings: &Settings) -> Vec<anyhow::Error> {
    let results = [
        logging::validate(&settings.log),
        ConfiguredToken::find(settings).map(drop),
        policy_of(settings).map(drop),
        options_of(settings).map(drop),
        certificate(settings).map(drop),
        store.database(settings).map(drop),
        validate_archive(store, settings),
        validate_attachments(store, settings),
        TestMode::find(settings).map(drop),
        outgoing_mail::server_of(settings).map(drop),
        listeners::lmtp_address(settings).map(drop),
    ];
    results.into_iter().filter_map(Result::err).collect()
}

/// An invalid database is reported separately.
fn validate_archive(store: &StoreArgs, settings: &Settings) -> anyhow::Result<()> {
    let is_shared = store.database(settings).is_ok_and(|database| database.is_some());
    ArchiveSettings::find(settings, &store.folder(settings), is_shared).map(drop)
}

fn validate_attachments(store: &StoreArgs, settings: &Settings) -> anyhow::Result<()> {
    let keys = bucket_keys::read(&settings.attachments)?;
    let url = settings.attachments.url.as_deref();
    Ok(Files::validate(url, &store.folder(settings), keys.as_ref())?)
}

pub fn options_of(settings: &Settings) -> anyhow::Result<Options> {
    let upstream = settings.profile == Some(Profile::Upstream);
    Ok(Options {
        names: match settings.wire_names {
            None | Some(FieldNames::Both) => WireNames::Both,
            Some(FieldNames::Compute) => WireNames::Compute,
            Some(FieldNames::Linode) => WireNames::Linode,
        },
        rate_limits: settings.rate_limit.enabled.unwrap_or(upstream),
        scanner: settings
            .attachments
            .scan_command
            .as_deref()
            .map(|command| Scanner::parse(command).context("attachments.scan_command: must not be empty"))
            .transpose()?,
        public_url: settings.public_url.as_deref().map(public_url).transpose()?,
        oauth_prefix: oauth_prefix(settings.oauth.prefix.as_deref().unwrap_or_default())?,
        trusted_proxies: trusted_proxies(settings.trusted_proxies.as_deref().unwrap_or_default())?,
        max_connections: max_connections(&settings.limits)?,
        response_memory: response_memory(&settings.limits)?,
        client_address: settings.log.client_address(),
        login_names: settings.log.login_names(),
        min_free_bytes: settings.min_free_bytes.unwrap_or(web::MIN_FREE_BYTES),
        ..Options::default()
    })
}

fn max_connections(limits: &LimitSettings) -> anyhow::Result<MaxConnections> {
    ensure!(
        limits.connections != Some(0),
        "limits.connections: must be 1 or more, not 0"
    );
    ensure!(
        limits.connections_per_address != Some(0),
        "limits.connections_per_address: must be 1 or more, not 0"
    );
    let default = MaxConnections::default();
    let count = |set: Option<u32>, default: usize| set.map_or(default, |set| set as usize);
    let requested = MaxConnections {
        total: count(limits.connections, default.total),
        per_address: count(limits.connections_per_address, default.per_address),
    };
    let max = requested.within(open_files::raise_limit());
    if limits.connections.is_some() && max != requested {
        tracing::warn!(
            connections = max.total,
            "connection limit lowered to fit the open file limit"
        );
    }
    Ok(max)
}

fn response_memory(limits: &LimitSettings) -> anyhow::Result<usize> {
    match limits.response_memory_mib {
        None => Ok(Options::default().response_memory),
        Some(mib @ 1..=1_048_576) => Ok((mib as usize).saturating_mul(1024 * 1024)),
        Some(mib) => bail!("limits.response_memory_mib: must be 1 to 1048576, not {mib}"),
    }
}

fn public_url(raw: &str) -> anyhow::Result<String> {
    let rest = raw.strip_prefix("https://").or(raw.strip_prefix("http://"));
    let is_plain = |rest: &str| {
        !rest.is_empty() && rest.bytes().all(|b| matches!(b, b'!'..=b'~')) && !rest.contains(['?', '#', '@'])
    };
    match rest {
        Some(rest) if is_plain(rest) => Ok(raw.trim_end_matches('/').to_owned()),
        _ => bail!("public_url: must be a URL such as https://garth.example.com, not {raw}"),
    }
}

fn oauth_prefix(raw: &str) -> anyhow::Result<String> {
    let prefix = raw.trim_end_matches('/');
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
    let is_valid = prefix.is_empty()
        || (prefix.starts_with('/') && prefix.chars().all(is_plain) && !prefix.contains("//"));
    ensure!(is_valid, "oauth.prefix: must be a path such as /login, not {raw}");
    Ok(prefix.to_owned())
}

fn trusted_proxies(raw: &[String]) -> anyhow::Result<Vec<Network>> {
    let parse = |raw: &String| {
        let invalid =
            || format!("trusted_proxies: must be addresses or CIDR ranges such as 10.0.0.0/8, not {raw}");
        Network::parse(raw).with_context(invalid)
    };
    raw.iter().filter(|raw| !raw.is_empty()).map(parse).collect()
}

/// The TLS certificate, if one is set.
pub fn certificate(settings: &Settings) -> anyhow::Result<Option<Certificate>> {
    match (&settings.tls_cert, &settings.tls_key) {
        (None, None) => Ok(None),
        (Some(chain), Some(key)) => Certificate::load(chain, key).map(Some),
        (Some(_), None) => bail!("tls_key (--tls-key): required with tls_cert (--tls-cert)"),
        (None, Some(_)) => bail!("tls_cert (--tls-cert): required with tls_key (--tls-key)"),
    }
}
