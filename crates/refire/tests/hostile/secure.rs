//! Targets behind TLS: certificates that must not be trusted, and HTTP/2 that says goodbye without
//! end.

use std::sync::{Arc, LazyLock};

use rcgen::KeyPair;
use tokio_rustls::rustls::pki_types::CertificateDer;

use crate::hostile::secure::{Authority, GO_AWAY, Secure, self_signed};
use crate::stub::{Calls, End, Seen, Stub};

/// The name under which every target of this machine is called.
const NAME: &str = "localhost";
/// A year that is over, and one that is far.
const PAST: i32 = 2001;
const FUTURE: i32 = 2100;

/// A thousand goodbyes for every request.
static STORM: LazyLock<Vec<u8>> = LazyLock::new(|| GO_AWAY.repeat(1_000));

/// All of them. The server must trust the authority, or they would all fail for the same reason.
pub(crate) async fn stubs(authority: &Authority) -> Vec<Stub> {
    let refused = End::Failed("tls");
    let (good, good_key) = authority.certify(NAME, FUTURE);
    let (expired, expired_key) = authority.certify(NAME, PAST);
    let (other, other_key) = authority.certify("other.example", FUTURE);
    let (own, own_key) = self_signed(NAME);
    let (stormy, stormy_key) = authority.certify(NAME, FUTURE);
    let trusted = start(good, &good_key).await;
    let storm = Arc::new(Secure::start(stormy, &stormy_key, Some(&STORM)).await);
    let counted = Arc::clone(&storm);
    let url = storm.server.url();
    let storm = stub(
        "goodbye-storm",
        End::Failed("connection_reset"),
        &url,
        storm,
    );
    vec![
        // Shows that the others fail for what is wrong with them.
        unread("trusted", End::Completed("ok"), trusted),
        unread("expired", refused, start(expired, &expired_key).await),
        unread("wrong-host", refused, start(other, &other_key).await),
        unread("self-signed", refused, start(own, &own_key).await),
        storm.calls(Calls::Total(Box::new(move || counted.h2_requests()))),
    ]
}

async fn start(certificate: CertificateDer<'static>, key: &KeyPair) -> Secure {
    Secure::start(certificate, key, None).await
}

fn unread(name: &'static str, end: End, secure: Secure) -> Stub {
    stub(name, end, &secure.server.url(), secure).calls(Calls::Unread)
}

fn stub(name: &'static str, end: End, url: &str, alive: impl std::any::Any + Send) -> Stub {
    let url = url.replace("http://127.0.0.1", &format!("https://{NAME}"));
    Stub::new(name, url, end, alive, Seen::default())
}
