//! TLS: certificates are checked, HTTP/2 is spoken where it is offered, and nothing falls back.

use refire_core::failure::{ErrorClass, Failure};
use refire_engine::target::{Allow, Guard, HttpSettings, HttpTarget};

use super::caller::{Scripted, failure_of, get};
use crate::hostile::Hostile;
use crate::hostile::secure::{Authority, Frames, GO_AWAY, Secure, self_signed};

/// A client that finds the server under every name and trusts the authority.
fn trusting(authority: &Authority) -> HttpTarget {
    let mut settings = HttpSettings::new(Guard::new(Allow::All));
    settings.extra_roots_pem = vec![authority.pem.clone().into_bytes()];
    settings.lookup = Scripted::new(&[&["127.0.0.1"]]);
    HttpTarget::new(settings).unwrap()
}

fn url(secure: &Secure) -> String {
    format!("https://good.example:{}/", secure.server.address.port())
}

/// Headers with the end of stream 1; 0x89 is ":status: 204".
const NO_CONTENT: Frames = &[0, 0, 1, 1, 5, 0, 0, 0, 1, 0x89];
/// Stream 1 was not processed and may be sent again.
const REFUSED_STREAM: Frames = &[0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 7];
/// A frame for a stream that nobody opened.
const NONSENSE: Frames = &[0, 0, 1, 1, 5, 0, 0, 0, 99, 0x89];

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
    let target = trusting(&authority);
    assert_eq!(target.call(get(url(&secure))).await.unwrap().status, 200);
}

#[tokio::test]
async fn http2_is_used_where_the_server_offers_it() {
    let authority = Authority::new();
    let (certificate, key) = authority.certify("good.example", 2100);
    let secure = Secure::start(certificate, &key, Some(NO_CONTENT)).await;
    let target = trusting(&authority);
    assert_eq!(target.call(get(url(&secure))).await.unwrap().status, 204);
}

#[tokio::test]
async fn a_stream_of_http2_that_is_refused_is_not_sent_again() {
    let authority = Authority::new();
    for frames in [REFUSED_STREAM, GO_AWAY, NONSENSE] {
        let (certificate, key) = authority.certify("good.example", 2100);
        let secure = Secure::start(certificate, &key, Some(frames)).await;
        let failure = trusting(&authority)
            .call(get(url(&secure)))
            .await
            .unwrap_err();
        assert_eq!(
            failure.class,
            ErrorClass::ConnectionReset,
            "{frames:?}: {failure:?}"
        );
        assert_eq!(secure.h2_requests(), 1, "{frames:?}");
    }
}

#[tokio::test]
async fn wrong_expired_and_unknown_certificates_fail() {
    let authority = Authority::new();
    for (name, until_year) in [("other.example", 2100), ("good.example", 2001)] {
        let (certificate, key) = authority.certify(name, until_year);
        let secure = Secure::start(certificate, &key, None).await;
        let failure = tls_failure(&trusting(&authority), url(&secure)).await;
        assert!(
            !failure.causes.is_empty(),
            "the causes say what is wrong with {name}"
        );
    }

    let (certificate, key) = self_signed("good.example");
    let secure = Secure::start(certificate, &key, None).await;
    let failure = tls_failure(&trusting(&authority), url(&secure)).await;
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
