//! Settings of the server: flag over environment over file over default.

mod bounds;
mod database;
mod file;
mod log_level;
mod node;
mod outside;
mod zones;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use refire_engine::Retention;
use refire_engine::limit::Limits;
use refire_engine::target::Allow;

pub(crate) use database::{Database, DatabaseUrl};
pub(crate) use node::{NodeConfig, machine};
pub(crate) use outside::Outside;
pub(crate) use zones::TimeZones;

use bounds::Bounds;
use file::Settings;
use node::NodeArgs;
use outside::OutsideArgs;

/// Where the server listens unless told otherwise.
const LISTEN: &str = "127.0.0.1:7373";
/// Where it keeps its data unless told otherwise.
const DATA_DIR: &str = "./refire-data";
/// The database in a data directory.
pub(crate) const DATABASE: &str = "refire.db";
/// The directory for backups in a data directory.
const BACKUP_DIR: &str = "backups";
/// Read if it is there and no other file is named.
const FILE: &str = "refire.yaml";
/// Connections at once.
const CONNECTIONS_MAX: usize = 12_000;
/// Bytes of a request's body.
const BODY_BYTES_MAX: usize = 1024 * 1024;
/// An input is part of its execution's history, which is bounded by 10 MiB.
const BODY_BYTES_CEILING: usize = 8 * 1024 * 1024;

/// Options of `refire serve`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ServeArgs {
    /// The address to listen on [default: 127.0.0.1:7373]
    #[arg(long, env = "REFIRE_LISTEN", value_name = "ADDRESS")]
    listen: Option<String>,
    /// The directory for the SQLite database and the admin key [default: ./refire-data]
    #[arg(long, env = "REFIRE_DATA_DIR", value_name = "DIRECTORY")]
    data_dir: Option<PathBuf>,
    /// The database: sqlite:<file>, or postgres://<user>:<password>@<host>/<database> for several
    /// servers [default: refire.db in the data directory]
    #[arg(
        long,
        env = "REFIRE_DATABASE_URL",
        value_name = "URL",
        hide_env_values = true
    )]
    database: Option<DatabaseUrl>,
    /// Where backups go [default: backups in the data directory]
    #[arg(long, env = "REFIRE_BACKUP_DIR", value_name = "DIRECTORY")]
    backup_dir: Option<PathBuf>,
    #[command(flatten)]
    node: NodeArgs,
    /// For development: allow calls to targets on this machine and in private networks
    #[arg(long, env = "REFIRE_DEV", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[arg(value_parser = |text: &str| truth(text, "REFIRE_DEV"))]
    dev: Option<bool>,
    /// The settings file [default: refire.yaml, if it exists]
    #[arg(long, env = "REFIRE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// A proxy in front of the server does TLS; required to listen on more than this machine
    #[arg(long, env = "REFIRE_BEHIND_PROXY", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[arg(value_parser = |text: &str| truth(text, "REFIRE_BEHIND_PROXY"))]
    behind_proxy: Option<bool>,
    /// Allow calls to private targets: true, or a list such as 10.0.0.0/8,192.168.1.5
    #[arg(long, env = "REFIRE_ALLOW_PRIVATE_TARGETS", value_name = "LIST")]
    allow_private_targets: Option<String>,
    /// The format of the log [default: text]
    #[arg(long, env = "REFIRE_LOG_FORMAT", value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// The log level, such as info or refire=debug [default: RUST_LOG, else info]
    #[arg(long, env = "REFIRE_LOG_LEVEL", value_name = "LEVEL")]
    log_level: Option<String>,
    /// The most connections at once [default: 12000]
    #[arg(long, env = "REFIRE_MAX_CONNECTIONS", value_name = "COUNT")]
    max_connections: Option<usize>,
    /// The largest request body in bytes [default: 1048576]
    #[arg(long, env = "REFIRE_MAX_BODY_BYTES", value_name = "BYTES")]
    max_body_bytes: Option<usize>,
    /// Whose rules of time zones are used: those of this program, or those of this machine (TZDIR,
    /// else /usr/share/zoneinfo) [default: built-in]
    #[arg(
        long,
        env = "REFIRE_TIME_ZONES",
        value_name = "SOURCE",
        hide_possible_values = true
    )]
    time_zones: Option<TimeZones>,
    #[command(flatten)]
    outside: OutsideArgs,
    #[command(flatten)]
    bounds: Bounds,
}

