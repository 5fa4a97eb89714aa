//! TLS to the database: whom each mode believes.

use std::error::Error;
use std::fs::{OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::Path;

use rcgen::{BasicConstraints, Certificate, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use refire_store::postgres::{Options, Postgres};

use crate::cluster::Cluster;

/// The name in the server's certificate. Nobody looks it up: the address is given beside it.
const NAME: &str = "db.refire.test";

/// Somebody whose word about certificates may be trusted.
fn authority(name: &str) -> (Certificate, Issuer<'static, KeyPair>) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, name);
    let certificate = params.self_signed(&key).unwrap();
    (certificate, Issuer::new(params, key))
}

/// From now on the server has TLS, with this certificate and key.
fn secure(cluster: &Cluster, certificate: &Certificate, key: &KeyPair) {
    let data = cluster.folder.join("data");
    let owner = data.metadata().unwrap();
    for (name, text) in [
        ("server.crt", certificate.pem()),
        ("server.key", key.serialize_pem()),
    ] {
        let file = data.join(name);
        std::fs::write(&file, text).unwrap();
        // The server reads only its own, and only what nobody else can.
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        chown(&file, Some(owner.uid()), Some(owner.gid())).unwrap();
    }
    let settings = data.join("postgresql.conf");
    let settings = OpenOptions::new().append(true).open(settings);
    settings.unwrap().write_all(b"ssl = on\n").unwrap();
    cluster.tell("restart", &[]);
}

/// The database of a cluster under a name.
fn named(cluster: &Cluster, name: &str, more: &str) -> String {
    let url = cluster.url.replace("127.0.0.1", name);
    assert_ne!(url, cluster.url);
    format!("{url}?hostaddr=127.0.0.1&{more}")
}

/// Asks the database something; the whole error if that does not work.
async fn ask(url: &str) -> Result<(), String> {
    let options = Options::new(url).map_err(|error| error.to_string())?;
    let asked = Postgres::pending(&options).await;
    asked.map(drop).map_err(|error| {
        let mut said = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            said = format!("{said}: {error}");
            cause = error.source();
        }
        said
    })
}

/// A certificate that is refused, and why.
async fn refused(url: &str, why: &str) {
    match ask(url).await {
        Ok(()) => panic!("{url} was believed"),
        Err(said) => assert!(said.contains(why), "{url}: {said}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_mode_believes_whom_it_should() {
    let cluster = Cluster::start();
    let plain = |mode: &str| named(&cluster, NAME, &format!("sslmode={mode}"));
    // Without TLS nobody gets more than the mode allows.
    ask(&plain("disable")).await.unwrap();
    ask(&plain("prefer")).await.unwrap();
    refused(&plain("require"), "TLS").await;

    let (ours, issuer) = authority("ours");
    let (others, _) = authority("others");
    let key = KeyPair::generate().unwrap();
    let server = CertificateParams::new(vec![NAME.to_owned()]).unwrap();
    let server = server.signed_by(&key, &issuer).unwrap();
    secure(&cluster, &server, &key);

    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, pem: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, pem).unwrap();
        path
    };
    let (ours, others) = (
        file("ours.pem", ours.pem()),
        file("others.pem", others.pem()),
    );
    let trusting = |name: &str, mode: &str, roots: &Path| {
        let more = format!("sslmode={mode}&sslrootcert={}", roots.display());
        named(&cluster, name, &more)
    };
    for mode in ["disable", "prefer", "require"] {
        ask(&plain(mode)).await.unwrap();
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        ask(&trusting(NAME, mode, &ours)).await.unwrap();
        refused(&trusting(NAME, mode, &others), "UnknownIssuer").await;
    }
    // Only one mode asks for the name.
    let other_name = "other.refire.test";
    for mode in ["require", "verify-ca"] {
        ask(&trusting(other_name, mode, &ours)).await.unwrap();
    }
    let url = trusting(other_name, "verify-full", &ours);
    refused(&url, "not valid for name").await;
    // The system knows nothing of ours.
    refused(&plain("verify-full"), "UnknownIssuer").await;
    refused(&plain("verify-ca"), "sslrootcert").await;
}

/// A certificate whose time is over is nobody's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_expired_certificate_is_refused() {
    let cluster = Cluster::start();
    let (ours, issuer) = authority("ours");
    let key = KeyPair::generate().unwrap();
    let mut server = CertificateParams::new(vec![NAME.to_owned()]).unwrap();
    server.not_before = rcgen::date_time_ymd(2000, 1, 1);
    server.not_after = rcgen::date_time_ymd(2001, 1, 1);
    let server = server.signed_by(&key, &issuer).unwrap();
    secure(&cluster, &server, &key);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ours.pem");
    std::fs::write(&path, ours.pem()).unwrap();
    for mode in ["verify-ca", "verify-full"] {
        let more = format!("sslmode={mode}&sslrootcert={}", path.display());
        refused(&named(&cluster, NAME, &more), "expired").await;
    }
    ask(&named(&cluster, NAME, "sslmode=require"))
        .await
        .unwrap();
}
