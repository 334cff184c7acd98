//! TLS with a certificate from files, which can be reloaded while the server runs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use anyhow::{Context, ensure};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use x509_cert::der::Decode;

use crate::model::time::Time;

/// The server's certificate. Clones share it.
#[derive(Clone)]
pub struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    current: Arc<RwLock<Loaded>>,
}

#[derive(Clone)]
struct Loaded {
    config: Arc<ServerConfig>,
    expiry: Option<Time>,
}

impl Certificate {
    /// Loads a certificate chain and a private key from PEM files. The chain begins with the certificate of
    /// the server.
    pub fn load(chain: &Path, key: &Path) -> anyhow::Result<Self> {
        Ok(Self {
            chain: chain.to_owned(),
            key: key.to_owned(),
            current: Arc::new(RwLock::new(read(chain, key)?)),
        })
    }

    /// Reloads the files. New connections use the new certificate. If the files are invalid, the old
    /// certificate stays in use.
    pub fn reload(&self) -> anyhow::Result<()> {
        let loaded = read(&self.chain, &self.key)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = loaded;
        self.publish_expiry();
        Ok(())
    }

    /// Sets the metric of the expiry. The recorder of the metrics must be installed before.
    pub fn publish_expiry(&self) {
        if let Some(expiry) = self.loaded().expiry {
            let seconds = expiry.micros() as f64 / 1e6;
            metrics::gauge!("garth_tls_certificate_expiry_timestamp_seconds").set(seconds);
        }
    }

    fn loaded(&self) -> Loaded {
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.clone()
    }

    /// Performs the TLS handshake.
    pub async fn handshake(&self, stream: TcpStream, timeout: Duration) -> io::Result<TlsStream<TcpStream>> {
        let config = self.loaded().config;
        match tokio::time::timeout(timeout, TlsAcceptor::from(config).accept(stream)).await {
            Ok(result) => result,
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

/// The time at which the first certificate of a chain expires. `None` if it has an unusual form.
pub fn expiry(certificate: &CertificateDer) -> Option<Time> {
    let certificate = x509_cert::Certificate::from_der(certificate).ok()?;
    let expiry = certificate.tbs_certificate.validity.not_after.to_unix_duration();
    let micros = i64::try_from(expiry.as_micros()).unwrap_or(i64::MAX);
    Some(Time::from_micros(micros))
}

fn read(chain: &Path, key: &Path) -> anyhow::Result<Loaded> {
    let certificates = CertificateDer::pem_file_iter(chain)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| format!("tls_cert: reading the certificates in {}", chain.display()))?;
    ensure!(
        !certificates.is_empty(),
        "tls_cert: there is no certificate in {}",
        chain.display()
    );
    let expiry = certificates.first().and_then(expiry);
    let private = PrivateKeyDer::from_pem_file(key)
        .with_context(|| format!("tls_key: reading the private key in {}", key.display()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .context("setting up TLS")?
        .with_no_client_auth()
        .with_single_cert(certificates, private)
        .with_context(|| {
            format!(
                "tls_key: the key in {} does not match the certificate in {}",
                key.display(),
                chain.display()
            )
        })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Loaded {
        config: Arc::new(config),
        expiry,
    })
}