/// Where the server of a settings file in this directory is found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Here {
    /// The address to call.
    pub(crate) address: Option<SocketAddr>,
    /// Where its data is.
    pub(crate) data_dir: Option<PathBuf>,
    /// Its database.
    pub(crate) database: Option<DatabaseUrl>,
}

/// What the settings file in this directory says about where the server is. One that cannot be
/// read says nothing: `serve` complains about it, the other commands can do without.
pub(crate) fn here() -> Here {
    let named = std::env::var_os("REFIRE_CONFIG").filter(|path| !path.is_empty());
    let path = named.map_or_else(|| FILE.into(), PathBuf::from);
    file::read_if_there(&path)
        .map(|file| found(file.said))
        .unwrap_or_default()
}

fn found(settings: ServeArgs) -> Here {
    let address = settings
        .listen
        .and_then(|text| address(&text).ok())
        .filter(|address| address.port() != 0);
    // A file that came with a checkout must not choose who gets an API key: only this machine.
    let address = address
        .map(reachable)
        .filter(|address| address.ip().is_loopback());
    Here {
        address,
        data_dir: settings.data_dir,
        database: settings.database,
    }
}

/// A server that listens everywhere is called on this machine.
pub(crate) fn reachable(mut address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    address
}

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people to read.
    Text,
    /// One JSON object per line.
    Json,
}

/// The settings they come to.
#[derive(Debug, Clone)]
pub(crate) struct ServeConfig {
    /// Where to listen.
    pub(crate) listen: SocketAddr,
    /// Where the data is.
    pub(crate) data_dir: PathBuf,
    /// The database.
    pub(crate) database: Database,
    /// Where backups go.
    pub(crate) backup_dir: PathBuf,
    /// This server among others.
    pub(crate) node: NodeConfig,
    /// How it is seen from outside.
    pub(crate) outside: Outside,
    /// Which targets beyond the public internet may be called.
    pub(crate) allow: Allow,
    /// How the log is written.
    pub(crate) log_format: LogFormat,
    /// What is logged.
    pub(crate) log_level: String,
    /// Connections at once.
    pub(crate) connections_max: usize,
    /// The largest body, in bytes.
    pub(crate) body_bytes_max: usize,
    /// How much may run at once.
    pub(crate) limits: Limits,
    /// How long ended executions are kept.
    pub(crate) retention: Retention,
    /// How often rules of alerts are looked at.
    pub(crate) alerts_every: Duration,
    /// Whose rules of time zones are used.
    pub(crate) time_zones: TimeZones,
    /// Whether `--dev` is on.
    pub(crate) dev: bool,
    /// Whether to greet at the start; the demo has words of its own.
    pub(crate) greet: bool,
    /// `REFIRE_ADMIN_KEY`; never a flag, because flags can be seen by everybody on the machine.
    pub(crate) admin_key: Option<String>,
    /// `REFIRE_MASTER_KEY` and `REFIRE_MASTER_KEY_PREVIOUS`; never flags, for the same reason.
    pub(crate) master_keys: MasterKeys,
}

/// Keys that seal what is secret in the database, as they were given.
#[derive(Clone, Default)]
pub(crate) struct MasterKeys {
    /// The one that seals.
    pub(crate) current: Option<String>,
    /// One that opens what was sealed before a change.
    pub(crate) previous: Option<String>,
}

impl std::fmt::Debug for MasterKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MasterKeys").finish_non_exhaustive()
    }
}

impl ServeArgs {
    /// Reads what flags, environment and file say together.
    pub(crate) fn resolve(self) -> anyhow::Result<ServeConfig> {
        let settings = match &self.config {
            Some(path) => file::read(path)?,
            None => file::read_if_there(FILE.as_ref())?,
        };
        let variable = |name| std::env::var(name).ok().filter(|text| !text.is_empty());
        let admin_key = variable("REFIRE_ADMIN_KEY");
        let mut config = self.over(settings, admin_key, variable("RUST_LOG"))?;
        config.master_keys = MasterKeys {
            current: variable("REFIRE_MASTER_KEY"),
            previous: variable("REFIRE_MASTER_KEY_PREVIOUS"),
        };
        Ok(config)
    }

    /// Flags and environment over the file. What the file says wrong is said of the file.
    fn over(
        self,
        file: Settings,
        admin_key: Option<String>,
        rust_log: Option<String>,
    ) -> anyhow::Result<ServeConfig> {
        let alone = self.clone();
        let merged = self.merged(file.said, admin_key, rust_log.clone());
        let Err(error) = merged else { return merged };
        match alone.merged(Self::default(), None, rust_log) {
            Ok(_) => Err(file.place.blamed(error)),
            Err(_) => Err(error),
        }
    }

