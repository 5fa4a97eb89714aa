//! `refire.yaml`: the same settings as the flags, with underscores.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use refire_core::definition::source::{Content, Node};

use super::bounds::Bounds;
use super::node::NodeArgs;
use super::outside::OutsideArgs;
use super::{DatabaseUrl, LogFormat, TimeZones};

/// What the file says; the rest is decided elsewhere.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) listen: Option<String>,
    pub(super) data_dir: Option<PathBuf>,
    pub(super) database: Option<DatabaseUrl>,
    pub(super) backup_dir: Option<PathBuf>,
    pub(super) node: NodeArgs,
    pub(super) outside: OutsideArgs,
    pub(super) dev: Option<bool>,
    pub(super) behind_proxy: Option<bool>,
    pub(super) allow_private_targets: Option<String>,
    pub(super) log_format: Option<LogFormat>,
    pub(super) log_level: Option<String>,
    pub(super) max_connections: Option<usize>,
    pub(super) max_body_bytes: Option<usize>,
    pub(super) time_zones: Option<TimeZones>,
    pub(super) bounds: Bounds,
    /// Where it was said.
    pub(super) place: Place,
}

/// Where the settings of a file stand in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The file.
    path: PathBuf,
    /// Each key with its line.
    lines: Vec<(String, u32)>,
}

impl Place {
    /// An error about a flag, said of the key of this file that has the same meaning.
    pub(super) fn blamed(&self, error: anyhow::Error) -> anyhow::Error {
        let text = format!("{error:#}");
        let named = text
            .strip_prefix("--")
            .and_then(|text| text.split_once(':'));
        let Some((flag, wrong)) = named else {
            return error;
        };
        let key = flag.replace('-', "_");
        match self.lines.iter().find(|(name, _)| *name == key) {
            Some((_, line)) => anyhow!("in {}: line {line}: {key}:{wrong}", self.path.display()),
            None => error,
        }
    }
}

/// Every key, for the message about an unknown one.
const KEYS: [&str; 25] = [
    "listen",
    "data_dir",
    "database",
    "backup_dir",
    "node_name",
    "lease",
    "dev",
    "behind_proxy",
    "public_url",
    "trusted_proxies",
    "allow_private_targets",
    "log_format",
    "log_level",
    "max_connections",
    "max_body_bytes",
    "time_zones",
    "max_attempts",
    "max_attempts_per_host",
    "max_retries_per_workflow",
    "max_retries_per_host",
    "keep_completed",
    "keep_cancelled",
    "keep_failed",
    "keep_requests",
    "hosts",
];

/// Reads a file that must be there.
pub(super) fn read(path: &Path) -> anyhow::Result<Settings> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the settings file {} cannot be read", path.display()))?;
    let mut settings = parse(&text).with_context(|| format!("in {}", path.display()))?;
    path.clone_into(&mut settings.place.path);
    Ok(settings)
}

/// Reads a file that may be missing.
pub(super) fn read_if_there(path: &Path) -> anyhow::Result<Settings> {
    match path.metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Settings::default()),
        _ => read(path),
    }
}

pub(super) fn parse(text: &str) -> anyhow::Result<Settings> {
    let says_something = |line: &str| !line.trim().is_empty() && !line.trim().starts_with('#');
    if !text.lines().any(says_something) {
        return Ok(Settings::default());
    }
    let node = Node::parse(text).map_err(|problem| anyhow!("{problem}"))?;
    let members = match node.content {
        Content::Null => return Ok(Settings::default()),
        Content::Mapping(members) => members,
        _ => bail!("expected a mapping of settings, found {}", node.kind()),
    };
    let mut settings = Settings::default();
    for (key, value) in members {
        if value.content == Content::Null {
            continue;
        }
        let line = key.mark.line;
        settings.place.lines.push((key.text.to_string(), line));
        set(&mut settings, &key.text, &value)
            .with_context(|| format!("line {line}: {}", key.text))?;
    }
    Ok(settings)
}

fn set(settings: &mut Settings, key: &str, value: &Node) -> anyhow::Result<()> {
    match key {
        "listen" => settings.listen = Some(text(value)?),
        "data_dir" => settings.data_dir = Some(text(value)?.into()),
        "database" => settings.database = Some(text(value)?.parse()?),
        "backup_dir" => settings.backup_dir = Some(text(value)?.into()),
        "node_name" => settings.node.node_name = Some(text(value)?),
        "lease" => settings.node.lease = Some(text(value)?),
        "dev" => settings.dev = Some(flag(value)?),
        "behind_proxy" => settings.behind_proxy = Some(flag(value)?),
        "public_url" => settings.outside.public_url = Some(text(value)?),
        "trusted_proxies" => settings.outside.trusted_proxies = Some(list(value)?),
        "allow_private_targets" => settings.allow_private_targets = Some(list(value)?),
        "log_format" => settings.log_format = Some(log_format(&text(value)?)?),
        "log_level" => settings.log_level = Some(text(value)?),
        "max_connections" => settings.max_connections = Some(number(value)?),
        "max_body_bytes" => settings.max_body_bytes = Some(number(value)?),
        "time_zones" => settings.time_zones = Some(TimeZones::parse(&text(value)?)?),
        _ => return set_bound(&mut settings.bounds, key, value),
    }
    Ok(())
}

fn set_bound(bounds: &mut Bounds, key: &str, value: &Node) -> anyhow::Result<()> {
    match key {
        "max_attempts" => bounds.max_attempts = Some(number(value)?),
        "max_attempts_per_host" => bounds.max_attempts_per_host = Some(number(value)?),
        "max_retries_per_workflow" => bounds.max_retries_per_workflow = Some(number(value)?),
        "max_retries_per_host" => bounds.max_retries_per_host = Some(number(value)?),
        "keep_completed" => bounds.keep_completed = Some(text(value)?),
        "keep_cancelled" => bounds.keep_cancelled = Some(text(value)?),
        "keep_failed" => bounds.keep_failed = Some(text(value)?),
        "keep_requests" => bounds.keep_requests = Some(text(value)?),
        "hosts" => bounds.hosts = super::bounds::hosts(value)?,
        _ => bail!("unknown setting; the settings are {}", KEYS.join(", ")),
    }
    Ok(())
}

pub(super) fn text(value: &Node) -> anyhow::Result<String> {
    match &value.content {
        Content::String(text) => Ok(text.to_string()),
        Content::Number(digits) => Ok(digits.to_string()),
        _ => bail!("expected a string, found {}", value.kind()),
    }
}

fn flag(value: &Node) -> anyhow::Result<bool> {
    match value.content {
        Content::Bool(flag) => Ok(flag),
        _ => bail!("expected true or false, found {}", value.kind()),
    }
}

pub(super) fn number<N: std::str::FromStr>(value: &Node) -> anyhow::Result<N> {
    match &value.content {
        Content::Number(digits) => match digits.parse() {
            Ok(number) => Ok(number),
            Err(_) => bail!("{digits} is not a whole number within range"),
        },
        _ => bail!("expected a number, found {}", value.kind()),
    }
}

/// `true`, a text with commas, or a list of networks.
fn list(value: &Node) -> anyhow::Result<String> {
    match &value.content {
        Content::Bool(flag) => Ok(flag.to_string()),
        Content::Sequence(items) => {
            let items: Vec<String> = items.iter().map(text).collect::<Result<_, _>>()?;
            Ok(items.join(","))
        }
        _ => text(value),
    }
}

fn log_format(text: &str) -> anyhow::Result<LogFormat> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => bail!("`{text}` is neither text nor json"),
    }
}
