//! Where the database is and how it is used. The password stays in here: neither errors nor logs
//! nor `Debug` show it.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::tls::{self, SslMode};

/// Connections for queries unless told otherwise.
const READERS: usize = 8;
/// Where PostgreSQL listens unless told otherwise.
const PORT: u16 = 5432;
/// To one host.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// A silent connection is asked for a sign of life after so long, then so often.
const KEEPALIVE: Duration = Duration::from_secs(10);
/// So many times, before it counts as broken.
const KEEPALIVES_MAX: u32 = 3;
/// Sent data must be acknowledged within this time.
const ACKNOWLEDGED_WITHIN: Duration = Duration::from_secs(10);

/// How a database is opened.
#[derive(Clone)]
pub struct Options {
    /// Connections for queries.
    pub readers: usize,
    /// Whether opening brings the tables up to date; otherwise it refuses a database that needs it.
    pub migrate: bool,
    pub(super) config: Config,
    pub(super) tls: MakeRustlsConnect,
    mode: SslMode,
}

/// A URL that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadOptions {
    /// Not a URL of ours.
    #[error("a PostgreSQL URL begins with postgres:// or postgresql://")]
    Scheme,
    /// A separator stands where none can be.
    #[error(
        "the user's name and password may hold `@`, `/`, `?`, `#` and `:` only percent-encoded \
         (%40, %2F, %3F, %23, %3A)"
    )]
    Separator,
    /// No such mode.
    #[error("sslmode must be disable, prefer, require, verify-ca or verify-full")]
    SslMode,
    /// Another part is wrong.
    #[error("the PostgreSQL URL cannot be used: {0}")]
    Part(String),
    /// The certificates to trust cannot be read.
    #[error("sslrootcert: {} cannot be read", path.display())]
    Roots {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: rustls::pki_types::pem::Error,
    },
    /// There is none in the file.
    #[error("sslrootcert: {} holds no certificate", _0.display())]
    NoRoots(PathBuf),
    /// They would not be looked at.
    #[error(
        "sslrootcert has no effect with this sslmode: write sslmode=verify-full, or verify-ca if the \
         certificate does not name the host"
    )]
    RootsUnused,
    /// Nobody could be trusted.
    #[error("sslmode=verify-ca needs sslrootcert, the file of the certificates to trust")]
    RootsMissing,
    /// TLS cannot be set up.
    #[error("TLS cannot be set up")]
    Tls(#[source] rustls::Error),
}

impl Options {
    /// What a server uses, from a URL: `postgres://user:password@host:port/database`, with
    /// `sslmode` (disable, prefer, require, verify-ca, verify-full) and `sslrootcert` among its
    /// parameters.
    ///
    /// # Errors
    /// When the URL or the certificates cannot be used.
    pub fn new(url: &str) -> Result<Self, BadOptions> {
        let (base, query) = split(url)?;
        let mut mode = SslMode::Prefer;
        let mut roots: Option<PathBuf> = None;
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", name)) => {
                    mode = SslMode::named(name).ok_or(BadOptions::SslMode)?;
                }
                Some(("sslrootcert", path)) => roots = Some(decoded(path)?.into()),
                _ => rest.push(pair),
            }
        }
        let parsed = format!("{base}?{}", rest.join("&")).parse::<Config>();
        let mut config = parsed.map_err(|error| BadOptions::Part(told(&error)))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(BadOptions::Part("it names no host".to_owned()));
        }
        config
            .ssl_mode(mode.of_driver())
            .connect_timeout(CONNECT_MAX)
            .keepalives(true)
            .keepalives_idle(KEEPALIVE)
            .keepalives_interval(KEEPALIVE)
            .keepalives_retries(KEEPALIVES_MAX)
            .tcp_user_timeout(ACKNOWLEDGED_WITHIN)
            // Of several hosts the one that may be written to.
            .target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(Self {
            readers: READERS,
            migrate: true,
            tls: tls::connector(mode, roots.as_deref())?,
            config,
            mode,
        })
    }

    /// Where the database is, for people: hosts and name.
    #[must_use]
    pub fn place(&self) -> String {
        let ports = self.config.get_ports();
        let port = |at: usize| {
            ports
                .get(at)
                .or_else(|| ports.first())
                .copied()
                .unwrap_or(PORT)
        };
        let hosts: Vec<String> = self
            .config
            .get_hosts()
            .iter()
            .enumerate()
            .map(|(at, host)| match host {
                Host::Tcp(name) => format!("{name}:{}", port(at)),
                Host::Unix(path) => format!("{}:{}", path.display(), port(at)),
            })
            .collect();
        let name = self.config.get_dbname().or_else(|| self.config.get_user());
        format!("{}/{}", hosts.join(","), name.unwrap_or_default())
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("place", &self.place())
            .field("sslmode", &self.mode)
            .field("readers", &self.readers)
            .field("migrate", &self.migrate)
            .finish_non_exhaustive()
    }
}

/// The part before the parameters, and the parameters. A password with a raw separator in it would
/// be taken for other parts, and those are shown: it is refused here.
fn split(url: &str) -> Result<(&str, &str), BadOptions> {
    let rest = url
        .strip_prefix("postgres://")
        .or_else(|| url.strip_prefix("postgresql://"))
        .ok_or(BadOptions::Scheme)?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let after = &rest[authority.len()..];
    let (user, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
    if after.contains(['@', '#']) || user.contains('@') || user.matches(':').count() > 1 {
        return Err(BadOptions::Separator);
    }
    // A port that is no number is part of a password whose `@` comes later, or a slip.
    let port_is_number = |host: &str| {
        host.starts_with('[')
            || host
                .split_once(':')
                .is_none_or(|(_, port)| port.bytes().all(|letter| letter.is_ascii_digit()))
    };
    if !hosts.split(',').all(port_is_number) {
        return Err(BadOptions::Part("a port must be a number".to_owned()));
    }
    Ok(url.split_once('?').unwrap_or((url, "")))
}

fn decoded(text: &str) -> Result<String, BadOptions> {
    let unusable = || BadOptions::Part("a parameter is not percent-encoded UTF-8".to_owned());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        bytes.push(byte.ok_or_else(unusable)?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).map_err(|_| unusable())
}

/// The driver's word about a URL: it names the part, never its value.
fn told(error: &tokio_postgres::Error) -> String {
    use std::error::Error;
    error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

#[cfg(test)]
mod tests;
