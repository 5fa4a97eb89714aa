//! TLS in front of a hostile server: certificates of every kind, and just enough HTTP/2 to be
//! asked and to misbehave.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{CertificateParams, Issuer, KeyPair, date_time_ymd};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::Hostile;

/// A certificate authority and the PEM that makes it trusted.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) pem: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let pem = params.self_signed(&key).unwrap().pem();
        Self {
            issuer: Issuer::new(params, key),
            pem,
        }
    }

    /// A certificate for a name, valid until the given year.
    pub(crate) fn certify(
        &self,
        name: &str,
        until_year: i32,
    ) -> (CertificateDer<'static>, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(until_year, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.der().clone(), key)
    }
}

/// A certificate that vouches for itself.
pub(crate) fn self_signed(name: &str) -> (CertificateDer<'static>, KeyPair) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    (certificate.der().clone(), key)
}

/// A TLS server that answers `ok` over HTTP/1.1, or the given frames over HTTP/2.
pub(crate) struct Secure {
    pub(crate) server: Hostile,
    h2_requests: Arc<AtomicUsize>,
}

impl Secure {
    pub(crate) async fn start(
        certificate: CertificateDer<'static>,
        key: &KeyPair,
        h2: Option<Frames>,
    ) -> Self {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let mut config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        if h2.is_some() {
            config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        }
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let h2_requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&h2_requests);
        let server = Hostile::start(move |peer| {
            let (acceptor, counter) = (acceptor.clone(), Arc::clone(&counter));
            async move {
                let Ok(stream) = acceptor.accept(peer.into_stream()).await else {
                    return;
                };
                // Whatever fails here, fails because the client has what it wants.
                let _ = match h2 {
                    Some(frames) => answer_h2(stream, frames, &counter).await,
                    None => answer_h1(stream).await,
                };
            }
        })
        .await;
        Self {
            server,
            h2_requests,
        }
    }

    /// Requests that came over HTTP/2.
    pub(crate) fn h2_requests(&self) -> usize {
        self.h2_requests.load(Ordering::SeqCst)
    }
}

type Stream = tokio_rustls::server::TlsStream<tokio::net::TcpStream>;

async fn answer_h1(mut stream: Stream) -> std::io::Result<()> {
    let mut buffer = [0; 4096];
    let _ = stream.read(&mut buffer).await?;
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        .await?;
    stream.shutdown().await
}

/// The bytes that answer every request of HTTP/2.
pub(crate) type Frames = &'static [u8];

/// The connection closes without an error, and no stream was processed.
pub(crate) const GO_AWAY: Frames = &[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// Just enough HTTP/2 to be asked and to answer.
async fn answer_h2(
    mut stream: Stream,
    frames: Frames,
    requests: &AtomicUsize,
) -> std::io::Result<()> {
    const PREFACE_BYTES: usize = 24;
    const HEADERS: u8 = 1;
    stream.read_exact(&mut [0; PREFACE_BYTES]).await?;
    // Empty settings, and the acknowledgement of the client's.
    stream
        .write_all(&[0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0])
        .await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let length = usize::from(head[1]) << 8 | usize::from(head[2]);
        stream.read_exact(&mut vec![0; length]).await?;
        if head[3] == HEADERS {
            requests.fetch_add(1, Ordering::SeqCst);
            stream.write_all(frames).await?;
        }
    }
}