    fn merged(
        self,
        mut file: Self,
        admin_key: Option<String>,
        rust_log: Option<String>,
    ) -> anyhow::Result<ServeConfig> {
        let levels = [
            ("--log-level", self.log_level.clone()),
            ("RUST_LOG", rust_log),
            ("--log-level", file.log_level.take()),
        ];
        let said = file::over(self, file);
        let listen = address(said.listen.as_deref().unwrap_or(LISTEN))?;
        refuse_exposure(listen, said.behind_proxy.unwrap_or(false))?;
        let data_dir = said.data_dir.unwrap_or_else(|| DATA_DIR.into());
        let database = match said.database {
            Some(url) if !url.is_empty() => url.read()?,
            _ => Database::Sqlite(data_dir.join(DATABASE)),
        };
        let backup_dir = said.backup_dir.filter(|path| !path.as_os_str().is_empty());
        let node = node::settings(&said.node)?;
        let outside = outside::settings(&said.outside)?;
        let dev = said.dev.unwrap_or(false);
        let allow = match said.allow_private_targets {
            Some(list) => Allow::parse(&list).context("--allow-private-targets")?,
            None if dev => Allow::All,
            None => Allow::Nothing,
        };
        let limits = bounds::limits(&said.bounds)?;
        let retention = bounds::retention(&said.bounds)?;
        let alerts_every = bounds::alerts_every(&said.bounds)?;
        let connections = said.max_connections.unwrap_or(CONNECTIONS_MAX);
        let body = said.max_body_bytes.unwrap_or(BODY_BYTES_MAX);
        if body > BODY_BYTES_CEILING {
            bail!("--max-body-bytes: {body} is too large; the most is {BODY_BYTES_CEILING}");
        }
        let is_set = |text: &String| !text.trim().is_empty();
        let mut levels = levels.into_iter();
        let level = levels.find_map(|(name, text)| Some((name, text.filter(is_set)?)));
        let log_level = match level {
            Some((setting, text)) => log_level::checked(setting, &text)?,
            None => "info".to_owned(),
        };
        Ok(ServeConfig {
            listen,
            database,
            backup_dir: backup_dir.unwrap_or_else(|| data_dir.join(BACKUP_DIR)),
            data_dir,
            node,
            outside,
            allow,
            log_format: said.log_format.unwrap_or(LogFormat::Text),
            log_level,
            connections_max: at_least_one("max-connections", connections)?,
            body_bytes_max: at_least_one("max-body-bytes", body)?,
            limits,
            retention,
            alerts_every,
            time_zones: said.time_zones.unwrap_or_default(),
            dev,
            greet: true,
            admin_key,
            master_keys: MasterKeys::default(),
        })
    }
}

/// Yes or no as people write it in variables; one that is set to nothing is no.
fn truth(text: &str, variable: &str) -> Result<bool, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" | "" => Ok(false),
        _ => Err(format!(
            "write true or false (1, yes, on, 0, no and off work too); \
             the variable {variable} sets the same"
        )),
    }
}

fn at_least_one<N: PartialEq + From<u8>>(name: &str, number: N) -> anyhow::Result<N> {
    if number == N::from(0) {
        bail!("--{name}: must be at least 1");
    }
    Ok(number)
}

/// `host:port`, where the host is an address or `localhost`.
fn address(text: &str) -> anyhow::Result<SocketAddr> {
    let numeric = text.replacen("localhost:", "127.0.0.1:", 1);
    numeric.parse().with_context(|| {
        format!("--listen: `{text}` is not an address with a port, such as 127.0.0.1:7373")
    })
}

/// Keys travel in every request: beyond this machine they must not travel in the clear.
pub(crate) fn refuse_exposure(listen: SocketAddr, behind_proxy: bool) -> anyhow::Result<()> {
    let is_local = match listen.ip() {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_loopback(),
    };
    if is_local || behind_proxy {
        return Ok(());
    }
    bail!(
        "{listen} is reachable from other machines, and plain HTTP would expose your API keys.\n\
         Put a TLS proxy in front and set --behind-proxy (REFIRE_BEHIND_PROXY=true), or listen on \
         127.0.0.1."
    )
}

#[cfg(test)]
mod tests;
