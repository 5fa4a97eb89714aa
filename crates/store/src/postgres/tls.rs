//! Whom a connection trusts: by sslmode, as PostgreSQL's own clients read it.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_cert_signed_by_trust_anchor};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
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
    /// Always; whoever answers is believed, unless certificates to trust are named: then the same
    /// as [`SslMode::VerifyCa`].
    Require,
    /// Always; the server's certificate must be trusted, whatever host it names.
    VerifyCa,
    /// Always; the server's certificate must be trusted and name the host.
    VerifyFull,
}

impl SslMode {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "disable" => Some(Self::Disable),
            "prefer" => Some(Self::Prefer),
            "require" => Some(Self::Require),
            "verify-ca" => Some(Self::VerifyCa),
            "verify-full" => Some(Self::VerifyFull),
            _ => None,
        }
    }

    /// The same in the driver's words; it leaves certificates to the connector.
    pub(super) fn of_driver(self) -> tokio_postgres::config::SslMode {
        match self {
            Self::Disable => tokio_postgres::config::SslMode::Disable,
            Self::Prefer => tokio_postgres::config::SslMode::Prefer,
            Self::Require | Self::VerifyCa | Self::VerifyFull => {
                tokio_postgres::config::SslMode::Require
            }
        }
    }
}

/// The connector for a mode. `roots` names a file of the certificates to trust, and then only these
/// are; without it, `verify-full` trusts those of the system.
pub(super) fn connector(
    mode: SslMode,
    roots: Option<&Path>,
) -> Result<MakeRustlsConnect, BadOptions> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match (mode, roots) {
        (SslMode::Disable | SslMode::Prefer, Some(_)) => return Err(BadOptions::RootsUnused),
        (SslMode::VerifyCa, None) => return Err(BadOptions::RootsMissing),
        (SslMode::VerifyFull, None) => {
            let system = Verifier::new(Arc::clone(&provider)).map_err(BadOptions::Tls)?;
            Arc::new(system)
        }
        (SslMode::VerifyFull, Some(path)) => {
            let roots = Arc::new(certificates(path)?);
            WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
                .build()
                .map_err(|error| BadOptions::Tls(rustls::Error::General(error.to_string())))?
        }
        (SslMode::Require | SslMode::VerifyCa, Some(path)) => Arc::new(Loose {
            roots: Some(certificates(path)?),
            provider: Arc::clone(&provider),
        }),
        (SslMode::Disable | SslMode::Prefer | SslMode::Require, None) => Arc::new(Loose {
            roots: None,
            provider: Arc::clone(&provider),
        }),
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

fn certificates(path: &Path) -> Result<RootCertStore, BadOptions> {
    let unusable = |source| BadOptions::Roots {
        path: path.to_owned(),
        source,
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(unusable)? {
        let certificate = certificate.map_err(unusable)?;
        roots.add(certificate).map_err(BadOptions::Tls)?;
    }
    if roots.is_empty() {
        return Err(BadOptions::NoRoots(path.to_owned()));
    }
    Ok(roots)
}

/// Does not ask which host a certificate names. Without roots it believes every certificate, as
/// `prefer` and `require` do: they keep listeners out, not impostors.
#[derive(Debug)]
struct Loose {
    roots: Option<RootCertStore>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Loose {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(roots) = &self.roots {
            verify_server_cert_signed_by_trust_anchor(
                &ParsedCertificate::try_from(end_entity)?,
                roots,
                intermediates,
                now,
                self.provider.signature_verification_algorithms.all,
            )?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, signature, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signature, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let known = &self.provider.signature_verification_algorithms;
        known.supported_schemes()
    }
}
