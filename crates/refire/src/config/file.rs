//! `refire.yaml`: the same settings as the flags, with underscores.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use refire_core::definition::source::{Content, Node};

use super::{LogFormat, ServeArgs, TimeZones};

/// What the file says, in the place of flags, and where it says so.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub(super) said: ServeArgs,
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

/// Makes of the list of keys what reads one, what lets flags go over the file, and the message about an
/// unknown one.
macro_rules! keys {
    ($($([$group:ident])? $key:ident: $read:expr,)+) => {
        const KEYS: &[&str] = &[$(stringify!($key),)+ "hosts"];

        fn set(settings: &mut ServeArgs, key: &str, value: &Node) -> anyhow::Result<()> {
            match key {
                $(stringify!($key) => settings$(.$group)?.$key = Some($read(value)?),)+
                "hosts" => settings.bounds.hosts = super::bounds::hosts(value)?,
                _ => bail!("unknown setting; the settings are {}", KEYS.join(", ")),
            }
            Ok(())
        }

        /// What flags and file say together.
        pub(super) fn over(flags: ServeArgs, file: ServeArgs) -> ServeArgs {
            let mut both = flags;
            $(both$(.$group)?.$key = both$(.$group)?.$key.or(file$(.$group)?.$key);)+
            both.bounds.hosts = file.bounds.hosts;
            both
        }
    };
}

// Each is called like its flag, with underscores; `hosts` has none.
keys! {
    listen: text,
    data_dir: path,
    database: |value| anyhow::Ok(text(value)?.parse()?),
    backup_dir: path,
    [node] node_name: text,
    [node] lease: text,
    dev: flag,
    behind_proxy: flag,
    [outside] public_url: text,
    [outside] trusted_proxies: list,
    allow_private_targets: list,
    log_format: log_format,
    log_level: text,
    max_connections: number,
    max_body_bytes: number,
    time_zones: |value| TimeZones::parse(&text(value)?),
    [bounds] max_attempts: number,
    [bounds] max_attempts_per_host: number,
    [bounds] max_retries_per_workflow: number,
    [bounds] max_retries_per_host: number,
    [bounds] breakers: text,
    [bounds] keep_completed: text,
    [bounds] keep_cancelled: text,
    [bounds] keep_failed: text,
    [bounds] keep_requests: text,
}

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
        set(&mut settings.said, &key.text, &value)
            .with_context(|| format!("line {line}: {}", key.text))?;
    }
    Ok(settings)
}

pub(super) fn text(value: &Node) -> anyhow::Result<String> {
    match &value.content {
        Content::String(text) => Ok(text.to_string()),
        Content::Number(digits) => Ok(digits.to_string()),
        _ => bail!("expected a string, found {}", value.kind()),
    }
}

fn path(value: &Node) -> anyhow::Result<PathBuf> {
    Ok(text(value)?.into())
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

fn log_format(value: &Node) -> anyhow::Result<LogFormat> {
    match text(value)?.as_str() {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        other => bail!("`{other}` is neither text nor json"),
    }
}
