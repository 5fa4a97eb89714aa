//! TLS: certificates are checked, HTTP/2 is spoken where it is offered, and nothing falls back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{CertificateParams, Issuer, KeyPair, date_time_ymd};
use refire_core::failure::{ErrorClass, Failure};
use refire_engine::target::{Allow, Guard, HttpSettings, HttpTarget};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::caller::{Scripted, failure_of, get};
use crate::hostile::Hostile;

/// A certificate authority and the PEM that makes it trusted.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
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
    fn certify(&self, name: &str, until_year: i32) -> (CertificateDer<'static>, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(until_year, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.der().clone(), key)
    }
}

/// A TLS server that answers `ok` over HTTP/1.1, or the given frames over HTTP/2.
struct Secure {
    server: Hostile,
    h2_requests: Arc<AtomicUsize>,
}

impl Secure {
    async fn start(
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

    fn url(&self) -> String {
        format!("https://good.example:{}/", self.server.address.port())
    }

    /// A client that finds this server under every name and trusts the authority.
    fn trusting(&self, authority: &Authority) -> HttpTarget {
        let mut settings = HttpSettings::new(Guard::new(Allow::All));
        settings.extra_roots_pem = vec![authority.pem.clone().into_bytes()];
        settings.lookup = Scripted::new(&[&["127.0.0.1"]]);
        HttpTarget::new(settings).unwrap()
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
type Frames = &'static [u8];

/// Headers with the end of stream 1; 0x89 is ":status: 204".
const NO_CONTENT: Frames = &[0, 0, 1, 1, 5, 0, 0, 0, 1, 0x89];
/// Stream 1 was not processed and may be sent again.
const REFUSED_STREAM: Frames = &[0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 7];
/// The connection closes without an error, and no stream was processed.
const GO_AWAY: Frames = &[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// A frame for a stream that nobody opened.
const NONSENSE: Frames = &[0, 0, 1, 1, 5, 0, 0, 0, 99, 0x89];

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

async fn tls_failure(target: &HttpTarget, url: String) -> Failure {
    let failure = target.call(get(url)).await.unwrap_err();
    assert_eq!(failure.class, ErrorClass::Tls, "{failure:?}");
    assert!(!failure.retryable);
    assert!(
        failure.message.starts_with("no secure connection to "),
        "{}",
        failure.message
    );
    failure
}

#[tokio::test]
async fn a_trusted_certificate_for_the_name_is_accepted() {
    let authority = Authority::new();
    let (certificate, key) = authority.certify("good.example", 2100);
    let secure = Secure::start(certificate, &key, None).await;
    let target = secure.trusting(&authority);
    assert_eq!(target.call(get(secure.url())).await.unwrap().status, 200);
}

#[tokio::test]
async fn http2_is_used_where_the_server_offers_it() {
    let authority = Authority::new();
    let (certificate, key) = authority.certify("good.example", 2100);
    let secure = Secure::start(certificate, &key, Some(NO_CONTENT)).await;
    let target = secure.trusting(&authority);
    assert_eq!(target.call(get(secure.url())).await.unwrap().status, 204);
}

#[tokio::test]
async fn a_stream_of_http2_that_is_refused_is_not_sent_again() {
    let authority = Authority::new();
    for frames in [REFUSED_STREAM, GO_AWAY, NONSENSE] {
        let (certificate, key) = authority.certify("good.example", 2100);
        let secure = Secure::start(certificate, &key, Some(frames)).await;
        let failure = secure
            .trusting(&authority)
            .call(get(secure.url()))
            .await
            .unwrap_err();
        assert_eq!(
            failure.class,
            ErrorClass::ConnectionReset,
            "{frames:?}: {failure:?}"
        );
        assert_eq!(secure.h2_requests.load(Ordering::SeqCst), 1, "{frames:?}");
    }
}

#[tokio::test]
async fn wrong_expired_and_unknown_certificates_fail() {
    let authority = Authority::new();
    for (name, until_year) in [("other.example", 2100), ("good.example", 2001)] {
        let (certificate, key) = authority.certify(name, until_year);
        let secure = Secure::start(certificate, &key, None).await;
        let failure = tls_failure(&secure.trusting(&authority), secure.url()).await;
        assert!(
            !failure.causes.is_empty(),
            "the causes say what is wrong with {name}"
        );
    }

    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["good.example".to_owned()]).unwrap();
    let self_signed = params.self_signed(&key).unwrap();
    let secure = Secure::start(self_signed.der().clone(), &key, None).await;
    let failure = tls_failure(&secure.trusting(&authority), secure.url()).await;
    assert!(
        failure
            .causes
            .iter()
            .any(|cause| cause.contains("certificate")),
        "{failure:?}"
    );
}

#[tokio::test]
async fn tls_to_a_plain_port_fails() {
    let server = Hostile::start(|mut peer| async move {
        peer.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            .await;
        peer.silence().await;
    })
    .await;
    let failure = failure_of(get(format!("https://{}/", server.address))).await;
    assert_eq!(failure.class, ErrorClass::Tls, "{failure:?}");
}

#[tokio::test]
async fn a_handshake_that_is_cut_is_a_reset() {
    let server = Hostile::start(|peer| async move {
        drop(peer.into_stream());
    })
    .await;
    let failure = failure_of(get(format!("https://{}/", server.address))).await;
    assert_eq!(failure.class, ErrorClass::ConnectionReset, "{failure:?}");
}

#[tokio::test]
async fn a_certificate_that_is_not_pem_is_named() {
    let mut settings = HttpSettings::new(Guard::default());
    settings.extra_roots_pem =
        vec![b"-----BEGIN CERTIFICATE-----\n%%%\n-----END CERTIFICATE-----".to_vec()];
    let error = HttpTarget::new(settings).unwrap_err();
    assert_eq!(
        error.to_string(),
        "extra root certificate number 1 is not PEM"
    );
}
