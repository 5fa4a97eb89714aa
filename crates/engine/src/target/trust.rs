//! Which certificates are trusted: the system's, those of the settings, and the built-in ones where
//! the system has none.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use super::http::TargetError;
use super::wire::ALPN_H2;

/// Asked for after HTTP/2.
const ALPN_HTTP1: &[u8] = b"http/1.1";

/// TLS with these root certificates (PEM) besides the system's.
pub(super) fn tls(extra_roots_pem: &[Vec<u8>]) -> Result<Arc<ClientConfig>, TargetError> {
    let mut roots = Vec::with_capacity(extra_roots_pem.len());
    for (at, pem) in extra_roots_pem.iter().enumerate() {
        for root in CertificateDer::pem_slice_iter(pem) {
            roots.push(root.map_err(|error| TargetError::Certificate(at + 1, error))?);
        }
    }
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut config = trusting(roots, &provider).map_err(TargetError::Tls)?;
    config.alpn_protocols = vec![ALPN_H2.to_vec(), ALPN_HTTP1.to_vec()];
    Ok(Arc::new(config))
}

fn trusting(
    roots: Vec<CertificateDer<'static>>,
    provider: &Arc<CryptoProvider>,
) -> Result<ClientConfig, rustls::Error> {
    let config = ClientConfig::builder_with_provider(Arc::clone(provider))
        .with_safe_default_protocol_versions()?;
    match Verifier::new_with_extra_roots(roots.clone(), Arc::clone(provider)) {
        Ok(verifier) => Ok(config
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
            .with_no_client_auth()),
        Err(error) => {
            // Most often a container image without certificates.
            tracing::warn!(%error, "no system root certificates; using the built-in ones");
            let mut store = RootCertStore::empty();
            store.add_parsable_certificates(roots);
            let built_in = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned();
            store.add_parsable_certificates(built_in);
            Ok(config.with_root_certificates(store).with_no_client_auth())
        }
    }
}
