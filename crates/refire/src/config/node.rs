//! This server among others: its name, and for how long it may be silent.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use refire_core::duration;
use refire_engine::{LEASE, NodeSettings};
use rustix::system::uname;

/// A shorter one would be lost by a pause that is nobody's fault.
const LEASE_MIN: Duration = Duration::from_secs(5);
/// With a longer one the work of a dead node would wait for too long.
const LEASE_MAX: Duration = Duration::from_secs(5 * 60);
/// Characters of a name.
const NAME_MAX: usize = 100;
/// The name of a machine that has none.
const NAMELESS: &str = "refire";

/// The flags, and the same settings in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct NodeArgs {
    /// This server's name among several nodes [default: the machine's name]
    #[arg(long, env = "REFIRE_NODE_NAME", value_name = "NAME")]
    pub(super) node_name: Option<String>,
    /// How long a node may be silent before the others take over its work, 5s to 5m [default: 15s]
    #[arg(long, env = "REFIRE_LEASE", value_name = "TIME")]
    pub(super) lease: Option<String>,
}

/// The settings they come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeConfig {
    /// Its name for people.
    pub(crate) name: String,
    /// How long it may be silent.
    pub(crate) lease: Duration,
}

impl NodeConfig {
    /// What the other nodes see of it. An address that means every address of the machine says
    /// nothing elsewhere: the machine's name stands in for it.
    pub(crate) fn at(&self, address: SocketAddr) -> NodeSettings {
        let address = if address.ip().is_unspecified() {
            format!("{}:{}", machine(), address.port())
        } else {
            address.to_string()
        };
        NodeSettings {
            name: self.name.clone(),
            address,
            lease: self.lease,
        }
    }
}

/// What they come to.
pub(super) fn settings(said: &NodeArgs) -> anyhow::Result<NodeConfig> {
    let name = said.node_name.as_deref().map(str::trim);
    let name = match name.filter(|name| !name.is_empty()) {
        Some(name) => name.to_owned(),
        None => machine(),
    };
    if name.chars().count() > NAME_MAX || name.chars().any(char::is_control) {
        bail!("--node-name: must have at most {NAME_MAX} characters and no control characters");
    }
    let lease = match said.lease.as_deref() {
        None | Some("") => LEASE,
        Some(text) => duration::parse(text).context("--lease: write a time such as 15s")?,
    };
    if !(LEASE_MIN..=LEASE_MAX).contains(&lease) {
        bail!(
            "--lease: must be between {} s and {} s",
            LEASE_MIN.as_secs(),
            LEASE_MAX.as_secs()
        );
    }
    Ok(NodeConfig { name, lease })
}

/// The machine's name.
pub(crate) fn machine() -> String {
    let name = uname().nodename().to_string_lossy().into_owned();
    let is_usable = !name.is_empty() && name.len() <= NAME_MAX && !name.contains(char::is_control);
    if is_usable { name } else { NAMELESS.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::ServeArgs;
    use super::super::file::{over, parse};
    use super::*;

    fn args(name: Option<&str>, lease: Option<&str>) -> NodeArgs {
        NodeArgs {
            node_name: name.map(str::to_owned),
            lease: lease.map(str::to_owned),
        }
    }

    #[test]
    fn a_node_is_called_like_its_machine_unless_told_otherwise() {
        let own = settings(&NodeArgs::default()).unwrap();
        assert_eq!((own.name, own.lease), (machine(), LEASE));
        let node = args(Some("flag"), None);
        let flags = ServeArgs {
            node,
            ..ServeArgs::default()
        };
        let file = parse("node_name: from-file\nlease: 30s").unwrap().said;
        let told = settings(&over(flags, file).node).unwrap();
        assert_eq!(
            (told.name.as_str(), told.lease),
            ("flag", Duration::from_secs(30))
        );
        let own = settings(&args(Some(" "), None)).unwrap();
        assert_eq!(own.name, machine());
        let everywhere = own.at("0.0.0.0:7373".parse().unwrap());
        assert_eq!(everywhere.address, format!("{}:7373", machine()));
        let one = own.at("127.0.0.1:1".parse().unwrap());
        assert_eq!(one.address, "127.0.0.1:1");
    }

    #[test]
    fn a_lease_has_bounds() {
        for lease in ["5s", "5m", "1m30s"] {
            assert!(settings(&args(None, Some(lease))).is_ok(), "{lease}");
        }
        for lease in ["4s", "6m", "soon", "0s"] {
            let error = settings(&args(None, Some(lease))).unwrap_err();
            assert!(format!("{error:#}").contains("--lease"), "{error:#}");
        }
        let long = "n".repeat(NAME_MAX + 1);
        for name in [long.as_str(), "a\nb"] {
            let error = settings(&args(Some(name), None)).unwrap_err();
            assert!(error.to_string().contains("--node-name"), "{error}");
        }
    }
}
