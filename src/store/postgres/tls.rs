//! TLS for connections to the database, with the `sslmode` of libpq.
//!
//! `require`, `verify-ca` and `verify-full` all verify the server's certificate, with the system's root
//! certificates and those in `sslrootcert`. `prefer`, the default, encrypts the connection if the server
//! supports it. It verifies the certificate only if `sslrootcert` is set, because an attacker on the network
//! could turn encryption off anyway.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use tokio_postgres::config::SslMode;
use tokio_postgres_rustls::MakeRustlsConnect;

const SSLMODE_ERROR: &str = "sslmode: must be disable, allow, prefer, require, verify-ca or verify-full";

/// The TLS connector for an `sslmode`.
pub fn connector(mode: &str, root_file: Option<&str>) -> Result<(SslMode, MakeRustlsConnect), String> {
    let (mode, must_verify) = match mode {
        "disable" => (SslMode::Disable, false),
        "allow" | "prefer" => (SslMode::Prefer, false),
        "require" | "verify-ca" | "verify-full" => (SslMode::Require, true),
        _ => return Err(SSLMODE_ERROR.to_owned()),
    };
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|e| format!("TLS: {e}"))?;
    let config = match must_verify || root_file.is_some() {
        true => builder
            .with_root_certificates(roots(root_file)?)
            .with_no_client_auth(),
        false => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AcceptAnyCertificate(provider)))
            .with_no_client_auth(),
    };
    Ok((mode, MakeRustlsConnect::new(config)))
}

/// The system's root certificates and the certificates in `file`.
fn roots(file: Option<&str>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(file) = file {
        let invalid = |cause: &dyn std::fmt::Display| format!("sslrootcert: {file}: {cause}");
        let certificates = CertificateDer::pem_file_iter(file).map_err(|e| invalid(&e))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|e| invalid(&e))?;
            roots.add(certificate).map_err(|e| invalid(&e))?;
        }
    }
    if roots.is_empty() {
        return Err("TLS: there are no root certificates: name a file with sslrootcert".to_owned());
    }
    Ok(roots)
}

/// Accepts any certificate, if the server proves that it has the private key of the certificate.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.0.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.0.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
