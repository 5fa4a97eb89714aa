//! A mail relay with real TLS: it wants a login, is busy for `busy@` once, and does not know `nobody@`.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// A mail that was taken.
#[derive(Debug, Clone)]
pub(crate) struct Taken {
    pub(crate) to: String,
    pub(crate) text: String,
    /// Who had logged in, with the password.
    pub(crate) login: Option<String>,
    pub(crate) was_tls: bool,
}

#[derive(Default)]
struct Inside {
    taken: Vec<Taken>,
    /// How often it was busy.
    was_busy: u32,
}

/// The relay; it ends with the test.
pub(crate) struct MailRelay {
    pub(crate) port: u16,
    /// Its certificate.
    pub(crate) pem: String,
    inside: Arc<Mutex<Inside>>,
}

impl MailRelay {
    pub(crate) async fn start() -> Self {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
        let provider = Arc::new(aws_lc_rs::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let inside: Arc<Mutex<Inside>> = Arc::default();
        let shared = Arc::clone(&inside);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, shared) = (acceptor.clone(), Arc::clone(&shared));
                tokio::spawn(async move { serve(stream, acceptor, shared).await });
            }
        });
        Self {
            port,
            pem: cert.pem(),
            inside,
        }
    }

    pub(crate) fn taken(&self) -> Vec<Taken> {
        self.inside.lock().unwrap().taken.clone()
    }
}

/// In plain text up to STARTTLS.
async fn serve(stream: TcpStream, acceptor: TlsAcceptor, inside: Arc<Mutex<Inside>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    say(&mut stream, "220 relay").await?;
    loop {
        let line = hear(&mut stream).await?;
        match line.to_uppercase().as_str() {
            line if line.starts_with("EHLO") => {
                say(&mut stream, "250-relay\r\n250 STARTTLS").await?
            }
            "STARTTLS" => {
                say(&mut stream, "220 go on").await?;
                let secure = acceptor.accept(stream.into_inner()).await.ok()?;
                return secured(BufReader::new(secure), inside).await;
            }
            "QUIT" => return say(&mut stream, "221 bye").await,
            _ => say(&mut stream, "530 5.7.0 STARTTLS first").await?,
        }
    }
}

async fn secured<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: BufReader<S>,
    inside: Arc<Mutex<Inside>>,
) -> Option<()> {
    let (mut login, mut to) = (None, String::new());
    loop {
        let line = hear(&mut stream).await?;
        let upper = line.to_uppercase();
        if upper.starts_with("EHLO") {
            say(&mut stream, "250-relay\r\n250-AUTH PLAIN\r\n250 8BITMIME").await?;
        } else if let Some(code) = line.strip_prefix("AUTH PLAIN ") {
            let said = BASE64_STANDARD.decode(code).unwrap_or_default();
            login = Some(
                String::from_utf8_lossy(&said)
                    .replace('\0', " ")
                    .trim()
                    .to_owned(),
            );
            say(&mut stream, "235 2.7.0 fine").await?;
        } else if upper.starts_with("MAIL FROM") {
            match login {
                Some(_) => say(&mut stream, "250 2.1.0 fine").await?,
                None => say(&mut stream, "530 5.7.0 log in first").await?,
            }
        } else if upper.starts_with("RCPT TO") {
            to = line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
            let is_busy = to.starts_with("busy@") && {
                let mut inside = inside.lock().unwrap();
                inside.was_busy += 1;
                inside.was_busy == 1
            };
            match () {
                () if is_busy => say(&mut stream, "451 4.3.0 busy").await?,
                () if to.starts_with("nobody@") => {
                    say(&mut stream, "550 5.1.1 no such user").await?
                }
                () => say(&mut stream, "250 2.1.5 fine").await?,
            }
        } else if upper == "DATA" {
            say(&mut stream, "354 go on").await?;
            let mut text = String::new();
            loop {
                let line = hear(&mut stream).await?;
                if line == "." {
                    break;
                }
                text.push_str(&line);
                text.push('\n');
            }
            inside.lock().unwrap().taken.push(Taken {
                to: to.clone(),
                text,
                login: login.clone(),
                was_tls: true,
            });
            say(&mut stream, "250 2.0.0 taken").await?;
        } else if upper == "QUIT" {
            return say(&mut stream, "221 bye").await;
        } else {
            say(&mut stream, "250 2.0.0 fine").await?;
        }
    }
}

async fn say<S: AsyncWrite + Unpin>(stream: &mut S, text: &str) -> Option<()> {
    stream
        .write_all(format!("{text}\r\n").as_bytes())
        .await
        .ok()?;
    stream.flush().await.ok()
}

async fn hear<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut BufReader<S>) -> Option<String> {
    let mut line = String::new();
    match stream.read_line(&mut line).await {
        Ok(bytes) if bytes > 0 => Some(line.trim_end().to_owned()),
        _ => None,
    }
}
