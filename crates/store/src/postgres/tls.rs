//! Whom a connection trusts: by sslmode, as PostgreSQL's own clients read it.

use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use rustls_platform_verifier::Verifier;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::options::BadOptions;

/// When TLS is used, and whether the server must prove its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SslMode {
    /// Never.
    Disable,
    /// If the server has it.
    Prefer,
    /// Always; whoever answers is believed.
    Require,
    /// Always; the server's certificate must be trusted and name the host.
    VerifyFull,
}

impl SslMode {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "disable" => Some(Self::Disable),
            "prefer" => Some(Self::Prefer),
            "require" => Some(Self::Require),
            "verify-full" => Some(Self::VerifyFull),
            _ => None,
        }
    }

    /// The same in the driver's words; it leaves certificates to the connector.
    pub(super) fn of_driver(self) -> tokio_postgres::config::SslMode {
        match self {
            Self::Disable => tokio_postgres::config::SslMode::Disable,
            Self::Prefer => tokio_postgres::config::SslMode::Prefer,
            Self::Require | Self::VerifyFull => tokio_postgres::config::SslMode::Require,
        }
    }
}

/// The connector for a mode. `roots` names a file of certificates to trust beside the system's.
pub(super) fn connector(
    mode: SslMode,
    roots: Option<&Path>,
) -> Result<MakeRustlsConnect, BadOptions> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match mode {
        SslMode::VerifyFull => Arc::new(
            Verifier::new_with_extra_roots(certificates(roots)?, Arc::clone(&provider))
                .map_err(BadOptions::Tls)?,
        ),
        _ => Arc::new(Anybody(Arc::clone(&provider))),
    };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(BadOptions::Tls)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(MakeRustlsConnect::new(config))
}

fn certificates(roots: Option<&Path>) -> Result<Vec<CertificateDer<'static>>, BadOptions> {
    let Some(path) = roots else {
        return Ok(Vec::new());
    };
    let unusable = |source| BadOptions::Roots {
        path: path.to_owned(),
        source,
    };
    let found: Vec<_> = CertificateDer::pem_file_iter(path)
        .map_err(unusable)?
        .collect::<Result<_, _>>()
        .map_err(unusable)?;
    if found.is_empty() {
        return Err(BadOptions::NoRoots(path.to_owned()));
    }
    Ok(found)
}

/// Believes every certificate, as `prefer` and `require` do: they keep listeners out, not impostors.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, cert, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
